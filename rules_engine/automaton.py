"""Many strings sought in one pass over a text that comes in pieces, without regard to ASCII case.

The machine of Aho and Corasick, its moves worked out when they are first made: one look-up a
character, however many strings there are. A state also tells which strings the text's end is the
beginning of.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

_CAPITALS = re.compile("[A-Z]+")
# Characters beyond those of the strings are only remembered while they are few.
_MOST_MOVES = 256

Marks = frozenset[int]
_NONE: Marks = frozenset()


def fold(text: str) -> str:
    """Bring ASCII letters into small form; everything else, and the length, stays."""
    if text.isascii():
        return text.lower()
    return _CAPITALS.sub(lambda found: found[0].lower(), text)


class State(dict[str, "State"]):
    """How much of which strings the text's end is; maps the next character to the next state.

    `text`: the longest beginning of a string that the text ends with. `own`: marks of the strings
    that are this text, `complete`: of every string that the text ends with.
    """

    __slots__ = ("_open", "_shorter", "children", "complete", "own", "text")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.own = self.complete = _NONE
        self.children: dict[str, State] = {}
        self._shorter: State | None = None
        self._open: Marks | None = None

    def __missing__(self, char: str) -> State:
        following = self.children.get(char)
        if following is None:
            following = self if self._shorter is None else self._shorter[char]
        if len(self) < _MOST_MOVES:
            self[char] = following
        return following

    def endings(self) -> Iterator[State]:
        """This state and those of every shorter end of the text, longest first; not the root."""
        state: State | None = self
        while state is not None and state.text:
            yield state
            state = state._shorter  # noqa: SLF001 - its own kind

    def open(self) -> Marks:
        """Give the marks of the strings that go on from here."""
        if self._open is None:
            self._open = _NONE.union(*(each.own | each.open() for each in self.children.values()))
        return self._open

    def link(self, shorter: State) -> None:
        """Say which state stands for the longest shorter end."""
        self._shorter = shorter
        self.complete = self.own | shorter.complete


def build(strings: Mapping[str, Collection[int]]) -> State:
    """Make the machine of folded, non-empty strings and their marks; returns its first state."""
    root = State("")
    for text, marks in strings.items():
        state = root
        for length, char in enumerate(text, 1):
            state = _child(state, char, text[:length])
        state.own = frozenset(marks)
    _link(root)
    return root


def _child(state: State, char: str, text: str) -> State:
    child = state.children.get(char)
    if child is None:
        child = state.children[char] = State(text)
    return child


def _link(root: State) -> None:
    level: list[tuple[State, State]] = [(child, root) for child in root.children.values()]
    while level:
        following: list[tuple[State, State]] = []
        for state, shorter in level:
            state.link(shorter)
            following += ((child, shorter[char]) for char, child in state.children.items())
        level = following


def gather(entries: Iterable[tuple[str, int]]) -> dict[str, set[int]]:
    """Collect the marks of each string, folded."""
    strings: dict[str, set[int]] = {}
    for text, mark in entries:
        strings.setdefault(fold(text), set()).add(mark)
    return strings
