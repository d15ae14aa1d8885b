"""Where the frontmatter of a rule file begins and ends; HTML comments do not hide it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPENER = re.compile(r"\s*---(?!-)")
_BLANK = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class Block:
    """A file cut in two. `yaml` None: there is no frontmatter. `line`: where `yaml` begins."""

    yaml: str | None
    body: str
    line: int = 1
    unclosed: bool = False


def cut(text: str) -> Block:
    """Cut a file as oh-my-pi does: opened by `---` at its start, closed by a later line of it.

    What stands on the closing line behind the dashes belongs to the body. The body keeps its
    comments and is trimmed.
    """
    masked = _mask_comments(text)
    opener = _OPENER.match(masked)
    if opener is None:
        return Block(None, text.strip())
    closer = masked.find("\n---", opener.end())
    if closer < 0:
        return Block(None, text.strip(), unclosed=True)
    return Block(
        yaml=masked[opener.end() : closer],
        body=text[closer + len("\n---") :].strip(),
        line=1 + text.count("\n", 0, opener.end()),
    )


def _mask_comments(text: str) -> str:
    """Blank each comment that begins a line; offsets and lines are kept.

    A comment in mid-line is left alone: there it is part of a value, often of a pattern.
    """
    pieces: list[str] = []
    done = 0
    while (start := text.find("<!--", done)) >= 0:
        end = text.find("-->", start)
        if end < 0:
            break
        line_start = text.rfind("\n", 0, start) + 1
        end += len("-->")
        if line_start < done or text[line_start:start].strip():
            end = start + len("<!--")
            pieces.append(text[done:end])
        else:
            pieces += [text[done:start], _BLANK.sub(" ", text[start:end])]
        done = end
    return "".join([*pieces, text[done:]])
