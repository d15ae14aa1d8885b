"""Calls made from the families themselves: what a model would write to change files with a tool."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from proxy.agents import collect, tool_families
from rules_engine.families import HEURISTIC, PatchFormat, Spec, ToolFamily, parsed

AGENTS = collect()
NO_TOOL = "mcp__any__thing"  # a tool that no family lists

# Formats whose text names the file, and can hold several files; the others say it elsewhere.
NAMING = frozenset(
    {
        PatchFormat.ENVELOPE,
        PatchFormat.UNIFIED,
        PatchFormat.HASHLINE,
        PatchFormat.SHELL,
    }
)
# Formats that have no old text.
ONLY_NEW = frozenset({PatchFormat.HASHLINE, PatchFormat.SHELL})


@dataclass(frozen=True, slots=True)
class Change:
    """One edit of one file: a line that it adds, one that it removes, one that stays."""

    path: str
    new: str
    old: str = "old"
    context: str = "context"


@dataclass(frozen=True, slots=True)
class Source:
    """One way in which an agent's tool says what is new.

    format None: the argument is the new source itself. freeform: the input is no JSON.
    """

    agent: str
    tool: str
    family: ToolFamily
    argument: str = ""
    format: PatchFormat | None = None
    canonical: tuple[str, ...] = ()
    freeform: bool = False

    def __str__(self) -> str:
        what = self.argument or ("freeform" if self.freeform else "bare")
        return "-".join(filter(None, (self.agent, self.tool, what, self.format)))

    @property
    def families(self) -> tuple[ToolFamily, ...]:
        """All families, as a request of this agent knows them."""
        return tool_families(AGENTS, self.agent)

    @property
    def names_files(self) -> bool:
        """Whether it is known which file is changed."""
        return self.format in NAMING or (bool(self.family.paths) and bool(self.argument))

    @property
    def names_old_text(self) -> bool:
        """Whether the call holds what is removed."""
        if self.format is not None:
            return self.format not in ONLY_NEW
        return self._beside(self.family.removed) is not None

    @property
    def several_files(self) -> bool:
        """Whether one call can change two files."""
        if self.format is not None:
            return self.format in NAMING
        lists = {_list_of(name) for name in (self.argument, *self.family.paths[:1])}
        return len(lists) == 1 and None not in lists

    @property
    def several_edits(self) -> bool:
        """Whether one call can hold two edits of a file."""
        # A list of words is one command, not several edits.
        words = self.argument in self.family.words and self.argument.endswith("[]")
        return self.format is not None or (_list_of(self.argument) is not None and not words)

    def scope(self, glob: str = "*.py") -> str:
        """A rule's scope that means this tool, by its canonical name where it has one."""
        name = next(iter(self.canonical), self.tool)
        return f"tool:{name}({glob})" if self.names_files else f"tool:{name}"

    def calls(self, *changes: Change) -> list[str]:
        """Make the calls for these changes: one, if the tool can do all of it at once."""
        files = {change.path for change in changes}
        if self.several_edits and (len(files) == 1 or self.several_files):
            return [self._call(changes)]
        return [self._call((change,)) for change in changes]

    def _call(self, changes: Sequence[Change]) -> str:
        if self.freeform:
            return self._text(changes)
        if not self.argument:
            return json.dumps(self._text(changes))
        arguments: dict[str, Any] = {} if self.format else {"explanation": changes[0].context}
        for at, group in enumerate([changes] if self.format else [(each,) for each in changes]):
            for spec, value in self._values(group):
                put(arguments, parsed(spec), value, at)
        return json.dumps(arguments)

    def _values(self, changes: Sequence[Change]) -> Iterator[tuple[str, str]]:
        """The arguments of one edit, in an order in which agents declare them."""
        if self.family.paths:
            yield self.family.paths[0], changes[0].path
        for name, values in self.family.where:
            yield name, values[0]
        removed = self._beside(self.family.removed)
        if removed is not None:
            yield removed, changes[0].old
        yield self.argument, self._text(changes) if self.format else changes[0].new

    def _text(self, changes: Sequence[Change]) -> str:
        assert self.format is not None
        return WRITERS[self.format](changes)

    def _beside(self, arguments: Sequence[str]) -> str | None:
        """The argument that stands in the same object as this source's."""
        here = parsed(self.argument)[:-1]
        return next((each for each in arguments if parsed(each)[:-1] == here), None)


def _list_of(argument: str) -> Spec | None:
    """The list that the argument stands in; None: in none."""
    spec = parsed(argument)
    return spec[: spec.index(None)] if None in spec else None


def put(into: dict[str, Any], spec: Spec, value: object, at: int) -> None:
    """Set the value at an argument path; the first list on the way has it at position `at`."""
    place: Any = into
    steps = list(spec)
    while steps:
        step = steps.pop(0)
        if step is None:
            step, at = at, 0
            place.extend([] if len(place) > step else [None])
        if not steps:
            place[step] = value
            return
        empty: Any = [] if steps[0] is None else {}
        held = place[step] if isinstance(place, list) else place.get(step)
        place[step] = empty if held is None else held
        place = place[step]


def sources() -> Iterator[Source]:
    """Every source of every tool of every agent, and of tools that nobody knows."""
    for agent in AGENTS:
        for family in agent.families:
            for tool in family.tools:
                yield from sources_of(agent.name, tool, family)
    for family in HEURISTIC:
        yield from sources_of("unknown", NO_TOOL, family)


def sources_of(agent: str, tool: str, family: ToolFamily) -> Iterator[Source]:
    """Every source of one tool."""
    for argument in family.added:
        yield Source(agent, tool, family, argument, canonical=family.canonical)
    for patch in family.patches:
        canonical = patch.canonical or family.canonical
        yield Source(agent, tool, family, patch.argument, patch.format, canonical)
    for shape in family.freeform:
        lent = (patch.canonical for patch in family.patches if patch.format is shape)
        canonical = next(lent, ()) or family.canonical
        yield Source(agent, tool, family, "", shape, canonical, freeform=True)


def _by_file(changes: Sequence[Change]) -> Iterator[tuple[str, list[Change]]]:
    for path, group in groupby(changes, key=lambda change: change.path):
        yield path, list(group)


def _hunk(change: Change) -> str:
    return f"@@\n {change.context}\n-{change.old}\n+{change.new}\n"


def _hunks(changes: Sequence[Change]) -> str:
    return "".join(map(_hunk, changes))


def _envelope(changes: Sequence[Change]) -> str:
    files = (f"*** Update File: {path}\n{_hunks(own)}" for path, own in _by_file(changes))
    return "*** Begin Patch\n" + "".join(files) + "*** End Patch\n"


def _unified(changes: Sequence[Change]) -> str:
    return "".join(f"--- a/{p}\n+++ b/{p}\n{_hunks(own)}" for p, own in _by_file(changes))


def _search_replace(changes: Sequence[Change]) -> str:
    return "".join(
        f"<<<<<<< SEARCH\n{change.context}\n{change.old}\n=======\n{change.new}\n>>>>>>> REPLACE\n"
        for change in changes
    )


def _hashline(changes: Sequence[Change]) -> str:
    return "".join(
        f"[{path}#1f3]\n" + "".join(f"PUT 4\n {each.context}\n+{each.new}\n" for each in own)
        for path, own in _by_file(changes)
    )


def _shell(changes: Sequence[Change]) -> str:
    return "".join(
        f"echo {each.context}\ncat >> {each.path} <<'EOF'\n{each.new}\nEOF\n" for each in changes
    )


WRITERS: Mapping[PatchFormat, Callable[[Sequence[Change]], str]] = {
    PatchFormat.ENVELOPE: _envelope,
    PatchFormat.UNIFIED: _unified,
    PatchFormat.HUNKS: _hunks,
    PatchFormat.SEARCH_REPLACE: _search_replace,
    PatchFormat.HASHLINE: _hashline,
    PatchFormat.SHELL: _shell,
}
"""How a model writes changes in each format."""
