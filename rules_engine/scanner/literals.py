"""Pure-Python candidate scanner by required literals.

Reserved: every window searches its patterns itself in this release.
"""
