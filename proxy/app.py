"""Composition root: settings to a running ASGI app."""
