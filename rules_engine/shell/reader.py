"""The files that a shell command writes, while it streams.

Text that goes to a file is given out when it is certain to: a here-document line by line, since
its command is known before it, what a command prints at the end of its pipeline.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rules_engine.globs import below
from rules_engine.growth import Growth
from rules_engine.patches import EnvelopeReader, PatchSection, SectionReader, UnifiedReader
from rules_engine.shell.commands import (
    RESERVED,
    Piece,
    Target,
    effect,
    reads_diff,
    reads_script,
    script_follows,
)
from rules_engine.shell.documents import Document
from rules_engine.shell.frames import Command, Flow, Frame
from rules_engine.shell.lexer import Lexer
from rules_engine.shell.parts import Kind, Word

_SCRIPTS = 3  # how deep scripts inside scripts are read
_STREAMS = 32  # texts inside each other that are read while they grow
_WRITES = (">", ">>", ">|", "&>", "&>>", ">&")
_WRITE, _EDIT = ("write",), ("edit",)
_APPEND = (*_WRITE, *_EDIT)  # adds to a file that may be there


@dataclass(slots=True, eq=False)
class _Stream:
    """A text inside the command, and what reads it. `directory`: where it is, if not told."""

    growth: Growth
    reader: SectionReader
    directory: str | None = None
    told: int = 0
    taken: int = 0


@dataclass(slots=True, eq=False)
class _Body:
    """What is known of a here-document's command before its body comes."""

    directory: str
    script: bool = False
    diff: bool = False
    section: PatchSection | None = None


class ShellReader:
    """Reads one command; `directory`: where it runs, "" being the tool's own directory."""

    def __init__(self, source: Growth, directory: str = "", depth: int = 0) -> None:
        self.sections: list[PatchSection] = []
        self._source = source
        self._depth = depth
        self._lexer = Lexer(source, self)
        self._frames = [Frame(Kind.TOP, directory)]
        self._streams: list[_Stream] = []
        self._bodies: dict[Document, _Body] = {}

    @property
    def recognised(self) -> bool:
        """Whether it writes a file."""
        return bool(self.sections)

    def feed(self, piece: str, _start: int) -> None:
        """Read the next piece."""
        self._lexer.feed(piece)
        self._advance()

    def close(self) -> None:
        """Nothing more comes."""
        self._lexer.close()

    @property
    def _frame(self) -> Frame:
        return self._frames[-1]

    # Words.

    def word_begins(self, word: Word) -> None:
        """Read a script that is about to begin while it streams."""
        command = self._frame.command
        if command.redirect is None and script_follows(command.words):
            self._read_script(word.growth, self._frame.directory)

    def word_has_lines(self, word: Word) -> None:
        """A patch may stand in the word."""
        if not any(stream.growth is word.growth for stream in self._streams):
            reader = EnvelopeReader(word.growth, in_shell=True)
            self._stream(word.growth, reader, self._frame.directory)

    def word_ends(self, word: Word) -> None:
        """Take a word of the command."""
        self._end_stream(word.growth)
        frame, command = self._frame, self._frame.command
        text = word.growth.text
        if command.redirect is not None:
            self._redirect(command, *command.redirect, word)
        elif command.words or command.prints is not None or word.quoted:
            command.words.append(text)
        elif text == "{":
            self._frames.append(Frame(Kind.GROUP, frame.directory))
        elif text == "}":
            self._end_group()
        elif text not in RESERVED:
            command.words.append(text)

    def _redirect(self, command: Command, sign: str, descriptor: str, word: Word) -> None:
        command.redirect = None
        text = word.growth.text
        if sign == "<<<":
            command.reads = [text + "\n"]
        elif sign in ("<", "<>"):
            command.reads = [None]
        elif sign not in _WRITES or descriptor not in ("", "1") or text == "1":
            return
        elif word.process or (sign == ">&" and (text == "-" or text.isdigit())):
            command.lost = True
        else:
            command.target = Target(text, appends=sign in (">>", "&>>"))

    # Signs.

    def sign(self, sign: str, descriptor: str, at: int) -> None:
        """End a command, or begin a redirection."""
        if sign[0] in "<>" or sign in _WRITES:
            self._frame.command.redirect = (sign, descriptor)
        elif sign in ("|", "|&"):
            self._end_command(piped=True, at=at)
        else:
            self._end_pipeline(at, sign)

    def line_ends(self, at: int) -> None:
        """End the pipeline, unless it goes on in the next line."""
        frame = self._frame
        if not frame.command.empty or frame.piped is None:
            self._end_pipeline(at, "\n" if not frame.command.empty else frame.behind)

    def begins(self, kind: Kind) -> None:
        """Go into a subshell or a substitution, which inherit the directory."""
        self._frames.append(Frame(kind, self._frame.directory))

    def ends(self, at: int) -> str | None:
        """Come back out of it."""
        self._end_pipeline(at, ")")
        while self._frame.kind is Kind.GROUP:
            self._end_group()
            self._end_pipeline(at, ")")
        inner = self._frames.pop()
        outer = self._frame
        if inner.kind is Kind.SUBSTITUTION:
            return _text(inner.prints)
        if inner.kind is Kind.SUBSHELL and outer.command.words:  # `name()`, or an array
            outer.command, outer.function = Command(), not inner.prints
        elif inner.kind is Kind.SUBSHELL:
            outer.command.prints = inner.prints
        return None

    def _end_group(self) -> None:
        if self._frame.kind is not Kind.GROUP:
            return
        inner = self._frames.pop()
        outer = self._frame
        outer.command.prints = inner.prints
        if not outer.function and outer.piped is None:
            outer.directory, outer.left = inner.directory, inner.left
        outer.function = False

    # Commands.

    def _end_command(self, *, piped: bool, at: int) -> None:
        frame = self._frame
        command, frame.command = frame.command, Command()
        incoming, frame.piped = frame.piped, None
        if command.empty:
            return
        flow = self._flow(command, incoming, at, alone=not piped and incoming is None)
        for document in command.documents:
            last = command.reads == [document]
            self._bodies[document] = _Body(
                frame.directory,
                script=last and reads_script(command.words),
                diff=last and reads_diff(command.words),
            )
        if not frame.flows or frame.flows[-1] is not flow:
            frame.flows.append(flow)
        frame.piped = Flow([]) if command.target is not None or command.lost else flow

    def _flow(self, command: Command, incoming: Flow | None, at: int, *, alone: bool) -> Flow:
        """Say what the command prints and where that goes; do what else it does."""
        frame = self._frame
        if command.reads is not None:
            incoming = Flow(command.reads)
        if command.prints is not None:
            flow = Flow(command.prints)
        else:
            done = effect(command.words, incoming.pieces if incoming else ())
            if done.edit is not None:
                files = tuple(below(frame.directory, file) for file in done.edit.files)
                for text in done.edit.texts:
                    self._add(text, files, _EDIT, at)
            if done.go is not None and alone and frame.behind != "||":
                frame.go(done.go)
            flow = (incoming or Flow([])) if done.passes else Flow(list(done.prints))
            for target in done.targets:
                flow.write(target, frame.directory)
        if command.target is not None:
            flow.write(command.target, frame.directory)
        return flow

    def _end_pipeline(self, at: int, sign: str) -> None:
        self._end_command(piped=False, at=at)
        frame = self._frame
        for flow in frame.flows:
            self._publish(flow, at)
        frame.flows.clear()
        printed, frame.piped = frame.piped, None
        if printed is not None and frame.kind is not Kind.TOP:
            frame.prints += printed.pieces
        frame.behind = sign

    def _publish(self, flow: Flow, at: int) -> None:
        """Give out what goes to files: a here-document with its lines, which are still to come."""
        if not flow.targets:
            return
        paths, names = tuple(flow.targets), _APPEND if any(flow.targets.values()) else _WRITE
        for piece in _runs(flow.pieces):
            if isinstance(piece, str):
                self._add(piece.removesuffix("\n"), paths, names, at)
            elif piece in self._bodies:
                section = PatchSection(paths, at, at, piece.growth, self._source, names=names)
                self._bodies[piece].section = section

    def _add(self, text: str, paths: tuple[str, ...], names: tuple[str, ...], at: int) -> None:
        """Give out text that is known in whole."""
        if not text:
            return
        growth = Growth(self._source)
        growth.append(text, at - len(text) + 1)
        section = PatchSection(paths, at, at, growth, self._source, names=names)
        section.finished = True
        self.sections.append(section)

    # Texts inside the command.

    def document(self, document: Document) -> None:
        """Take a here-document for what the command reads."""
        command = self._frame.command
        redirect, command.redirect = command.redirect, None
        command.documents.append(document)
        if redirect is not None and redirect[1] in ("", "0"):
            command.reads = [document]

    def body_begins(self, document: Document) -> None:
        """Read the body for what it is to its command; a patch may stand in any."""
        body = self._bodies.setdefault(document, _Body(self._frame.directory))
        if body.script and self._read_script(document.growth, body.directory):
            return
        reader = (
            UnifiedReader(document.growth)
            if body.diff
            else EnvelopeReader(document.growth, in_shell=True)
        )
        self._stream(document.growth, reader, body.directory)

    def body_line(self, document: Document, at: int) -> None:
        """Give out the body from its first line on, if it goes to a file."""
        section = self._bodies[document].section
        if section is not None:
            section.opened_at = at
            self.sections.append(section)

    def body_ends(self, document: Document) -> None:
        """The body is whole."""
        self._end_stream(document.growth)
        section = self._bodies.pop(document).section
        if section is not None:
            section.finished = True

    def envelope(self) -> EnvelopeReader:
        """Read a patch that stands in the command without quotes."""
        reader = EnvelopeReader(self._source, in_shell=True)
        self._stream(self._source, reader, self._frame.directory)
        return reader

    def finished(self, at: int, *, whole: bool) -> None:
        """End what is open; a command inside an open quote was never one."""
        for stream in tuple(reversed(self._streams)):
            self._end_stream(stream.growth)
        if not whole:
            return
        self._end_pipeline(at, "")
        while len(self._frames) > 1:
            self._frames.pop()
            self._end_pipeline(at, "")

    def _read_script(self, growth: Growth, directory: str) -> bool:
        if self._depth >= _SCRIPTS:
            return False
        return self._stream(growth, ShellReader(growth, directory, self._depth + 1), None)

    def _stream(self, growth: Growth, reader: SectionReader, directory: str | None) -> bool:
        if len(self._streams) >= _STREAMS:
            return False
        self._streams.append(_Stream(growth, reader, directory))
        return True

    def _advance(self) -> None:
        for stream in self._streams:
            self._read(stream)

    def _read(self, stream: _Stream) -> None:
        if stream.growth is not self._source:  # the lexer feeds what reads its own text
            piece, start = stream.growth.since(stream.told), stream.told
            stream.told = stream.growth.length
            stream.reader.feed(piece, start)
        self._adopt(stream)

    def _end_stream(self, growth: Growth) -> None:
        for stream in tuple(self._streams):
            if stream.growth is growth:
                self._read(stream)
                stream.reader.close()
                self._adopt(stream)
                self._streams.remove(stream)

    def _adopt(self, stream: _Stream) -> None:
        """Take over the sections of a text inside the command."""
        sections = stream.reader.sections
        for section in sections[stream.taken :]:
            if stream.directory is not None:
                section.paths = tuple(below(stream.directory, path) for path in section.paths)
                section.names = (*_EDIT, *_WRITE) if section.created else _EDIT
            self.sections.append(section)
        stream.taken = len(sections)


def _text(pieces: Sequence[Piece]) -> str | None:
    """Give what pieces come to, as a substitution; None if something of it is not known."""
    texts = list[str]()
    for piece in pieces:
        if piece is None or (isinstance(piece, Document) and not piece.read):
            return None
        texts.append(_known(piece))
    return "".join(texts).rstrip("\n")


def _runs(pieces: Iterable[Piece]) -> Iterable[str | Document]:
    """Join what stands beside each other; a body that is still to come stands alone."""
    run = list[str]()
    for piece in pieces:
        if isinstance(piece, str) or (isinstance(piece, Document) and piece.read):
            run.append(_known(piece))
            continue
        if run:
            yield "".join(run)
            run.clear()
        if piece is not None:
            yield piece
    if run:
        yield "".join(run)


def _known(piece: str | Document) -> str:
    if isinstance(piece, str):
        return piece
    return piece.growth.text + "\n" if piece.lines else ""
