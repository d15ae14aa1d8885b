"""Line ends that are escaped, so that the next line goes on with this one."""

from __future__ import annotations

MORE = -1  # what the next character means depends on what follows it


def joined(text: str, position: int, *, final: bool) -> int:
    """Give the position behind the line end that the backslash at `position` escapes.

    `position` itself where it escapes none; MORE where what follows is still to come.
    """
    behind = text[position + 1 : position + 3]
    if behind[:1] == "\n":
        return position + 2
    if behind == "\r\n":
        return position + 3
    undecided = behind in ("", "\r") and not final
    return MORE if undecided else position
