"""Cuts shell text into words, signs and here-documents, while it streams.

Quotes and escapes are undone, variables and unknown substitutions are kept as they are written.
What a character means is decided only once no further text can change it, so that nothing that
is told depends on how the text was cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rules_engine.growth import Growth
from rules_engine.patches import EnvelopeReader
from rules_engine.shell.bodies import Bodies
from rules_engine.shell.documents import Document
from rules_engine.shell.escapes import ESCAPE_LIMIT, ansi_escape
from rules_engine.shell.joining import MORE, joined
from rules_engine.shell.parts import Kind, Role, Sink, Word

DEPTH_LIMIT = 32  # substitutions in each other whose text is kept as it is written

_SIGNS = frozenset(
    (
        *("<", "<<", "<<-", "<<<", "<&", "<>", "<(", ">", ">>", ">|", ">&", ">("),
        *("&", "&&", "&>", "&>>", "|", "||", "|&", ";", "(", ")"),
    )
)
_BEGINNINGS = frozenset(sign[:-1] for sign in _SIGNS)
_BLANK = re.compile(r"[ \t\r]+")
_DESCRIPTOR = re.compile(r"[0-9]{1,2}")
_PLAIN = re.compile(r"[^ \t\r\n'\"\\$`<>|&;()]+")
_IN_DOUBLE = re.compile(r'[^"\\$`]+')
_IN_ANSI = re.compile(r"[^'\\]+")
_IN_PARAMETER = re.compile(r"[^{}'\"\\]+")
_IN_ARITHMETIC = re.compile(r"[^()]+")
_IN_BACKTICKS = re.compile(r"[^`\\]+")
_ENVELOPE = "*** Begin Patch"


@dataclass(slots=True, eq=False)
class _Outer:
    """What goes on behind a `)`. `raw`: where the text of the substitution begins, if kept."""

    kind: Kind
    word: Word | None
    back: _Mode
    raw: int | None


_Mode = Callable[[str, int], int]


class Lexer:
    """Reads shell text in pieces of any size; linear, and raises on nothing."""

    def __init__(self, source: Growth, sink: Sink) -> None:
        self._source = source
        self._sink = sink
        self._rest = ""  # what waits for what follows it
        self._offset = 0  # where that stands in the source
        self._final = False
        self._mode: _Mode = self._between
        self._back: _Mode = self._in_word  # behind an expansion
        self._word: Word | None = None
        self._role = Role.PLAIN
        self._descriptor = ""
        self._closer = ""  # of a quote inside of braces
        self._depth = 0  # of braces or parentheses in an expansion
        self._stack: list[_Outer] = []
        self._raw: list[str] = []  # the text since the outermost substitution began
        self._keeping = 0  # substitutions whose text is kept
        self._bodies = Bodies(sink)
        self._envelope: EnvelopeReader | None = None
        self._starts: dict[str, _Mode] = {
            "\n": self._line_end,
            "#": self._begin_comment,
            "\\": self._joined,
            "*": self._envelope_at,
            **dict.fromkeys("<>|&;()", self._sign),
            **dict.fromkeys("0123456789", self._descriptor_at),
        }
        self._inside: dict[str, _Mode] = {
            "'": self._begin_single,
            '"': self._begin_double,
            "\\": self._escaped,
            "$": self._dollar,
            "`": self._begin_backticks,
        }

    def feed(self, piece: str) -> None:
        """Read the next piece."""
        text = self._rest + piece
        position = 0
        while position < len(text):
            end = self._mode(text, position)
            if end == MORE:
                break
            if self._keeping:
                self._raw.append(text[position:end])
            position = end
        self._rest = text[position:]
        self._offset += position

    def close(self) -> None:
        """Nothing more comes."""
        self._final = True
        self.feed("")
        if self._mode == self._body:
            self._bodies.close(self._offset)
            self._mode = self._between
        if self._mode == self._in_word:
            self._end_word()
        whole = self._mode in (self._between, self._comment, self._in_envelope)
        self._sink.finished(self._offset, whole=whole)

    # Between words.

    def _between(self, text: str, position: int) -> int:
        blank = _BLANK.match(text, position)
        if blank is not None:
            return blank.end()
        start = self._starts.get(text[position])
        end = position if start is None else start(text, position)
        if end == position:
            self._begin_word()
        return end

    def _begin_comment(self, _text: str, position: int) -> int:
        self._mode = self._comment
        return position + 1

    def _comment(self, text: str, position: int) -> int:
        newline = text.find("\n", position)
        if newline < 0:
            return len(text)
        self._mode = self._between
        return newline

    def _line_end(self, _text: str, position: int) -> int:
        self._role = Role.PLAIN
        self._sink.line_ends(self._at(position + 1))
        if self._bodies.begin():
            self._mode = self._body
        return position + 1

    def _joined(self, text: str, position: int) -> int:
        return joined(text, position, final=self._final)

    def _descriptor_at(self, text: str, position: int) -> int:
        found = _DESCRIPTOR.match(text, position)
        end = position if found is None else found.end()
        if end == len(text):
            return position if self._final else MORE
        if text[end] not in "<>":
            return position
        self._descriptor = text[position:end]
        return end

    def _envelope_at(self, text: str, position: int) -> int:
        """Go over to a patch that stands in the command without quotes."""
        there = text[position : position + len(_ENVELOPE)]
        if there != _ENVELOPE:
            return MORE if _ENVELOPE.startswith(there) and not self._final else position
        self._envelope = self._sink.envelope()
        self._mode = self._in_envelope
        return self._in_envelope(text, position)

    def _in_envelope(self, text: str, position: int) -> int:
        if self._envelope is None:
            return position
        newline = text.find("\n", position)
        end = len(text) if newline < 0 else newline + 1
        self._envelope.feed(text[position:end], self._offset + position)
        if newline >= 0 and not self._envelope.begun:
            self._mode = self._between
        return end

    # Signs.

    def _sign(self, text: str, position: int) -> int:
        end = position + 1
        while text[position:end] in _BEGINNINGS and text[position : end + 1] in _SIGNS:
            if end == len(text):
                break
            end += 1
        sign = text[position:end]
        open_ended = sign in _BEGINNINGS
        if open_ended and end == len(text) and not self._final:
            return MORE
        at = self._at(min(end + open_ended, len(text)))
        self._take_sign(sign, at)
        return end

    def _take_sign(self, sign: str, at: int) -> None:
        descriptor, self._descriptor = self._descriptor, ""
        self._role = Role.PLAIN
        match sign:
            case "(":
                self._open(Kind.SUBSHELL, self._between)
            case ")":
                self._close(at)
            case "<(" | ">(":
                word = self._begin_word()
                word.process = True
                self._open(Kind.PROCESS, self._in_word)
            case "<<" | "<<-":
                self._role = Role.DELIMITER if sign == "<<" else Role.TABBED
                self._sink.sign(sign, descriptor, at)
            case _:
                self._sink.sign(sign, descriptor, at)

    def _open(self, kind: Kind, back: _Mode) -> None:
        keeps = kind is not Kind.SUBSHELL and self._keeping < DEPTH_LIMIT
        raw = len(self._raw) if keeps else None
        self._keeping += keeps
        self._stack.append(_Outer(kind, self._word, back, raw))
        self._sink.begins(kind)
        self._word = None
        self._role = Role.PLAIN
        self._mode = self._between

    def _close(self, at: int) -> None:
        if not self._stack:
            self._sink.sign(")", "", at)
            return
        outer = self._stack.pop()
        printed = self._sink.ends(at)
        self._mode, self._word = outer.back, outer.word
        if outer.word is None:
            return
        written = "$(…)"
        if outer.raw is not None:
            written = "".join(self._raw[outer.raw :]) + ")"
            self._keeping -= 1
        if not self._keeping:
            self._raw.clear()
        outer.word.growth.append_late(written if printed is None else printed, at)

    # Words.

    def _begin_word(self) -> Word:
        word = self._word = Word(Growth(self._source), self._role)
        self._role = Role.PLAIN
        self._descriptor = ""
        self._mode = self._in_word
        if word.role is Role.PLAIN:
            self._sink.word_begins(word)
        return word

    def _end_word(self) -> None:
        word, self._word = self._word, None
        self._mode = self._between
        if word is None:
            return
        if word.role is Role.PLAIN:
            self._sink.word_ends(word)
            return
        delimiter = word.growth.text
        document = Document(
            delimiter,
            Growth(self._source),
            tabbed=word.role is Role.TABBED,
            expands=not word.quoted,
        )
        self._bodies.add(document)
        self._sink.document(document)

    def _put(self, text: str, known: int) -> None:
        """Add to the word; the first character was known at `known`, each next one later."""
        word = self._word
        if word is None or not text:
            return
        word.growth.append(text, known)
        if not word.lines and "\n" in text:
            word.lines = True
            if word.role is Role.PLAIN:
                self._sink.word_has_lines(word)

    def _in_word(self, text: str, position: int) -> int:
        run = _PLAIN.match(text, position)
        if run is not None:
            self._put(run.group(), self._at(position + 1))
            return run.end()
        inside = self._inside.get(text[position])
        if inside is not None:
            return inside(text, position)
        self._end_word()
        return position

    def _begin_single(self, _text: str, position: int) -> int:
        return self._quote(self._single, position + 1)

    def _begin_double(self, _text: str, position: int) -> int:
        return self._quote(self._double, position + 1)

    def _begin_backticks(self, _text: str, position: int) -> int:
        return self._expand(self._backticks, "`", position)

    def _quote(self, mode: _Mode, end: int) -> int:
        self._mode = mode
        if self._word is not None:
            self._word.quoted = True
        return end

    def _escaped(self, text: str, position: int) -> int:
        end = self._joined(text, position)
        if end != position:
            return end
        if self._word is not None:
            self._word.quoted = True
        character = text[position + 1 : position + 2]
        self._put(character or "\\", self._at(position + 1 + len(character)))
        return position + 1 + len(character)

    def _single(self, text: str, position: int) -> int:
        end = text.find("'", position)
        stop = len(text) if end < 0 else end
        self._put(text[position:stop], self._at(position + 1))
        if end >= 0:
            self._mode = self._in_word
        return stop + (end >= 0)

    def _double(self, text: str, position: int) -> int:
        run = _IN_DOUBLE.match(text, position)
        if run is not None:
            self._put(run.group(), self._at(position + 1))
            return run.end()
        match text[position]:
            case '"':
                self._mode = self._in_word
                return position + 1
            case "$":
                return self._dollar(text, position)
            case "`":
                return self._begin_backticks(text, position)
            case _:
                return self._escaped_in_double(text, position)

    def _escaped_in_double(self, text: str, position: int) -> int:
        end = self._joined(text, position)
        if end != position:
            return end
        character = text[position + 1 : position + 2]
        end = position + 1 + len(character)
        if character and character in '"\\$`':
            self._put(character, self._at(end))
            return end
        self._put("\\", self._at(end))
        return position + 1

    def _ansi(self, text: str, position: int) -> int:
        run = _IN_ANSI.match(text, position)
        if run is not None:
            self._put(run.group(), self._at(position + 1))
            return run.end()
        if text[position] == "'":
            self._mode = self._in_word
            return position + 1
        found = ansi_escape(text[position : position + ESCAPE_LIMIT], final=self._final)
        if found is None:
            return MORE
        character, length = found
        self._put(character, self._at(position + length))
        return position + length

    # Expansions: kept as they are written.

    def _dollar(self, text: str, position: int) -> int:
        behind = text[position + 1 : position + 3]
        if not self._final and behind in ("", "("):
            return MORE
        sign = behind if behind == "((" else behind[:1]
        if sign == "(":
            self._open(Kind.SUBSTITUTION, self._mode)
            return position + 2
        if sign == "((":
            return self._expand(self._arithmetic, sign, position, "$", depth=2)
        if sign == "{":
            return self._expand(self._parameter, sign, position, "$", depth=1)
        if sign and sign in "'\"" and self._mode == self._in_word:
            return self._quote(self._ansi if sign == "'" else self._double, position + 2)
        self._put("$", self._at(min(position + 2, len(text))))
        return position + 1

    def _expand(
        self, mode: _Mode, sign: str, position: int, before: str = "", depth: int = 0
    ) -> int:
        self._back, self._mode, self._depth = self._mode, mode, depth
        written = before + sign
        self._put(written, self._at(position + 1))
        return position + len(written)

    def _parameter(self, text: str, position: int) -> int:
        return self._nested(text, position, _IN_PARAMETER, "{", "}")

    def _arithmetic(self, text: str, position: int) -> int:
        return self._nested(text, position, _IN_ARITHMETIC, "(", ")")

    def _nested(
        self, text: str, position: int, plain: re.Pattern[str], opens: str, closes: str
    ) -> int:
        run = plain.match(text, position)
        if run is not None:
            self._put(run.group(), self._at(position + 1))
            return run.end()
        character = text[position]
        if character == "\\":
            return self._pair(text, position)
        if character == '"' or (character == "'" and self._back == self._in_word):
            self._closer, self._mode = character, self._quoted_inside
        self._depth += (character == opens) - (character == closes)
        self._put(character, self._at(position + 1))
        if not self._depth:
            self._mode = self._back
        return position + 1

    def _quoted_inside(self, text: str, position: int) -> int:
        """Take a quote inside of braces, as it is written."""
        if text[position] == "\\" and self._closer == '"':
            return self._pair(text, position)
        self._put(text[position], self._at(position + 1))
        if text[position] == self._closer:
            self._mode = self._parameter
        return position + 1

    def _backticks(self, text: str, position: int) -> int:
        run = _IN_BACKTICKS.match(text, position)
        if run is not None:
            self._put(run.group(), self._at(position + 1))
            return run.end()
        if text[position] == "\\":
            return self._pair(text, position)
        self._put("`", self._at(position + 1))
        self._mode = self._back
        return position + 1

    def _pair(self, text: str, position: int) -> int:
        """Take a backslash and what it stands before, as they are written."""
        pair = text[position : position + 2]
        if len(pair) == 1 and not self._final:
            return MORE
        self._put(pair, self._at(position + 1))
        return position + len(pair)

    def _body(self, text: str, position: int) -> int:
        end = self._bodies.read(text, position, self._offset, final=self._final)
        if not self._bodies.open:
            self._mode = self._between
        return MORE if end == MORE else end

    def _at(self, position: int) -> int:
        """Offset in the source of a position in the text that is being read."""
        return self._offset + position
