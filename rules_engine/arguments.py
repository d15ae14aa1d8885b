"""Decodes a call's JSON arguments as they stream."""
