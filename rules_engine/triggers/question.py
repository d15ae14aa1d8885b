"""Question triggers: what a judge model is asked about a finished output.

Reserved: question triggers are not in this release.
"""
