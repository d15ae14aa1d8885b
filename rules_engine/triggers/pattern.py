"""Pattern triggers: one condition compiled to its three forms, with limits."""
