"""Why one output does or does not break each rule: gate by gate, asked of the server's functions.

The turn itself says what hits; what is explained here is why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from proxy.inventory import REASONS, Entry, Inventory, scope_word
from proxy.masking import single_line
from proxy.trial import (
    Ground,
    Observed,
    Output,
    deed,
    holds_calls,
    observe,
    position,
    sections,
)
from proxy.verdict import Gate, GateName, Held, Match, Report, Verdict, shown
from rules_engine.globs import path_candidates
from rules_engine.policy import ReleaseMode, covers
from rules_engine.problems import Severity
from rules_engine.rule import Bucket, Rule
from rules_engine.ruleset import LiveRule, Reason
from rules_engine.scope import Surface, admits
from rules_engine.triggers.pattern import OverBudget
from rules_engine.triggers.structure import language_among
from rules_engine.windows import Watch, Window


@dataclass(frozen=True, slots=True)
class _Place:
    """One text that the server searches, with what scope and globs are asked about."""

    text: str
    names: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


def check(inventory: Inventory, output: Output, ground: Ground) -> Report:
    """Try an output on every rule that asks for a trigger."""
    observed = observe(inventory.ruleset, output, ground)
    live = {each.rule: each for each in inventory.ruleset.live}
    checker = _Checker(output, ground, observed, tuple(_places(output, ground)))
    verdicts = tuple(
        checker.verdict(entry, entry.rule, live.get(entry.rule))
        for entry in inventory.entries
        if entry.rule is not None and entry.rule.has_trigger
    )
    return Report(output, verdicts, observed.quarantined)


def _places(output: Output, ground: Ground) -> Iterator[_Place]:
    if output.surface is not Surface.TOOL:
        yield _Place(output.text)
        return
    for section in sections(output, ground):
        candidates = tuple(
            form for path in section.paths for form in path_candidates(path, ground.workspace)
        )
        yield _Place(section.text, section.names, candidates, section.paths)


@dataclass(frozen=True, slots=True)
class _Checker:
    output: Output
    ground: Ground
    observed: Observed
    places: tuple[_Place, ...]

    def verdict(self, entry: Entry, rule: Rule, live: LiveRule | None) -> Verdict:
        force = _in_force(entry)
        if live is None:
            asked = bool(rule.question) and entry.reason == Reason.NO_TRIGGER
            gate = _question(rule) if asked else force
            return Verdict(entry, (gate,), evaluated=asked, triggered=False)
        hits = () if rule.question else self.observed.hits  # a pattern only chooses what is asked
        hit = next((each for each in hits if each.rule.name == rule.name), None)
        inside = tuple(place for place in self.places if self._scoped(rule, place))
        watched = tuple(place for place in inside if self._globbed(rule, place))
        matches = tuple(self._matches(live, watched))
        gates = (
            force,
            Gate(GateName.SCOPE, bool(inside), self._scope_says(rule, inside)),
            Gate(GateName.GLOBS, bool(watched), self._globs_say(rule, inside, watched)),
            Gate(GateName.TRIGGER, hit is not None, self._trigger_says(live, watched, matches)),
            Gate(GateName.REPEAT, True, _repeat_says(live)),  # noqa: FBT003 - passed, by name above
        )
        return Verdict(
            entry,
            _as_far_as_asked(gates),
            evaluated=True,
            triggered=hit is not None,
            matches=matches,
            deed=deed(live, self.output, self.ground) if hit else None,
            decided=hit.decided if hit else None,
            held=self._held(live) if watched else None,
        )

    # ---- scope and globs

    def _scoped(self, rule: Rule, place: _Place) -> bool:
        return admits(rule.scope, self.output.surface, place.names, place.candidates)

    def _globbed(self, rule: Rule, place: _Place) -> bool:
        return rule.watches(self.output.surface, place.names, place.candidates)

    def _scope_says(self, rule: Rule, inside: Sequence[_Place]) -> str:
        words = ", ".join(f"`{scope_word(token)}`" for token in rule.scope)
        if not inside:
            return f"none of {words or 'no valid token'} admits {self._what(self.places)}"
        place = inside[0]
        token = next(
            token
            for token in rule.scope
            if admits((token,), self.output.surface, place.names, place.candidates)
        )
        return f"`{scope_word(token)}` admits {self._what(inside)}"

    def _what(self, places: Sequence[_Place]) -> str:
        """Name the output as scopes do, with every name that they may use."""
        if self.output.surface is not Surface.TOOL:
            return self.output.surface
        names = dict.fromkeys(name for place in places for name in place.names)
        called = " or ".join(f"tool:{name}" for name in names) or f"tool:{self.output.tool}"
        paths = _paths(places)
        return f"{called} on {paths}" if paths else f"{called} without a path"

    def _globs_say(self, rule: Rule, inside: Sequence[_Place], watched: Sequence[_Place]) -> str:
        if not rule.globs:
            return "the rule has none"
        words = ", ".join(f"`{glob.pattern}`" for glob in rule.globs)
        paths = _paths(watched or inside)
        if not paths:
            return f"none of {words} matches, since {self.output.surface} has no path here"
        if not watched:
            return f"none of {words} matches {paths}"
        glob = next(g for g in rule.globs if any(g.matches(each.candidates) for each in watched))
        return f"`{glob.pattern}` matches {paths}"

    # ---- triggers

    def _matches(self, live: LiveRule, places: Iterable[_Place]) -> Iterator[Match]:
        for place in places:
            for trigger in live.patterns:
                try:
                    span = trigger.final(place.text, 0)
                except OverBudget:
                    continue
                if span is not None:
                    yield _match("condition", trigger.pattern.source, place.text, *span)
            for structure in live.structures:
                found = structure.matches(place.text, _language(place))
                if found is not None:
                    yield _match("astCondition", structure.source, place.text, *found)

    def _trigger_says(
        self, live: LiveRule, places: Sequence[_Place], matches: Sequence[Match]
    ) -> str:
        if live.rule.question:
            return _question(live.rule).says
        if live.rule.name in self.observed.quarantined:
            return "it was too large or too slow to search, so the rule is set aside here"
        if matches:
            return "; ".join(_told(match) for match in matches)
        says = f"no match for {', '.join(f'`{each}`' for each in live.rule.conditions)}"
        if not live.structures:
            return says
        spoken = any(_language(place) in each.languages for place in places
                     for each in live.structures)  # fmt: skip
        structures = (
            f"no match for {len(live.structures)} astCondition"
            if spoken
            else "astCondition skipped: the path's extension stands for no language that it reads"
        )
        return f"{says}; {structures}" if live.rule.conditions else structures

    # ---- holding

    def _held(self, live: LiveRule) -> Held | None:
        if not covers(live.mode, self.output.surface):
            return None
        if self.output.surface is Surface.TOOL:
            if not holds_calls(live, self.output, self.ground):
                return None
            size = len(self.output.text)
            return Held(None, size, "the whole call waits for the end of its message")
        return self._held_prose(live)

    def _held_prose(self, live: LiveRule) -> Held:
        text, release = self.output.text, self.ground.options.release
        if release is ReleaseMode.WHOLE:
            return Held(0, len(text), "all of it waits for the end, as `release: whole` says")
        window = Window((Watch(live, holds=True),), release)
        found = window.feed(text)
        if not found:
            at = window.hold()
            says = "a match could still begin there" if at < len(text) else "nothing is pending"
            return Held(at, len(text) - at, says)
        cut = found[0].decided
        at = window.hold_at(cut)
        return Held(at, cut - at, f"the output is cut after {cut} characters, in front of the rest")


def _in_force(entry: Entry) -> Gate:
    if entry.bucket is Bucket.TTSR:
        return Gate(
            GateName.IN_FORCE, passed=True, says=f"as a trigger, interruptMode {entry.mode}"
        )
    reason = entry.reason or Reason.NO_TRIGGER
    faults = (each.render() for each in entry.problems if each.severity is Severity.ERROR)
    says = "\n".join((f"{reason}: {REASONS.get(reason, reason)}", *faults))
    return Gate(GateName.IN_FORCE, passed=False, says=says)


def _question(rule: Rule) -> Gate:
    says = f"the judge decides, and it is not asked here: {single_line(rule.question or '')}"
    return Gate(GateName.TRIGGER, passed=False, says=says)


def _as_far_as_asked(gates: Sequence[Gate]) -> tuple[Gate, ...]:
    """Gates behind the first closed one are never asked."""
    closed = next((at for at, gate in enumerate(gates) if not gate.passed), len(gates) - 1)
    return tuple(gates[: closed + 1])


def _repeat_says(live: LiveRule) -> str:
    return f"{live.repeat_mode}: in a new conversation nothing was delivered, so the rule may act"


def _paths(places: Iterable[_Place]) -> str:
    return ", ".join(dict.fromkeys(path for place in places for path in place.paths))


def _language(place: _Place) -> str | None:
    return language_among(place.paths)


def _match(field: str, source: str, text: str, start: int, end: int) -> Match:
    line, column = position(text, start)
    return Match(field, source, start, end, line, column, text[start:end])


def _told(match: Match) -> str:
    return (
        f"{match.field} `{shown(match.source)}` at line {match.line}, column {match.column}: "
        f"{shown(match.text)}"
    )
