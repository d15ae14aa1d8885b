"""Finds rule files by convention: pure functions over a `Tree`; one file a convention."""
