"""The Responses API on the wire.

Reserved: requests to it pass through untouched in this release.
"""
