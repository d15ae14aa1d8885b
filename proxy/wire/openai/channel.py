"""One channel of prose: surrogate halves joined, cumulative pieces cut, think blocks split."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def is_whole(text: str) -> bool:
    """Whether no surrogate half stands in it."""
    if text.isascii():
        return True
    try:
        text.encode()  # many times faster than a search
    except UnicodeEncodeError:
        return False
    return True


def whole(text: str) -> str:
    """Join surrogate halves that met; a half without its partner becomes U+FFFD."""
    if is_whole(text):
        return text
    return _SURROGATE.sub(_REPLACEMENT, _PAIR.sub(_joined, text))


class Joiner:
    """Hands text on in pieces that never end on a first surrogate half. `half`: one that waits."""

    __slots__ = ("half",)

    def __init__(self) -> None:
        self.half = ""

    def feed(self, piece: str) -> str:
        """Take a piece; answers with what is certain of it and of what was held."""
        if not self.half and piece.isascii():
            return piece
        text = self.half + piece
        self.half = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return whole(text[:-1] if self.half else text)

    def close(self) -> str:
        """Nothing more comes: a held half stays alone."""
        half, self.half = self.half, ""
        return whole(half)


class Growth:
    """Cuts the part that a cumulative upstream repeats off each piece."""

    __slots__ = ("_have",)

    def __init__(self) -> None:
        self._have = ""

    def feed(self, piece: str) -> str:
        """Answer with what is new in `piece`."""
        if piece.startswith(self._have):
            new = piece[len(self._have) :]
            self._have = piece
            return new
        self._have += piece
        return piece


class ThinkSplit:
    """Parts an inline think block at the very start of the content from the text behind it.

    Later tags are words of the text. A piece that may be the begin of a tag is held back.
    """

    __slots__ = ("_blank", "_closing", "_held", "_inside", "_opening", "_start")

    def __init__(self, tags: tuple[str, ...], *, start_inside: bool) -> None:
        self._opening = {f"<{tag}>": f"</{tag}>" for tag in tags}
        self._closing = tuple(self._opening.values())
        self._start = True  # white space, or part of an opening tag, is all there was
        self._inside = start_inside
        self._blank: list[str] = []
        self._held = ""

    def feed(self, piece: str) -> tuple[str, str]:
        """Take a piece of content; answers with (thinking, text)."""
        if self._start:
            if not self._started(piece):
                return "", ""
            piece, self._held = self._held, ""
        if not self._inside:
            return "", piece
        return self._within(piece)

    def close(self) -> tuple[str, str]:
        """Nothing more comes: answers with what was held, as (thinking, text)."""
        held = "".join(self._blank) + self._held
        self._blank, self._held = [], ""
        return (held, "") if self._inside else ("", held)

    def _started(self, piece: str) -> bool:
        """Decide what the content opens with; if decided, `_held` is what follows the tag."""
        if not self._held and not piece.strip():
            self._blank.append(piece)
            return False
        # Only the first piece behind the blank can bring more of it.
        lead = self._held + piece
        stripped = lead.lstrip()
        for tag, closing in self._opening.items():
            if stripped.startswith(tag):
                self._inside, self._closing = True, (closing,)
                self._blank, self._held = [], stripped[len(tag) :]
                self._start = False
                return True
        if any(tag.startswith(stripped) for tag in self._opening):
            self._held = lead
            return False
        self._held = "".join(self._blank) + lead
        self._blank, self._start = [], False
        return True

    def _within(self, piece: str) -> tuple[str, str]:
        text, self._held = self._held + piece, ""
        found = [(at, tag) for tag in self._closing if (at := text.find(tag)) >= 0]
        if found:
            at, tag = min(found)
            self._inside = False
            return text[:at], text[at + len(tag) :]
        keep = max(_overlap(text, tag) for tag in self._closing)
        if keep:
            text, self._held = text[:-keep], text[-keep:]
        return text, ""


def _overlap(text: str, tag: str) -> int:
    """Answer how many characters at the end of `text` may be the begin of `tag`."""
    for size in range(min(len(text), len(tag) - 1), 0, -1):
        if text.endswith(tag[:size]):
            return size
    return 0
