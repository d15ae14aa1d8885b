"""Disk to `Tree`, watched; one `RuleSet` per workspace and role, cached."""
