"""`ToolFamily`: a call so far to canonical tool, paths and added source per file and edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Section:
    """The source that a call adds at one place (one file and edit), as far as it was read.

    key: stable identity inside the call. text: decoded, append-only. paths: the file as the call
    names it (several where the tool names several); empty where the tool has none.
    settled: tool and path can no longer change (keys already seen), so a hit may count now;
    `settled_at`: the offset in the call's raw argument text at which that became so.
    """

    key: str
    text: str
    paths: tuple[str, ...]
    settled: bool
    settled_at: int


class CallReader(Protocol):
    """Reads one call incrementally; linear in the argument text; any cutting gives the same."""

    @property
    def names(self) -> tuple[str, ...]:
        """The tool's own name and its canonical ones (lower case); empty until it is named."""

    def name(self, name: str) -> None:
        """The call's name is settled."""

    def feed(self, text: str) -> None:
        """The next piece of raw argument text."""

    def close(self) -> None:
        """Nothing more comes: settles what is open and falls back to the decoded strings."""

    @property
    def sections(self) -> tuple[Section, ...]:
        """All sections so far, in order of first appearance; closed ones keep their text."""

    def arrival(self, key: str, length: int) -> int:
        """Offset in the raw argument text after which the first `length` characters were known."""
