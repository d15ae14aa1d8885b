"""Interrupt modes, repeat policy from ages, caps."""
