"""Closed vocabulary of what can be wrong with a rule: code, file, line, field, found, allowed."""
