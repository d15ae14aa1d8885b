"""Reads the bodies of the here-documents of a line, one after the other."""

from __future__ import annotations

from collections import deque

from rules_engine.shell.documents import Document
from rules_engine.shell.joining import MORE, joined
from rules_engine.shell.parts import Sink


class Bodies:
    """The here-documents whose bodies are still to come, in the order of the text."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._waiting: deque[Document] = deque()
        self._fresh = True  # at the beginning of a line

    @property
    def open(self) -> bool:
        """Whether a body is being read, or waits for the line to end."""
        return bool(self._waiting)

    def add(self, document: Document) -> None:
        """Take one more document of the line."""
        self._waiting.append(document)

    def begin(self) -> bool:
        """The line is over; say whether a body follows."""
        if self._waiting:
            self._sink.body_begins(self._waiting[0])
            self._fresh = True
        return bool(self._waiting)

    def read(self, text: str, position: int, offset: int, *, final: bool) -> int:
        """Read on; `offset`: where in the source `text` stands. Gives where it went to, or MORE."""
        if self._fresh:
            return self._read_start(text, position, offset)
        document = self._waiting[0]
        run = document.plain.match(text, position)
        if run is not None:
            document.growth.append(run.group(), offset + position + 1)
            return run.end()
        if text[position] == "\n":
            self._fresh = True
            return position + 1
        return self._read_escape(document, text, position, offset, final=final)

    def _read_start(self, text: str, position: int, offset: int) -> int:
        """Tell the line that ends the body from what only begins like it."""
        document = self._waiting[0]
        while position < len(text):
            verdict = document.could_end(text[position])
            if verdict is None:
                self._end()
                return position + 1
            if not verdict:
                self._open_line(document, offset + position + 1)
                return position
            position += 1
        return position

    def _read_escape(
        self, document: Document, text: str, position: int, offset: int, *, final: bool
    ) -> int:
        end = joined(text, position, final=final)
        if end in (MORE, position + 2, position + 3):
            return end
        character = text[position + 1 : position + 2]
        escapes = character != "" and character in "\\$`"
        end = position + 1 + len(character)
        document.growth.append(character if escapes else "\\", offset + end)
        return end if escapes else position + 1

    def _open_line(self, document: Document, known: int) -> None:
        self._fresh = False
        if document.open_line(known):
            self._sink.body_line(document, known)

    def _end(self) -> None:
        document = self._waiting.popleft()
        document.read = True
        self._sink.body_ends(document)
        self.begin()

    def close(self, at: int) -> None:
        """The text ends inside a body."""
        document = self._waiting.popleft()
        if self._fresh and document.unfinished:
            self._open_line(document, at)
        document.read = True
        self._sink.body_ends(document)
