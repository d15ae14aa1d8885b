"""Ledger and audit in Redis or Valkey, for more than one replica.

Reserved: SQLite is the only store in this release.
"""
