"""The turn machine: fed with events, answers with decisions; no sockets, no clock, no logging.

A turn is every attempt at answering one client request. Whoever runs it feeds each upstream
event with its ordinal (counted from 0 in each attempt) and executes what comes back, in order.
After `Interrupt` or `Refuse` the attempt is over: call `reissued` before feeding the next one.
After `Complete` the turn is over. After `CheckStructure` call `checked` before anything is fed.

What is decided depends on the content alone. A hit has a decision position (the shortest prefix
on which it is final); the least one of an interrupting hit is the cut. Everything decided at or
before the cut is one batch; what came later, in the same read too, was never received.

    surface   rule                         when             becomes
    prose     mode covers prose            decided          interrupt
    tool      mode covers tools, allowed   while streaming  interrupt
    tool      mode covers tools            on the whole     refusal, at the message's end
    edit      mode covers tools            decided          interrupt (an edit inside the text)
    any       mode does not cover it       decided          reminder, if the attempt is accepted
    any       caps or budget used up       decided          prose: reminder; call: withheld
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rules_engine import wording
from rules_engine.armed import Armed
from rules_engine.arming import Arming
from rules_engine.attempt import Attempt, Located
from rules_engine.caps import Caps
from rules_engine.decisions import (
    Complete,
    Decision,
    Hit,
    Interrupt,
    Observe,
    Quarantined,
    Refuse,
    Release,
    Withhold,
)
from rules_engine.events import Broken, Finished, FinishReason, ToolArguments, ToolOpened, TurnEvent
from rules_engine.facts import Facts, Plan
from rules_engine.held import Extent
from rules_engine.policy import OnExhausted, ReleaseMode, TurnOptions, covers
from rules_engine.rule import ContextMode
from rules_engine.ruleset import RuleSet
from rules_engine.scope import Surface
from rules_engine.structures import CheckStructure, StructureResult
from rules_engine.tools import possible_names

__all__ = ["Answer", "Facts", "Plan", "Turn"]

Answer = Decision | CheckStructure


class Turn:
    """One turn. `delivered`: rule name to age, as `policy.allows` takes it; `now` in seconds."""

    def __init__(
        self,
        ruleset: RuleSet,
        facts: Facts,
        options: TurnOptions,
        delivered: Mapping[str, int],
        now: float,
    ) -> None:
        self.released = ""  # text that the client saw of abandoned attempts, with its seams
        self.released_thinking = ""
        self._facts = facts
        self._options = options
        self._caps = Caps(options, now)
        self._told: set[str] = set()  # rules that notes of this turn's interrupts tell
        self._declared: tuple[tuple[str, ...], ...] | None = None  # made when it is asked for
        self._matcher = ruleset.matcher
        self._arming = Arming.of(ruleset, delivered, options.tool_refusal, observe=facts.observe)
        self._finishing = False
        self._ordinal = 0
        self._paused: tuple[Sequence[TurnEvent], bool] | None = None  # what is left of an event
        self._begin()

    # ---- what the runner asks

    @property
    def attempts(self) -> int:
        """How many attempts there were, the running one included."""
        return self._caps.attempts

    def plan(self) -> Plan:
        """What is armed and held, for the attempt that is about to run."""
        return Plan(self._arming.idle, self._interrupts(), self._whole)

    def holds_calls(self) -> bool:
        """Whether calls wait for the end of the message."""
        if self._facts.observe:
            return False
        if self._declared is None:
            facts = self._facts
            self._declared = tuple(possible_names(facts.families, tool) for tool in facts.tools)
        return self._attempt.calls_held(self._declared)

    def feed_text(
        self, ordinal: int, choice: int, pieces: Sequence[str], now: float
    ) -> tuple[Answer, ...]:
        """The next events of the attempt, each of which carries a piece of one text, no more.

        The same as to feed one by one, but for the cost: they are searched together.
        """
        answers = self.pass_text(ordinal, choice, pieces, now)
        return (Release(ordinal + len(pieces) - 1),) if answers is None else answers

    def pass_text(
        self, ordinal: int, choice: int, pieces: Sequence[str], now: float
    ) -> tuple[Answer, ...] | None:
        """Do the same; None, as for most events, where all of it is that they go out."""
        caps, attempt = self._caps, self._attempt
        caps.now = now
        if caps.pressing:
            self._pass_time(now)
        many = len(pieces) > 1
        if many and self._armed.holding and self._run_end(choice, pieces, 0) < len(pieces):
            return self._feed_runs(ordinal, choice, pieces, now)
        text = "".join(pieces) if many else pieces[0]
        located = attempt.read_prose(Surface.TEXT, choice, text)
        if located is not None or not self._flows:
            return self._settle_run(ordinal, choice, pieces, located or ())
        attempt.held.text_out += len(text) if choice == 0 else 0
        caps.last_release = now
        return None

    def feed(self, ordinal: int, events: Sequence[TurnEvent], now: float) -> tuple[Answer, ...]:
        """The next event of the attempt: `events` are all that it carries, in order."""
        self._pass_time(now)
        self._ordinal = ordinal
        return self._feed(events, (), [], calls=False)

    def _feed(
        self,
        events: Sequence[TurnEvent],
        located: Sequence[Located],
        decisions: list[Answer],
        *,
        calls: bool,
    ) -> tuple[Answer, ...]:
        """Go on with an event, of which `events` are left; `located`: hits of the one before."""
        attempt = self._attempt
        ended: Finished | Broken | None = None
        cut = self._hits(located, decisions) if located else None
        for number, event in enumerate(() if cut else events, 1):
            if isinstance(event, Finished | Broken):
                ended = event
                continue
            calls = calls or isinstance(event, ToolOpened | ToolArguments)
            self._finishing = self._finishing or isinstance(event, FinishReason)
            cut = self._hits(attempt.feed(event), decisions)
            if attempt.due:
                self._paused = events[number:], calls
                return self._out([*decisions, CheckStructure(attempt.due)])
            if cut is not None:
                break
        if cut is not None:
            return self._out([*decisions, *self._interrupt(cut)])
        attempt.held.append(attempt.extent(self._ordinal, calls=calls, locked=self._locked()))
        if ended is not None:
            decisions += self._end(ended)
        else:
            decisions += self._release()
        return self._out(decisions)

    def checked(self, results: Sequence[StructureResult], now: float) -> tuple[Answer, ...]:
        """The searches that `CheckStructure` asked for were run: the event can be decided."""
        self._pass_time(now)
        if self._paused is not None:
            (events, calls), self._paused = self._paused, None
            return self._feed(events, self._attempt.searched(results), [], calls=calls)
        ended, located = self._unchecked
        found = self._attempt.checked(results)
        return self._out(list(self._decide_end(ended, (*located, *found))))

    def tick(self, now: float) -> tuple[Answer, ...]:
        """Time has passed: once the budget is used up, prose is held no more."""
        self._pass_time(now)
        return self._out(list(self._release()))

    def reissued(self, now: float) -> None:
        """The next attempt begins; its events are counted from 0 again."""
        self._caps.begin_attempt(now)
        self._begin()

    def give_up(self) -> tuple[Decision, ...]:
        """Rules are off from here on: everything held is released, nothing is watched."""
        held = self._attempt.held
        if self._paused is not None:
            held.append(self._attempt.extent(self._ordinal, calls=True, locked=False))
        released = self._release_all()
        self._arming = Arming()
        self._begin()
        self._attempt.held = held
        return released

    # ---- runs of text

    def _feed_runs(
        self, ordinal: int, choice: int, pieces: Sequence[str], now: float
    ) -> tuple[Answer, ...]:
        decisions: list[Answer] = []
        start = 0
        while start < len(pieces):
            end = self._run_end(choice, pieces, start)
            answers = self.feed_text(ordinal + start, choice, pieces[start:end], now)
            decisions += answers
            if any(isinstance(answer, Interrupt) for answer in answers):
                break
            start = end
        return tuple(decisions)

    def _run_end(self, choice: int, pieces: Sequence[str], start: int) -> int:
        """How far the pieces from `start` on may be searched together, while a rule holds prose.

        Where more than `hold_limit` would be held, a match may begin in what had to go out.
        """
        end = start + 1
        if not self._joins(choice):
            return end
        room = self._options.hold_limit - self._attempt.held.held_characters - len(pieces[start])
        while end < len(pieces) and room >= len(pieces[end]):
            room -= len(pieces[end])
            end += 1
        return end

    def _joins(self, choice: int) -> bool:
        """Whether what a hit does cannot depend on what goes out within a run.

        It may on calls, which cannot be taken back then, and on the budget, which begins anew.
        Where anything is released, positions must be those of one text that is all prose.
        """
        split = self._facts.edits.formats and not self._whole
        return choice == 0 and not (split or self._attempt.calls or self._caps.spent())

    def _settle_run(
        self, ordinal: int, choice: int, pieces: Sequence[str], located: Sequence[Located]
    ) -> tuple[Answer, ...]:
        """Decide on a run that was read, where it does not just pass."""
        attempt, decisions = self._attempt, list[Answer]()
        extents = attempt.text_extents(ordinal, choice, pieces, locked=self._locked())
        cut = next(filter(self._cuts, located), None)
        if cut is None:
            self._hits(located, decisions)
            attempt.held.extend(extents)
            decisions += self._release(extents[:-1])
        else:
            decisions += self._cut_run(located, cut, extents)
        return self._out(decisions)

    def _cut_run(
        self, located: Sequence[Located], cut: Located, run: Sequence[Extent]
    ) -> Sequence[Answer]:
        """One event of the run is the last. Those before it go out first, as far as they may."""
        attempt, decisions = self._attempt, list[Answer]()
        decided = attempt.own_position(Surface.TEXT, cut.hit.decided)
        at = next((n for n, event in enumerate(run) if event.text >= decided), len(run) - 1)
        attempt.held.extend(run[:at])
        if at and self._moves_back():
            text = attempt.furthest_hold(run[:at], 0)
            last = attempt.held.release(text, attempt.hold()[1], calls=True)
            if last is not None:
                decisions.append(Release(last))
                located = [attempt.judged(each) for each in located]
        self._hits(located, decisions)
        attempt.held.append(run[at])
        self._ordinal = run[at].ordinal
        return [*decisions, *self._interrupt(cut)]

    def _moves_back(self) -> bool:
        """Whether text that was free to go may be held once there is more of it."""
        return self._options.release is ReleaseMode.CUT and not self._whole

    # ---- arming

    def _begin(self) -> None:
        arming = self._arming
        holding = self._caps.left(arming.interrupting)
        release = ReleaseMode.CUT if self._options.release is ReleaseMode.CUT else ReleaseMode.SAFE
        self._armed = Armed.of(arming, holding, release, self._matcher)
        whole = self._options.release is ReleaseMode.WHOLE or self._facts.structured
        self._whole = whole and self._interrupts()
        before = self.released + wording.seam(self.released) if self.released else ""
        self._attempt = Attempt(
            self._armed,
            self._facts.families,
            self._facts.workspace,
            before,
            self.released_thinking,
            edits=self._facts.edits,
            cutting=self._caps.left(arming.cutting),
        )
        self._finishing = False
        self._batch: list[Located] = []  # every hit of the attempt, in order of arrival
        self._refused: list[Located] = []
        self._paused = None
        self._unchecked: tuple[Finished | Broken, tuple[Located, ...]] = (Finished(), ())
        self._flows = self._nothing_waits()

    def _interrupts(self) -> bool:
        return bool(self._armed.holding) or self._arming.refuses

    # ---- hits

    def _hits(self, located: Sequence[Located], decisions: list[Answer]) -> Located | None:
        """Sort hits of one delta; returns the one that cuts the attempt, if any."""
        cut: Located | None = None
        for each in located:
            if cut is not None and each.hit.decided > cut.hit.decided:
                break
            if self._facts.observe:
                decisions.append(Observe((each.hit,)))
            elif self._cuts(each):
                self._batch.append(each)
                cut = cut or each
            else:
                self._batch.append(self._kept_back(each))
        return cut

    def _kept_back(self, located: Located) -> Located:
        """A hit that does not cut: refused at the end, or a reminder (exhausted where it is)."""
        if not covers(located.live.mode, located.hit.surface):
            return located
        if located.prose is None:
            self._refused.append(located)
        elif not self._caps.may_act(located.live):
            return located.exhausted()
        return located

    def _cuts(self, located: Located) -> bool:
        hit, live = located.hit, located.live
        if self._facts.observe:
            return False
        if not covers(live.mode, hit.surface) or not self._caps.may_act(live):
            return False
        if located.prose is None:
            return not located.at_end and live.rule.name in self._arming.allowed
        # A call that has begun to reach the client cannot be taken back.
        return not self._attempt.held.calls_out

    def _pass_time(self, now: float) -> None:
        if self._caps.pass_time(now):
            self._attempt.drop_holds()

    # ---- release

    def _locked(self) -> bool:
        if self._facts.observe or self._arming.idle:
            return False
        return self._finishing or (self._attempt.sealed and self._interrupts())

    def _calls_pass(self) -> bool:
        """Whether no event waits for a call; which tools could be called is asked only then."""
        return not (self._attempt.calls and self.holds_calls())

    def _release(self, passed: Sequence[Extent] = ()) -> Sequence[Decision]:
        """`passed`: events with whose ends, too, something may have been free to go."""
        if self._whole:
            return ()
        attempt = self._attempt
        text, thinking = attempt.hold()
        if passed and self._moves_back():
            text = attempt.furthest_hold(passed, text)
        calls = self._calls_pass()
        last = attempt.held.release(text, thinking, calls=calls)
        forced = attempt.held.release_oldest(self._options.hold_limit, calls=calls)
        last = last if forced is None else forced
        return () if last is None else (Release(last),)

    def _release_prose(self) -> Sequence[Decision]:
        """The end decided what stands in front of the first held call: it is clean."""
        if self._whole:
            return ()
        extent = self._attempt.extent(0, calls=False, locked=False)
        last = self._attempt.held.release(extent.text, extent.thinking, calls=False)
        return () if last is None else (Release(last),)

    def _release_all(self) -> tuple[Decision, ...]:
        last = self._attempt.held.release_all()
        return () if last is None else (Release(last),)

    def _out(self, decisions: list[Answer]) -> tuple[Answer, ...]:
        if any(isinstance(decision, Release) for decision in decisions):
            self._caps.released()
        quarantined = self._attempt.take_quarantined()
        aside = [Quarantined(live.rule, where) for live, where in quarantined]
        self._flows = self._nothing_waits()
        return (*aside, *decisions)

    def _nothing_waits(self) -> bool:
        """Whether more text goes out as it comes, unless a rule holds it or is hit by it.

        Asked wherever something has been decided: text that passes changes nothing of it. Whatever
        waits for the end of the message is held, and keeps back what follows it.
        """
        attempt = self._attempt
        thinking = self._armed.holding and attempt.holds_back(Surface.THINKING)
        return not (thinking or self._whole or attempt.held)

    # ---- the attempt's end

    def _interrupt(self, cut: Located) -> Sequence[Decision]:
        hit, attempt = cut.hit, self._attempt
        decisions: list[Decision] = []
        if not self._whole:
            at = None if cut.prose is None else (cut.prose[0], hit.decided)
            last = attempt.held.release(*attempt.hold(at), calls=self._calls_pass())
            if last is not None:
                decisions.append(Release(last))
        in_text = cut.prose is not None and cut.prose[0] is Surface.TEXT
        text = attempt.text(hit.decided if in_text else None)
        kept = text.rstrip() if cut.live.context_mode is ContextMode.KEEP else ""
        withheld = attempt.withheld(text)
        hits, seam = self._spend(self._batch), self._leave()
        return [*decisions, Interrupt(hits, kept, seam, withheld, self._ordinal)]

    def _end(self, ended: Finished | Broken) -> Sequence[Answer]:
        located = tuple(self._attempt.close())
        jobs = self._attempt.jobs()
        if jobs:
            self._unchecked = ended, located
            return [CheckStructure(jobs)]
        return self._decide_end(ended, located)

    def _decide_end(self, ended: Finished | Broken, located: Sequence[Located]) -> Sequence[Answer]:
        decisions: list[Answer] = []
        cut: Located | None = None
        for each in located:
            cut = self._hits((each,), decisions) or cut
        if isinstance(ended, Broken):
            return [*decisions, *self._end_broken(located)]
        if cut is not None:
            return [*decisions, *self._interrupt(cut)]
        if self._refused:
            return [*decisions, *self._end_refused()]
        return [*decisions, *self._release_all(), *self._complete()]

    def _end_refused(self) -> Sequence[Decision]:
        if any(self._caps.may_act(each.live) for each in self._refused):
            calls = (each.hit.call for each in self._refused)
            refused = tuple(dict.fromkeys(call for call in calls if call is not None))
            withheld = self._attempt.withheld(self._attempt.text())
            others = [each for each in self._batch if each.hit.call not in refused]
            return [Refuse(self._spend(others), refused, self._leave(), withheld)]
        then, forced = self._options.on_exhausted, self._facts.forced_tool
        if then is OnExhausted.DELIVER and not forced:
            was = self._refused
            self._batch = [each.exhausted() if each in was else each for each in self._batch]
            return [*self._release_all(), *self._complete()]
        hits = tuple(each.hit for each in self._refused)
        others = [each for each in self._batch if each not in self._refused]
        self._batch = [each for each in others if each.prose is not None]
        gone = tuple(each.hit for each in others if each.prose is None)  # with their calls
        front = [*self._release_prose(), *([Observe(gone)] if gone else ())]
        withheld = self._attempt.withheld(self._attempt.text())
        error = then is OnExhausted.ERROR or forced
        return [*front, Withhold(hits, error, withheld), *self._complete()]

    def _complete(self) -> Sequence[Decision]:
        """The turn is one delivery: what an interrupt has told is not told once more behind it."""
        if self._facts.observe:
            return (Complete(()),)
        hits = [each.hit for each in self._batch]
        again = tuple(hit for hit in hits if hit.rule.name in self._told and not hit.exhausted)
        seen = (Observe(again),) if again else ()
        return (*seen, Complete(tuple(hit for hit in hits if hit not in again)))

    def _spend(self, told: Iterable[Located]) -> tuple[Hit, ...]:
        """The batch leaves with its attempt; the note of it tells the rules of `told`."""
        self._told |= {each.live.rule.name for each in told}
        stopping = (each for each in self._batch if covers(each.live.mode, each.hit.surface))
        self._caps.act(each.live.rule.name for each in stopping)
        return tuple(each.hit for each in self._batch)

    def _leave(self) -> str:
        """Note what the client saw of this attempt; returns the seam before the next one."""
        held = self._attempt.held
        shown = self._attempt.text()[: held.text_out]
        if not self.released:  # behind released text, reasoning is kept from the client
            self.released_thinking += self._attempt.thinking()[: held.thinking_out]
        if shown:
            self.released += (wording.seam(self.released) if self.released else "") + shown
        return wording.seam(self.released) if self.released else ""

    def _end_broken(self, located: Sequence[Located]) -> Sequence[Decision]:
        """Nothing is made to look complete: unfinished calls and violating text are dropped."""
        unfinished = set() if self._finishing else self._attempt.unfinished()
        violating = {
            (each.hit.choice, each.hit.call) for each in self._refused if each.hit.call is not None
        }
        held_calls = self.holds_calls()
        without = frozenset(unfinished | violating) if held_calls else frozenset[tuple[int, int]]()
        spans = [each.prose for each in located if each.prose and self._cuts(each)]
        dropped = frozenset(self._attempt.holding_any(spans))
        last = self._attempt.held.release_all()
        release = () if last is None else (Release(last, without, dropped),)
        return [*release, Complete(tuple(each.hit for each in self._batch), broken=True)]
