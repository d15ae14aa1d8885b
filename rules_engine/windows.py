"""Per-surface windows: how far each trigger has searched, decision and hold positions."""
