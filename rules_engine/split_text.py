"""One choice's text that holds edits: a window on what is prose, and a virtual call an edit.

Positions handed out are those of the whole text, so that hits of both kinds can be compared and
the text be cut at any of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from rules_engine.calls import CallFound, CallWatch
from rules_engine.families import EditsInProse, ToolFamily
from rules_engine.growing import GrowingText, OnText
from rules_engine.prose import Closed, Inside, Opened, Part, Plain, Splitter, openings
from rules_engine.ruleset import LiveRule
from rules_engine.structures import StructureJob
from rules_engine.tools import CallReader
from rules_engine.triggers.structure import Span
from rules_engine.windows import Found, Window

# What the prose window gets in an edit's place, so that no match is built across it.
_STAND_IN = "\ufffc"

MakeWatch = Callable[[CallReader], CallWatch]


@dataclass(frozen=True, slots=True)
class EditFound:
    """A hit in an edit. `decided`: length of the whole text; `span`: where in it the edit stands.

    `found` counts in `text`, the source that the edit adds.
    """

    found: Found
    text: str
    paths: tuple[str, ...]
    tool: str
    decided: int
    span: tuple[int, int]
    at_end: bool = False


class _Places:
    """Where the prose window's characters stand in the whole text."""

    def __init__(self) -> None:
        self._plain = [0]
        self._whole = [0]

    def add(self, plain: int, whole: int) -> None:
        """What comes from window position `plain` on begins at `whole`."""
        if whole - plain == self._whole[-1] - self._plain[-1]:
            return
        self._plain.append(plain)
        self._whole.append(whole)

    def start(self, plain: int) -> int:
        """Where the character behind this window position stands."""
        at = bisect_right(self._plain, plain) - 1
        return self._whole[at] + plain - self._plain[at]

    def end(self, plain: int) -> int:
        """Length of the text that ends with the first `plain` characters of the window."""
        at = max(0, bisect_left(self._plain, plain) - 1)
        return self._whole[at] + plain - self._plain[at]

    def plain(self, whole: int) -> int:
        """How much of the window lies in the first `whole` characters of the text."""
        at = bisect_right(self._whole, whole) - 1
        position = self._plain[at] + whole - self._whole[at]
        return min([position, *self._plain[at + 1 : at + 2]])


@dataclass(slots=True, eq=False)
class _Edit:
    """One block. `begun`: where its mark begins; `inside`: where what is behind that does."""

    tool: str
    watch: CallWatch
    reader: CallReader
    named: tuple[str, ...]
    begun: int
    inside: int


class SplitText(OnText):
    """Stands where a `Window` on the text would; `window` watches what is prose of it.

    `watch` makes the watch of one edit, given what reads it.
    """

    def __init__(
        self,
        window: Window,
        edits: EditsInProse,
        families: tuple[ToolFamily, ...],
        watch: MakeWatch,
    ) -> None:
        self._text = GrowingText(window.text)
        self.quarantined: list[LiveRule] = []
        self._window = window
        self._families = families
        self._watch = watch
        self._splitter = Splitter(openings(edits.formats, families))
        self._places = _Places()
        self._at = window.length  # how much of the text was split
        self._edits: list[_Edit] = []
        # Of an edit that names no file.
        self._path: tuple[str, ...] = (edits.path,) if edits.path else ()

    def feed(self, piece: str) -> Sequence[Found | EditFound]:
        """Read on; what became certain, in the order of the text."""
        self._text.append(piece)
        return [hit for part in self._splitter.feed(piece) for hit in self._part(part)]

    def read(self, piece: str) -> Sequence[Found | EditFound] | None:
        """Do the same; None where nothing became certain and nothing is held."""
        return self.feed(piece) or (() if self.quarantined or self.holds_back() else None)

    def close(self) -> Sequence[Found | EditFound]:
        """The text is finished."""
        hits = [hit for part in self._splitter.close() for hit in self._part(part)]
        length = self._text.length
        late = [
            replace(hit, at_end=True, decided=length) if isinstance(hit, EditFound) else hit
            for hit in hits
        ]
        return [*late, *map(self._mapped, self._window.close()), *self._take_aside()]

    def hold(self) -> int:
        """Length of the text that no holding rule can still match on."""
        position = self._window.hold()
        whole = position == self._window.length
        return self._text.length if whole else self._places.start(position)

    def holds_back(self) -> bool:
        """Whether `hold` is less than the text's length."""
        return self._window.holds_back()

    def hold_at(self, cut: int) -> int:
        """The hold position when the text was `cut` long."""
        return self._places.end(self._window.hold_at(self._places.plain(cut)))

    def drop_holds(self) -> None:
        """No rule interrupts here any more."""
        self._window.drop_holds()

    def jobs(self, choice: int) -> Iterable[StructureJob]:
        """Searches for structures in the edits, which are numbered downwards from -1."""
        for at, edit in enumerate(self._edits):
            yield from edit.watch.jobs((choice, -1 - at))

    def structure(self, job: StructureJob, live: LiveRule, span: Span) -> EditFound:
        """The hit that a search found."""
        edit = self._edits[-1 - job.call[1]]
        text, length = job.search.text, self._text.length
        found = Found(live, span.start, span.end, len(text), at_end=True)
        where = (edit.begun, edit.inside + edit.watch.size)
        return EditFound(found, text, job.paths, edit.tool, length, where, at_end=True)

    def _part(self, part: Part) -> Iterable[Found | EditFound]:
        match part:
            case Plain(text):
                self._places.add(self._window.length, self._at)
                self._at += len(text)
                hits: Iterable[Found | EditFound] = map(self._mapped, self._window.feed(text))
            case Opened(block, mark):
                self._places.add(self._window.length, self._at)
                hits = list(map(self._mapped, self._window.feed(_STAND_IN)))
                reader = block.reader(self._families, self._path)
                hits += self._open(block.tool, reader, block.named, mark)
            case Inside(text):
                self._at += len(text)
                edit = self._edits[-1]
                hits = self._found(edit, edit.watch.feed(text))
            case Closed():
                edit = self._edits[-1]
                # What only its end decides is decided there.
                late = self._found(edit, edit.watch.close())
                hits = [replace(each, decided=self._at) for each in late]
                paths = [section.paths for section in edit.reader.sections if section.paths]
                self._path = (paths or [edit.named or self._path])[-1]
        return [*hits, *self._take_aside()]

    def _open(
        self, tool: str, reader: CallReader, named: tuple[str, ...], mark: str
    ) -> Iterable[EditFound]:
        watch = self._watch(reader)
        edit = _Edit(tool, watch, reader, named, self._at, self._at + len(mark))
        self._edits.append(edit)
        self._at = edit.inside
        return self._found(edit, watch.name(tool))

    def _found(self, edit: _Edit, found: Iterable[CallFound]) -> list[EditFound]:
        return [
            EditFound(
                each.found,
                each.text,
                each.paths,
                edit.tool,
                edit.inside + each.arrival,
                (edit.begun, self._at),
            )
            for each in found
        ]

    def _mapped(self, found: Found) -> Found:
        places = self._places
        return replace(
            found,
            start=places.start(found.start),
            end=places.end(found.end),
            decided=self._text.length if found.at_end else places.end(found.decided),
        )

    def _take_aside(self) -> tuple[()]:
        """Gather the rules that were set aside."""
        for aside in (self._window.quarantined, *(e.watch.quarantined for e in self._edits[-1:])):
            self.quarantined += aside
            aside.clear()
        return ()
