"""Whether a family explains an argument, and which file it means, by what was seen of a call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rules_engine.arguments import ArgumentPath, Change, ChangeKind
from rules_engine.families import PatchFormat, Spec, ToolFamily, bound, canonical_of, covers, parsed


@dataclass(frozen=True, slots=True)
class Claim:
    """A family says what an argument is: new source (`format` None), or patch text."""

    family: ToolFamily
    format: PatchFormat | None
    canonical: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """The files that a text is for, and the raw offset at which they were known."""

    paths: tuple[str, ...]
    at: int


@dataclass(slots=True)
class Seen:
    """The finished values of a call so far. `end`: the raw offset at which it was finished.

    `present`: the raw offset at which an argument was seen to be there and not null.
    Of duplicate keys the first value counts while the call streams, so that a hit once found
    stands; the last one counts when it is finished, as for whoever parses it.
    """

    first: dict[Spec, tuple[str, int]] = field(default_factory=dict)
    last: dict[Spec, str] = field(default_factory=dict)
    present: dict[Spec, int] = field(default_factory=dict)
    ended: dict[Spec, int] = field(default_factory=dict)
    end: int | None = None

    def note(self, change: Change) -> None:
        """Take in one step of the decoding."""
        if change.kind is ChangeKind.ENDED:
            self.ended.setdefault(change.path, change.at)
            if change.piece != "null":
                self.present.setdefault(change.path, change.at)
        elif change.kind is ChangeKind.OPENED:
            self.present.setdefault(change.path, change.at)
        elif change.kind is ChangeKind.CLOSED and change.leaf is not None:
            text = change.leaf.growth.text
            self.first.setdefault(change.path, (text, change.at))
            self.last[change.path] = text


class Claims:
    """Every claim of some families, by the shape of the argument (list positions left out)."""

    def __init__(self, families: Iterable[ToolFamily]) -> None:
        self._families = tuple(families)
        self._added = [(parsed(a), f) for f in self._families for a in f.added]
        self._patches = [(parsed(p.argument), p, f) for f in self._families for p in f.patches]
        self._removed = [parsed(a) for f in self._families for a in f.removed]
        self._guides = [parsed(a) for f in self._families for a in _guides(f)]
        self._excluding = [parsed(a) for f in self._families for a in f.without]
        self._by_shape: dict[Spec, tuple[Claim, ...]] = {}
        self._guiding: dict[Spec, bool] = {}

    def on(self, path: ArgumentPath) -> tuple[Claim, ...]:
        """Give the claims on the string at `path`."""
        shape = _shape(path)
        if shape not in self._by_shape:
            added = [Claim(f, None, f.canonical) for spec, f in self._added if covers(spec, path)]
            patches = [
                Claim(f, p.format, p.canonical or canonical_of(f))
                for spec, p, f in self._patches
                if covers(spec, path)
            ]
            self._by_shape[shape] = (*added, *patches)
        return self._by_shape[shape]

    def guides(self, path: ArgumentPath) -> bool:
        """Say whether the value at `path` can settle the tool or the path of another one."""
        shape = _shape(path)
        if shape not in self._guiding:
            self._guiding[shape] = any(
                covers(spec, path) or (None in spec and covers(spec[: spec.index(None)], path))
                for spec in self._guides
            )
        return self._guiding[shape]

    def excludes(self, path: ArgumentPath) -> bool:
        """Say whether a family does not apply because there is something at `path`."""
        return any(covers(spec, path) for spec in self._excluding)

    def removes(self, path: ArgumentPath) -> bool:
        """Say whether the string at `path` is old text, which is never matched."""
        return any(covers(spec, path) for spec in self._removed)

    def unwraps(self, path: ArgumentPath) -> bool:
        """Say whether structure is wanted where `path` is, so that a string there is JSON."""
        specs = [spec for spec, _ in self._added] + [spec for spec, _, _ in self._patches]
        return any(len(spec) > len(path) and covers(spec[: len(path)], path) for spec in specs)


def _guides(family: ToolFamily) -> tuple[str, ...]:
    selectors = (argument for argument, _ in (*family.where, *family.unless))
    return (*family.paths, *family.directory, *selectors)


def _shape(path: ArgumentPath) -> Spec:
    return tuple(None if isinstance(step, int) else step for step in path)


def refuted_at(family: ToolFamily, path: ArgumentPath, seen: Seen) -> int | None:
    """Give the raw offset from which `family` certainly does not explain the argument at `path`.

    None while it may, or if it does.
    """
    offsets = [
        _missed_at(_value(argument, path, seen), values, seen) for argument, values in family.where
    ]
    unwanted = [(_value(argument, path, seen), values) for argument, values in family.unless]
    offsets += [value[1] for value, values in unwanted if value and value[0] in values]
    offsets += [seen.present.get(bound(parsed(argument), path)) for argument in family.without]
    return min((offset for offset in offsets if offset is not None), default=None)


def _missed_at(value: tuple[str, int] | None, values: tuple[str, ...], seen: Seen) -> int | None:
    if value is None:
        return seen.end
    return None if value[0] in values else value[1]


def certain_at(family: ToolFamily, path: ArgumentPath, seen: Seen) -> int | None:
    """Give the raw offset from which `family` certainly explains the argument at `path`.

    None while that is open. Asked only of a family that is not refuted.
    """
    selectors = (*family.where, *family.unless)
    values = [_value(argument, path, seen) for argument, _ in selectors]
    if family.without or None in values:
        return seen.end
    return max((value[1] for value in values if value is not None), default=0)


def _value(argument: str, path: ArgumentPath, seen: Seen) -> tuple[str, int] | None:
    return seen.first.get(bound(parsed(argument), path))


def place(families: Sequence[ToolFamily], path: ArgumentPath, seen: Seen) -> Place | None:
    """Find the file that the text at `path` is for; None while no argument has named it."""
    arguments = dict.fromkeys(a for family in families for a in family.paths)
    if not arguments:
        return Place(_given(families), 0)
    found = [_named(bound(parsed(argument), path), seen) for argument in arguments]
    return min((p for p in found if p is not None), key=lambda p: p.at, default=None)


def _given(families: Sequence[ToolFamily]) -> tuple[str, ...]:
    """Give the files that are known without the call."""
    return tuple(dict.fromkeys(family.file for family in families if family.file))


def directory(families: Sequence[ToolFamily], path: ArgumentPath, seen: Seen) -> Place | None:
    """Find the directory of the files that the text at `path` names; None while it may come."""
    arguments = dict.fromkeys(a for family in families for a in family.directory)
    found = [_named(bound(parsed(argument), path), seen) for argument in arguments]
    return min((p for p in found if p is not None), key=lambda p: p.at, default=None)


def final_directory(families: Sequence[ToolFamily], path: ArgumentPath, seen: Seen) -> str:
    """Give that directory as the finished call says it; empty if it does not."""
    arguments = dict.fromkeys(a for family in families for a in family.directory)
    found = (_last(bound(parsed(argument), path), seen) for argument in arguments)
    return next((paths[0] for paths in found if paths), "")


def _named(spec: Spec, seen: Seen) -> Place | None:
    if None not in spec:
        value = seen.first.get(spec)
        return None if value is None or not value[0] else Place((value[0],), value[1])
    end = seen.ended.get(spec[: spec.index(None)])
    if end is None:
        return None
    paths = tuple(text for key, (text, _) in seen.first.items() if covers(spec, key) and text)
    return Place(paths, end) if paths else None


def final_paths(families: Sequence[ToolFamily], path: ArgumentPath, seen: Seen) -> tuple[str, ...]:
    """Give the files of a finished call: the last value of each key, and a second name."""
    named = [bound(parsed(a), path) for family in families for a in family.paths]
    second = [bound(parsed(a), path) for family in families for a in family.renamed]
    ordered = [_last(spec, seen) for spec in named]
    main = next((paths for paths in ordered if paths), _given(families))
    also = tuple(text for spec in second for text in _last(spec, seen))
    return tuple(dict.fromkeys((*main, *also)))


def _last(spec: Spec, seen: Seen) -> tuple[str, ...]:
    if None not in spec:
        return (seen.last[spec],) if seen.last.get(spec) else ()
    return tuple(text for key, text in seen.last.items() if covers(spec, key) and text)


def paths_by_key(seen: Seen) -> tuple[str, ...]:
    """Give the values of top-level arguments whose key names a path (`…path`, `…paths`)."""
    found = []
    for key, text in seen.last.items():
        word = str(key[0]).lower() if key else ""
        single = len(key) == 1 and word.endswith(("path", "filename", "target_file"))
        several = len(key) == 2 and isinstance(key[1], int) and word.endswith("paths")  # noqa: PLR2004 - key and position
        if text and (single or several):
            found.append(text)
    return tuple(dict.fromkeys(found))
