"""Counters for a metrics scraper.

Reserved: the audit's figures are the only ones in this release.
"""
