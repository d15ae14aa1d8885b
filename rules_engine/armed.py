"""What watches an attempt: rules by surface, made once for all attempts that are armed alike."""

from __future__ import annotations

from rules_engine.arming import Arming
from rules_engine.matcher import Matcher
from rules_engine.policy import ReleaseMode, covers
from rules_engine.roster import Roster, Watch
from rules_engine.ruleset import LiveRule
from rules_engine.scope import Surface

_MOST_KEPT = 4  # each with what its windows remember of the ends of texts


class Armed:
    """Nothing of it changes. `holding`: names of rules whose prose hits would interrupt.

    `prose` and `tools`: the rules that are watched there, `refusing`: those whose hits on a call
    keep it back. `matcher`: that of the rule set they come from.
    """

    def __init__(
        self,
        prose: tuple[LiveRule, ...],
        tools: tuple[LiveRule, ...],
        holding: frozenset[str],
        release: ReleaseMode,
        matcher: Matcher | None = None,
    ) -> None:
        self.prose = prose
        self.tools = tools
        self.holding = holding
        self.release = release
        self.matcher = matcher
        self.refusing = tuple(live for live in tools if covers(live.mode, Surface.TOOL))
        self._rosters: dict[tuple[Surface, bool], Roster] = {}

    @classmethod
    def of(
        cls,
        arming: Arming,
        holding: frozenset[str],
        release: ReleaseMode,
        matcher: Matcher | None,
    ) -> Armed:
        """Arm an attempt of a turn; `matcher` is that of the turn's rule set."""
        key = (holding, release)
        known = arming.memo.get(key)
        if isinstance(known, cls) and known.matcher is matcher:
            return known
        if len(arming.memo) >= _MOST_KEPT:
            arming.memo.clear()
        made = arming.memo[key] = cls(arming.prose, arming.tools, holding, release, matcher)
        return made

    def roster(self, surface: Surface) -> Roster:
        """The rules on one surface of prose, with what was put together of them until now."""
        bunched = self.matcher is not None and bool(self.matcher.bunches)
        known = self._rosters.get((surface, bunched))
        if known is None:
            watches = tuple(
                Watch(live, holds=live.rule.name in self.holding)
                for live in self.prose
                if surface in live.prose
            )
            known = self._rosters[surface, bunched] = Roster.of(watches, self.matcher)
        return known
