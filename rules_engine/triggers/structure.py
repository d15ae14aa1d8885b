"""Structure triggers: ast-grep patterns on the finished source of a call.

Reserved: structure triggers are not in this release.
"""
