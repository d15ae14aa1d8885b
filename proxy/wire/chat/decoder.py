"""Tolerant reader of chat chunks: one event in, turn events out; never raises."""
