"""Who is asking: tenant, session, side request, agent, workspace label; pure."""
