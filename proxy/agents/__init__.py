"""How each agent is recognised and what its tools mean; one file an agent."""
