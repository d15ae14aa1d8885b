"""What shell text is made of, as the lexer tells it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from rules_engine.growth import Growth
from rules_engine.patches import EnvelopeReader
from rules_engine.shell.documents import Document


class Kind(Enum):
    """What a list of commands stands in."""

    TOP = auto()
    GROUP = auto()  # { … }
    SUBSHELL = auto()  # ( … )
    SUBSTITUTION = auto()  # $( … )
    PROCESS = auto()  # <( … ) and >( … )


class Role(Enum):
    """What a word is there for."""

    PLAIN = auto()
    DELIMITER = auto()  # behind <<
    TABBED = auto()  # behind <<-


@dataclass(slots=True, eq=False)
class Word:
    """A word while it is read. `quoted`: in part at least; `lines`: it has a line end."""

    growth: Growth
    role: Role
    quoted: bool = False
    lines: bool = False
    process: bool = False


class Sink(Protocol):
    """Is told what the lexer found. `at`: the offset behind the character that decided it."""

    def word_begins(self, word: Word) -> None:
        """A word begins; its text grows from now on."""

    def word_has_lines(self, word: Word) -> None:
        """A line end stands in a word, as it is written."""

    def word_ends(self, word: Word) -> None:
        """The word is whole."""

    def sign(self, sign: str, descriptor: str, at: int) -> None:
        """What parts commands, or redirects."""

    def line_ends(self, at: int) -> None:
        """A line of commands is over; bodies of here-documents follow."""

    def begins(self, kind: Kind) -> None:
        """A list of commands begins inside another."""

    def ends(self, at: int) -> str | None:
        """Such a list is over; gives what it prints, if that is known."""

    def document(self, document: Document) -> None:
        """A command gets a here-document, whose body comes later."""

    def body_begins(self, document: Document) -> None:
        """The body comes next."""

    def body_line(self, document: Document, at: int) -> None:
        """The body has a first line."""

    def body_ends(self, document: Document) -> None:
        """The body is whole."""

    def envelope(self) -> EnvelopeReader:
        """A patch stands where a command could; what reads it."""

    def finished(self, at: int, *, whole: bool) -> None:
        """The text is over; `whole`: outside of quotes."""
