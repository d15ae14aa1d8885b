"""A call so far to the tools that it counts as, its files, and the source that it adds.

Matched is, per file and edit, what the call would add; never old text, context or arguments that
are no source. What no family explains is matched, once finished, as its string values, each alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from rules_engine.arguments import ArgumentDecoder, ArgumentPath, Change, ChangeKind, Leaf
from rules_engine.claims import (
    Claim,
    Claims,
    Seen,
    certain_at,
    directory,
    final_directory,
    final_paths,
    paths_by_key,
    place,
    refuted_at,
)
from rules_engine.command_words import Command, CommandWords
from rules_engine.families import (
    HEURISTIC,
    LIKELY_SOURCE,
    PatchFormat,
    ToolFamily,
    possible_names,
)
from rules_engine.formats import patch_reader
from rules_engine.freeform import FreeformReader
from rules_engine.growth import Growth
from rules_engine.reader import Reader
from rules_engine.sections import PatchText, Section, Window

__all__ = ["CallReader", "Section", "ToolFamily", "make_reader", "possible_names"]


class CallReader(Protocol):
    """Reads one call incrementally; linear in the argument text; any cutting gives the same.

    `sections` joins a text anew after it grew; to follow a long call, `take` what is new.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The tool's own name and its canonical ones (lower case); empty until it is named."""

    def name(self, name: str) -> None:
        """Take the call's settled name."""

    def feed(self, text: str) -> None:
        """Read the next piece of raw argument text."""

    def close(self) -> None:
        """Nothing more comes: settles what is open and falls back to the decoded strings."""

    @property
    def sections(self) -> tuple[Section, ...]:
        """All sections so far, in order of first appearance; closed ones keep their text."""

    def take(self) -> tuple[Section, ...]:
        """Give the sections that changed since the last `take`; each `text` is only what is new."""

    def arrival(self, key: str, length: int) -> int:
        """Offset in the raw argument text after which the first `length` characters were known."""


def make_reader(families: Iterable[ToolFamily], *, freeform: bool) -> CallReader:
    """Make a reader of one call. `freeform`: its input is raw text, not JSON."""
    known = tuple(families)
    return FreeformReader(known) if freeform else ArgumentsReader(known)


@dataclass(slots=True, eq=False)
class _Entry:
    """A string argument that families claim; `claims` are those that are still open.

    `told`: how much of its text was passed on (the decoder may be ahead). `floor`: the raw offset
    from which its claims are decided. `closed`: the raw offset at which it ended.
    """

    leaf: Leaf
    key: str
    claims: list[Claim]
    told: int = 0
    floor: int = 0
    closed: int | None = None
    window: Window | None = None
    patches: dict[PatchFormat, PatchText] = field(default_factory=dict)

    def windows(self) -> list[Window]:
        own = [] if self.window is None else [self.window]
        return own + [window for patch in self.patches.values() for window in patch.windows]

    @property
    def is_patch(self) -> bool:
        """Whether a format was recognised in it, even if the patch adds nothing."""
        return any(patch.reader.recognised for patch in self.patches.values())


class ArgumentsReader(Reader):
    """Reads a call's JSON arguments."""

    def _begin(self, families: tuple[ToolFamily, ...]) -> None:
        self._claims = Claims(families or HEURISTIC)
        self._likely = Claims(LIKELY_SOURCE)
        self._words = CommandWords(families)
        self._guessing = not families
        self._decoder = ArgumentDecoder(self._claims.unwraps)
        self._seen = Seen()
        self._entries: dict[int, _Entry] = {}
        self._undecided: list[_Entry] = []
        self._unsettled: dict[str, Window] = {}

    def _read(self, text: str, _start: int) -> None:
        for change in self._decoder.feed(text):
            self._apply(change)

    def _apply(self, change: Change) -> None:
        self._seen.note(change)
        match change.kind:
            case ChangeKind.OPENED if change.leaf is not None:
                self._open(change.leaf)
                if self._claims.excludes(change.path):
                    self._resolve()
            case ChangeKind.GREW if change.leaf is not None:
                self._grow(self._entries.get(change.leaf.number), change.piece, change.start)
            case _:
                self._end(change)
                if self._tells(change.path):
                    self._resolve()

    def _end(self, change: Change) -> None:
        """Close what ended: a text, or a command that is given word by word."""
        if change.kind is ChangeKind.CLOSED and change.leaf is not None:
            self._words.note(change.path, change.leaf.growth.text)
            entry = self._entries.get(change.leaf.number)
            if entry is not None:
                entry.closed = change.at
                self._close_patches(entry, change.at)
        elif change.kind is ChangeKind.ENDED:
            command = self._words.ended(change.path)
            if command is not None:
                self._run(command, change)

    def _run(self, command: Command, change: Change) -> None:
        """Read a command that was given word by word as the line that it comes to."""
        growth, family, line = Growth(), command.family, command.line
        growth.append_late(line, change.at)
        key = f"{_key(change.path)}#words"
        if not command.alone:
            names = tuple(dict.fromkeys((*self._own, *family.canonical)))
            whole = Window(key, growth, names, max(change.at, self._named_at))
            whole.settle((), change.at)
            self._windows.add(whole)
        claim = Claim(family, PatchFormat.SHELL, ())
        patch = self._patch_text(PatchFormat.SHELL, growth, key, claim, change.path)
        new = patch.feed(line, 0, self._windows) + patch.close(self._windows, change.at)
        self._await(self._windows.add_in_order(new), change.at)

    def _open(self, leaf: Leaf, told: int = 0) -> None:
        claims = self._claims.on(leaf.path)
        if not claims and not self._tells(leaf.path) and not self._claims.removes(leaf.path):
            # No family of this name has such an argument: another agent's tool is called so.
            claims = self._likely.on(leaf.path)
        if claims:
            entry = _Entry(leaf, _key(leaf.path), list(claims), told)
            self._entries[leaf.number] = entry
            self._decide(entry)
        script = self._words.script(leaf.path)
        if script is not None and leaf.number in self._entries:
            claim = Claim(script, PatchFormat.SHELL, ())
            self._grant_patch(self._entries[leaf.number], PatchFormat.SHELL, claim)

    def _tells(self, path: ArgumentPath) -> bool:
        """Say whether the value at `path` says something about other arguments."""
        claims = self._claims
        return claims.guides(path) or claims.excludes(path) or self._likely.guides(path)

    def _grow(self, entry: _Entry | None, piece: str, start: int) -> None:
        if entry is None:
            return
        entry.told = start + len(piece)
        if entry.window is not None:
            self._windows.touch(entry.window)
        new = [w for p in entry.patches.values() for w in p.feed(piece, start, self._windows)]
        self._windows.add_in_order(new)
        if new and not entry.claims:
            self._await(new)

    def _resolve(self) -> None:
        """Look again at what waits: a value that can settle a tool or a path is known."""
        undecided, self._undecided = self._undecided, []
        for entry in undecided:
            self._decide(entry)
        unsettled, self._unsettled = self._unsettled, {}
        self._await(unsettled.values())

    def _decide(self, entry: _Entry) -> None:
        """Decide the claims that can be; what the tool counts as is settled with the last."""
        still = []
        for claim in entry.claims:
            no = refuted_at(claim.family, entry.leaf.path, self._seen)
            yes = certain_at(claim.family, entry.leaf.path, self._seen) if no is None else None
            if no is None and yes is None:
                still.append(claim)
                continue
            entry.floor = max(entry.floor, no or yes or 0, self._named_at)
            if no is None:
                self._grant(entry, claim)
        entry.claims = still
        if still:
            self._undecided.append(entry)
        else:
            self._await(entry.windows(), entry.floor)

    def _grant(self, entry: _Entry, claim: Claim) -> None:
        if claim.format is None:
            self._grant_added(entry, claim)
        else:
            self._grant_patch(entry, claim.format, claim)

    def _grant_added(self, entry: _Entry, claim: Claim) -> None:
        if entry.window is None:
            growth, path = entry.leaf.growth, entry.leaf.path
            entry.window = Window(entry.key, growth, self._own, entry.floor, path)
            self._windows.add(entry.window)
        entry.window.lend(claim.family, claim.canonical)
        self._windows.touch(entry.window)

    def _grant_patch(self, entry: _Entry, shape: PatchFormat, claim: Claim) -> None:
        known = entry.patches.get(shape)
        if known is not None:
            known.lend(claim.family, claim.canonical)
            return
        growth, key = entry.leaf.growth, f"{entry.key}#{shape}"
        patch = self._patch_text(shape, growth, key, claim, entry.leaf.path)
        patch.floor = entry.floor
        entry.patches[shape] = patch
        self._windows.add_in_order(patch.feed(growth.text[: entry.told], 0, self._windows))
        if entry.closed is not None:
            self._windows.add_in_order(patch.close(self._windows, entry.closed))

    def _patch_text(
        self, shape: PatchFormat, growth: Growth, key: str, claim: Claim, path: ArgumentPath
    ) -> PatchText:
        names = tuple(dict.fromkeys((*self._own, *claim.canonical)))
        reader, families = patch_reader(shape, growth), (claim.family,)
        return PatchText(
            reader, growth, key, names, self._named_at, path, families, [], own=self._own
        )

    def _await(self, windows: Iterable[Window], floor: int = 0) -> None:
        """Settle what can be settled; keep the others for when more is known, or the end."""
        for window in windows:
            if window.settled or self._seen.end is not None:
                continue
            window.floor = max(window.floor, floor)
            find = directory if window.named else place
            found = find(window.families, window.argument, self._seen)
            if found is None:
                self._unsettled[window.key] = window
                continue
            if window.named:
                window.settle_named(window.named_in(found.paths[0]), found.at)
            else:
                window.settle(found.paths, found.at)
            self._windows.touch(window)

    def _finish(self) -> None:
        for change in self._decoder.close():
            self._apply(change)
        self._seen.end = self._fed
        self._read_no_json()
        self._resolve()
        self._close_all()
        removed = self._claims
        if not self._explained() and not self._guessing:
            self._guess()
        self._final_paths()
        if not self._explained() or (self._guessing and not any(w.paths for w in self._windows)):
            self._fall_back(removed)

    def _read_no_json(self) -> None:
        """Look anew at strings that began like JSON and were none: a patch may begin with `[`."""
        leaves = self._decoder.leaves
        broken = [leaf for leaf in leaves if leaf.wrapped is not None and leaf.wrapped.fault]
        for leaf in broken:
            if not any(_is_inside(other.path, leaf.path) for other in leaves):
                self._open(leaf, told=leaf.growth.length)

    def _close_all(self) -> None:
        for entry in self._entries.values():
            self._close_patches(entry, self._fed)

    def _close_patches(self, entry: _Entry, at: int) -> None:
        new = [w for patch in entry.patches.values() for w in patch.close(self._windows, at)]
        self._windows.add_in_order(new)
        if new and not entry.claims:
            self._await(new)

    def _explained(self) -> bool:
        """Say whether a family found source, or recognised a patch (that may add nothing)."""
        return bool(self._windows) or any(entry.is_patch for entry in self._entries.values())

    def _guess(self) -> None:
        """Try what fits any tool: the families of this name explain nothing."""
        removed, self._claims, self._guessing = self._claims, Claims(HEURISTIC), True
        for leaf in self._plain_leaves():
            if not removed.removes(leaf.path):
                self._open(leaf, told=leaf.growth.length)
        self._close_all()

    def _plain_leaves(self) -> list[Leaf]:
        """Give the string values, without those that were read as JSON with success."""
        return [
            leaf
            for leaf in self._decoder.leaves
            if leaf.wrapped is None or leaf.wrapped.fault is not None
        ]

    def _final_paths(self) -> None:
        """Settle every window; one that goes to other files in the end is there for those too."""
        for window in self._windows:
            paths = self._final_paths_of(window)
            if window.settled and not set(paths) <= set(window.paths):
                self._windows.add(window.elsewhere(paths, self._fed))
            elif not window.settled:
                if window.named:
                    window.settle_named(paths, self._fed)
                else:
                    window.settle(paths, self._fed)
                self._windows.touch(window)

    def _final_paths_of(self, window: Window) -> tuple[str, ...]:
        families, argument = window.families, window.argument
        if window.named:
            return window.named_in(final_directory(families, argument, self._seen))
        paths = final_paths(families, argument, self._seen)
        if not paths and any(family.paths for family in families):
            return paths_by_key(self._seen)
        return paths

    def _fall_back(self, removed: Claims) -> None:
        """Match the string values that are no section yet, each alone; else the raw text."""
        leaves = self._plain_leaves()
        paths = paths_by_key(self._seen)
        for leaf in leaves:
            entry = self._entries.get(leaf.number)
            known = entry is not None and (entry.window is not None or entry.is_patch)
            if known or removed.removes(leaf.path) or not leaf.growth.length:
                continue
            window = Window(f"value:{_key(leaf.path)}", leaf.growth, self._own, self._fed)
            window.settle(paths, self._fed)
            self._windows.add(window)
        if not leaves and self._decoder.fault is not None:
            self._read_as_raw()

    def _read_as_raw(self) -> None:
        """Read arguments that are no JSON at all: perhaps a bare patch."""
        reader = FreeformReader(self._families, self._windows)
        reader.feed("".join(self._raw))
        reader.name(self._own[0] if self._own else "")
        reader.close()


def _is_inside(path: ArgumentPath, of: ArgumentPath) -> bool:
    return len(path) > len(of) and path[: len(of)] == of


def _key(path: ArgumentPath) -> str:
    return "/".join(str(step) for step in path)
