"""Streaming multi-pattern database over a rule set.

Reserved: every window searches its patterns itself in this release.
"""
