"""Prompt layers and the `rule` tool's schema and answers.

Reserved: prompt layers are not in this release.
"""
