"""Markdown text to `Rule` and problems; the only user of a YAML library here."""
