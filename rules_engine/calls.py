"""One call of a message: its reader, and a window for each place where it adds source.

A section's window opens once tool and path are settled, so that scope and globs are asked once;
text that came before is searched then, and its hits count from the character that settled them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rules_engine.early import EarlySearches, EarlySource, early_source
from rules_engine.globs import path_candidates
from rules_engine.matcher import Matcher
from rules_engine.ruleset import LiveRule
from rules_engine.structures import CallNumber, StructureJob, StructureResult, job_of, too_large
from rules_engine.tools import CallReader, Section, ToolFamily, make_reader, possible_names
from rules_engine.triggers.structure import language_among
from rules_engine.windows import Found, Watch, Window


@dataclass(frozen=True, slots=True)
class CallFound:
    """A hit in a call; `arrival` is the offset in its raw arguments at which it was decided."""

    key: str  # the section's
    found: Found
    paths: tuple[str, ...]
    text: str
    arrival: int


class CallWatch:
    """Feeds one call's arguments to its sections' windows.

    `admit(names, candidates)` gives the rules that watch a section of a tool so named, writing
    to a path with these candidates. `matcher`: that of the rule set they come from.
    `reader`: what reads the call, where its text is of a kind of its own. `early`: what may be
    searched for structures before the call is finished.
    """

    def __init__(
        self,
        families: tuple[ToolFamily, ...],
        admit: Callable[[tuple[str, ...], tuple[str, ...]], Iterable[LiveRule]],
        workspace: str | None,
        *,
        freeform: bool = False,
        matcher: Matcher | None = None,
        reader: CallReader | None = None,
        early: EarlySearches | None = None,
    ) -> None:
        self.own_name = ""
        self.possible: tuple[str, ...] = ()  # names that a scope may call it; empty: not yet named
        self.closed = False
        self.quarantined: list[LiveRule] = []
        self._families = families
        self._reader = reader or make_reader(families, freeform=freeform)
        self._admit = admit
        self._workspace = workspace
        self._matcher = matcher
        self._windows: dict[str, Window] = {}
        self._watching: dict[str, set[str]] = {}  # by section, the rules that were admitted
        self._latest: dict[str, Section] = {}
        self._place: dict[str, int] = {}  # sections in order of appearance
        self._waiting: dict[str, list[str]] = {}  # text of sections that are not settled yet
        self._pieces: list[str] = []
        self._hit: set[tuple[str, str]] = set()  # section and rule
        self._early = early
        self._growing: dict[str, EarlySource] = {}  # by section
        self._due: list[tuple[int, int, int, str]] = []  # arrival, place, length, section
        self._kept: list[CallFound] = []  # hits that wait for what is due

    @property
    def size(self) -> int:
        """Characters of raw arguments so far."""
        return sum(map(len, self._pieces))

    def complete(self) -> bool:
        """Whether the arguments are one whole JSON document, so that the call could be run."""
        try:
            json.loads("".join(self._pieces))
        except ValueError:
            return False
        return True

    def name(self, name: str) -> Sequence[CallFound]:
        """The call's name is settled."""
        self.own_name = name
        self.possible = possible_names(self._families, name)
        self._reader.name(name)
        return self._advance(closing=False)

    def feed(self, text: str) -> Sequence[CallFound]:
        """The next piece of raw arguments; returns hits in order of arrival."""
        self._pieces.append(text)
        self._reader.feed(text)
        return self._advance(closing=False)

    def close(self) -> Sequence[CallFound]:
        """The call is finished: everything that it adds is checked whole."""
        if self.closed:
            return ()
        self.closed = True
        self._reader.close()
        return self._advance(closing=True)

    @property
    def due(self) -> bool:
        """Whether sources have grown enough to be searched: `searched` gives the hits then."""
        return bool(self._due)

    def early_jobs(self, number: CallNumber) -> tuple[StructureJob, ...]:
        """The searches that are due, by rules that did not hit there yet."""
        assert self._early is not None
        jobs: list[StructureJob] = []
        for arrival, _, length, key in sorted(self._due):
            text, paths = self._windows[key].text[:length], self._latest[key].paths
            hit = frozenset(rule for at, rule in self._hit if at == key)
            wanted = self._growing[key].search(text, hit, self._early)
            if wanted is not None:
                jobs.append(StructureJob(number, key, paths, *wanted, arrival))
        return tuple(jobs)

    def searched(self, results: Sequence[StructureResult]) -> Sequence[CallFound]:
        """What was due was searched; returns the hits that waited too, in order of arrival."""
        hits, self._kept, self._due = self._kept, [], []
        for result in results:
            job = result.job
            for live in job.rules:
                span = dict(result.found).get(live.rule.name)
                if span is not None:
                    found = Found(live, span.start, span.end, len(job.search.text))
                    hits.append(
                        CallFound(job.section, found, job.paths, job.search.text, job.arrival)
                    )
        return self._first_hits(sorted(hits, key=self._rank))

    def jobs(self, number: CallNumber) -> Iterable[StructureJob]:
        """Searches for structures in the finished call, by rules that did not hit there yet."""
        for key, window in self._windows.items():
            section = self._latest[key]
            rules = [
                live
                for live in self._admitted(section)
                if live.structures and (key, live.rule.name) not in self._hit
            ]
            if rules and too_large(window.text):
                self.quarantined += rules
                continue
            language = language_among(section.paths)
            job = job_of(number, key, section.paths, window.text, language=language, rules=rules)
            if job is not None:
                yield job

    def _advance(self, *, closing: bool) -> Sequence[CallFound]:
        hits: list[CallFound] = []
        for section in self._reader.take():
            self._place.setdefault(section.key, len(self._place))
            if section.settled or closing:
                hits += self._section(section)
            else:
                self._waiting.setdefault(section.key, []).append(section.text)
        if closing:
            for key in self._windows:
                hits += self._close_section(key)
        elif self._due:
            self._kept = hits
            return ()
        return self._first_hits(sorted(hits, key=self._rank)) if hits else ()

    def _first_hits(self, hits: Sequence[CallFound]) -> Sequence[CallFound]:
        """Keep the first hit of each rule in each section."""
        first: list[CallFound] = []
        for each in hits:
            known = (each.key, each.found.live.rule.name)
            if known not in self._hit:
                self._hit.add(known)
                first.append(each)
        return first

    def _rank(self, hit: CallFound) -> tuple[int, int, int]:
        """What comes first; hits of one arrival (a path) stand as they do in the arguments."""
        return hit.arrival, self._place[hit.key], hit.found.decided

    def _close_section(self, key: str) -> Iterable[CallFound]:
        """Check a finished section, also by the rules that only its final names or paths admit."""
        yield from self._found(key, self._windows[key].close())
        text, section = self._windows[key].text, self._latest[key]
        late = [
            live for live in self._admitted(section) if live.rule.name not in self._watching[key]
        ]
        if late:
            window = self._watch(late)
            found = (*window.feed(text), *window.close())
            yield from self._told(key, window, found, self.size)

    def _section(self, section: Section) -> Iterable[CallFound]:
        key = section.key
        window = self._windows.get(key)
        if window is None:
            window = self._open(section)
        self._latest[key] = section
        piece = "".join((*self._waiting.pop(key, ()), section.text))
        source = self._growing.get(key)
        if source is not None and not self.closed:
            self._due += (
                (self._arrival(key, length, section.settled_at), self._place[key], length, key)
                for length in source.grow(piece)
            )
        return self._found(key, window.feed(piece))

    def _found(self, key: str, found: Iterable[Found]) -> Iterable[CallFound]:
        return self._told(key, self._windows[key], found, self._latest[key].settled_at)

    def _told(
        self, key: str, window: Window, found: Iterable[Found], settled: int
    ) -> Iterable[CallFound]:
        """`settled`: the raw offset from which on the rules of the window may count."""
        self.quarantined += window.quarantined
        window.quarantined.clear()
        for each in found:
            arrival = self._arrival(key, each.decided, settled)
            yield CallFound(key, each, self._latest[key].paths, window.text, arrival)

    def _arrival(self, key: str, length: int, settled: int) -> int:
        """Give the raw offset from which on a decision at `length` of a section counts."""
        return max(self._reader.arrival(key, length), settled)

    def _open(self, section: Section) -> Window:
        live = self._admitted(section)
        source = early_source(section.paths, live, self._early)
        if source is not None:
            self._growing[section.key] = source
        self._watching[section.key] = {each.rule.name for each in live}
        window = self._windows[section.key] = self._watch(live)
        return window

    def _watch(self, live: Iterable[LiveRule]) -> Window:
        return Window((Watch(each, holds=False) for each in live), matcher=self._matcher)

    def _admitted(self, section: Section) -> Sequence[LiveRule]:
        candidates = tuple(
            candidate
            for path in section.paths
            for candidate in path_candidates(path, self._workspace)
        )
        return tuple(self._admit(section.names, candidates))
