"""`ttsr demo`: the scripted model and an agent's conversation through the real path."""
