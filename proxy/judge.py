"""Puts question rules to a judge model after an output.

Reserved: question rules are not in this release.
"""
