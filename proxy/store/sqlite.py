"""Ledger and audit in one SQLite file (WAL, 0600, schema versioned)."""
