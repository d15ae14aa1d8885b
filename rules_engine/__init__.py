"""Pure rule engine: deltas in, decisions out.

No network, no files, no clock, no async. `proxy` does the I/O around it.
"""
