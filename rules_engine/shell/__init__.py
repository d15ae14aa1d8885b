"""Shell commands, read while they stream: the files that they write, and what into them.

`lexer` cuts the text into words, signs and here-documents; `reader` keeps the commands that
they make up; `commands` knows what a command does with its words, `sed` and `escapes` what the
words mean there.
"""

from __future__ import annotations

from rules_engine.shell.reader import ShellReader

__all__ = ["ShellReader"]
