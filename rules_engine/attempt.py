"""One upstream answer under watch: windows for its prose, readers for its calls, what is held.

It finds and orders hits and says which events may go out; what a hit means is the turn's affair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from rules_engine.armed import Armed
from rules_engine.calls import CallFound, CallWatch
from rules_engine.decisions import Hit
from rules_engine.early import EarlySearches
from rules_engine.events import (
    OpenCharacter,
    TextDelta,
    ThinkingDelta,
    ToolArguments,
    ToolClosed,
    ToolNamed,
    ToolOpened,
    TurnEvent,
)
from rules_engine.families import NO_EDITS, EditsInProse
from rules_engine.held import Extent, HeldEvents
from rules_engine.ruleset import LiveRule
from rules_engine.scope import Surface, admits, may_admit
from rules_engine.split_text import EditFound, SplitText
from rules_engine.structures import StructureJob, StructureResult
from rules_engine.tools import CallReader, ToolFamily
from rules_engine.triggers.structure import Span
from rules_engine.windows import Found, Window

_AROUND = 200  # characters of an excerpt on either side of a match
_LONGEST = 400  # characters of the match itself that an excerpt shows
_NOTHING_BEFORE = {Surface.TEXT: "", Surface.THINKING: ""}


@dataclass(frozen=True, slots=True)
class Located:
    """A hit with the rule's resolved settings; `at_end`: found only on the finished output.

    `prose`: where on a surface of prose it stands, from and to; None: in a call. An edit inside
    the text counts as a tool's output for scope and mode, and stands in prose all the same.
    """

    hit: Hit
    live: LiveRule
    at_end: bool
    prose: tuple[Surface, int, int] | None = None

    def exhausted(self) -> Located:
        """The same hit, with nothing left by which to act on it."""
        return replace(self, hit=replace(self.hit, exhausted=True))


class Attempt:
    """State of one attempt. `text_before`, `thinking_before`: what was shown of earlier ones.

    `cutting`: names of rules whose structures may stop a call that still streams.
    """

    def __init__(
        self,
        armed: Armed,
        families: tuple[ToolFamily, ...],
        workspace: str | None,
        text_before: str = "",
        thinking_before: str = "",
        *,
        edits: EditsInProse = NO_EDITS,
        cutting: frozenset[str] = frozenset(),
    ) -> None:
        self.held = HeldEvents()
        self.calls: dict[tuple[int, int], CallWatch] = {}
        self.sealed = False
        self._open = False  # the newest piece of prose ends within a character
        self._closed = False
        self._armed = armed
        self._families = families
        self._workspace = workspace
        self._before = (
            {Surface.TEXT: text_before, Surface.THINKING: thinking_before}
            if text_before or thinking_before
            else _NOTHING_BEFORE
        )
        self._edits = edits
        self._prose: dict[tuple[Surface, int], Window | SplitText] = {}
        self._split: dict[int, SplitText] = {}  # texts that may hold edits, by choice
        self.quarantined: list[tuple[LiveRule, Surface]] = []
        self._early = EarlySearches(cutting) if cutting else None
        self.due: tuple[StructureJob, ...] = ()  # searches that must be run before more is fed

    def feed(self, event: TurnEvent) -> Sequence[Located]:
        """Hits that this event decides, in order of arrival."""
        located: Sequence[Located] = ()
        match event:
            case TextDelta(choice, text):
                located = self.feed_prose(Surface.TEXT, choice, text)
            case ThinkingDelta(choice, text, sealed):
                self.sealed = self.sealed or sealed
                located = self.feed_prose(Surface.THINKING, choice, text)
            case OpenCharacter():
                self._open = bool(self._armed.holding)
            case ToolOpened(choice, call, _, freeform):
                self.calls[choice, call] = self._watch(freeform=freeform, early=self._early)
            case ToolNamed(choice, call, name):
                located = self._heard(choice, call, self.calls[choice, call].name(name))
            case ToolArguments(choice, call, text):
                located = self._heard(choice, call, self.calls[choice, call].feed(text))
            case ToolClosed(choice, call):
                found = self.calls[choice, call].close()
                located = self._call_hits(choice, call, found, closing=True)
            case _:
                pass
        return located

    def feed_prose(self, surface: Surface, choice: int, text: str) -> Sequence[Located]:
        """Hits that more of a choice's prose decides, in order of arrival."""
        return self.read_prose(surface, choice, text) or ()

    def read_prose(self, surface: Surface, choice: int, text: str) -> Sequence[Located] | None:
        """The same; None, as for most of it, where there are none and none of the text is held."""
        self._open = False
        window = self._prose.get((surface, choice)) or self._window(surface, choice)
        found = window.read(text)
        if found is None:
            return None
        if window.quarantined:
            self._take_quarantined(window, surface)
        if not found:
            return ()
        ordered = sorted(found, key=lambda each: each.decided)
        return [self._prose_hit(surface, choice, each) for each in ordered]

    def close(self) -> Sequence[Located]:
        """The output ended: what the end alone decides on prose, and on calls left open."""
        hits: list[Located] = []
        self._closed = True
        for (surface, choice), window in self._prose.items():
            hits += [self._prose_hit(surface, choice, found) for found in window.close()]
            self._take_quarantined(window, surface)
        for (choice, call), watch in self.calls.items():
            hits += self._call_hits(choice, call, watch.close(), closing=True)
        return hits

    def jobs(self) -> tuple[StructureJob, ...]:
        """Searches for structures in the finished calls, and in the edits inside the text."""
        calls = (job for number, watch in self.calls.items() for job in watch.jobs(number))
        edits = (job for choice, text in self._split.items() for job in text.jobs(choice))
        return (*calls, *edits)

    def checked(self, results: Sequence[StructureResult]) -> Sequence[Located]:
        """Hits of the searches that were run, in the order of the jobs."""
        hits: list[Located] = []
        for result in results:
            if result.unchecked:
                self.quarantined += ((live, Surface.TOOL) for live in result.job.rules)
            spans = dict(result.found)
            hits += [
                self._structure_hit(result.job, live, spans[live.rule.name])
                for live in result.job.rules
                if live.rule.name in spans
            ]
        return hits

    def searched(self, results: Sequence[StructureResult]) -> Sequence[Located]:
        """Hits of the event for which searches were due, with theirs, in order of arrival.

        Where one was not done, none is tried again: the end will see to it.
        """
        number, self.due = self.due[0].call, ()
        if self._early is not None and any(result.unchecked for result in results):
            self._early.left = 0
        return self._call_hits(*number, self.calls[number].searched(results))

    def take_quarantined(self) -> Sequence[tuple[LiveRule, Surface]]:
        """Rules set aside since the last asking."""
        for watch in self.calls.values():
            self.quarantined += ((live, Surface.TOOL) for live in watch.quarantined)
            watch.quarantined.clear()
        taken, self.quarantined = self.quarantined, []
        return taken

    def text(self, until: int | None = None) -> str:
        """This attempt's text on choice 0, up to window position `until`."""
        return self._own(Surface.TEXT, until)

    def thinking(self, until: int | None = None) -> str:
        """This attempt's reasoning on choice 0."""
        return self._own(Surface.THINKING, until)

    def own_position(self, surface: Surface, position: int) -> int:
        """A window position as a count of this attempt's own characters."""
        return max(0, position - len(self._before.get(surface, "")))

    def withheld(self, text: str) -> int:
        """How many characters the client does not get, where `text` is all of the text."""
        prose = max(0, len(text) - self.held.text_out)
        return prose + sum(watch.size for watch in self.calls.values())

    def unfinished(self) -> set[tuple[int, int]]:
        """Choice and number of the calls whose arguments are not complete."""
        return {number for number, watch in self.calls.items() if not watch.complete()}

    def holding_any(self, spans: Sequence[tuple[Surface, int, int]]) -> set[int]:
        """Ordinals of the held events that bring some of these places, in window positions."""
        ordinals = set[int]()
        before = {Surface.TEXT: self.held.text_out, Surface.THINKING: self.held.thinking_out}
        for extent in self.held:
            after = {Surface.TEXT: extent.text, Surface.THINKING: extent.thinking}
            for surface, start, end in spans:
                if (
                    self.own_position(surface, start) < after[surface]
                    and self.own_position(surface, end) > before[surface]
                ):
                    ordinals.add(extent.ordinal)
            before = after
        return ordinals

    def extent(self, ordinal: int, *, calls: bool, locked: bool) -> Extent:
        """How far choice 0 has come at the end of event `ordinal`."""
        return Extent(
            ordinal,
            self._length(Surface.TEXT),
            self._length(Surface.THINKING),
            calls,
            locked,
            self._open,
        )

    def text_extents(
        self, ordinal: int, choice: int, pieces: Sequence[str], *, locked: bool
    ) -> Sequence[Extent]:
        """The same for events from `ordinal` on that brought `pieces` of a text, now read."""
        thinking, end = self._length(Surface.THINKING), self._length(Surface.TEXT)
        sizes = [len(piece) if choice == 0 else 0 for piece in pieces]
        ends = accumulate(sizes, initial=end - sum(sizes))
        next(ends)
        return [
            Extent(at, text, thinking, calls=False, locked=locked)
            for at, text in enumerate(ends, ordinal)
        ]

    def hold(self, cut: tuple[Surface, int] | None = None) -> tuple[int, int]:
        """Hold positions on text and thinking, in own characters; at `cut` where one is given."""
        return self._hold(Surface.TEXT, cut), self._hold(Surface.THINKING, cut)

    def holds_back(self, surface: Surface) -> bool:
        """Whether choice 0 may not go out up to its end, for a rule that holds."""
        window = self._prose.get((surface, 0))
        return window is not None and window.holds_back()

    def furthest_hold(self, passed: Sequence[Extent], least: int) -> int:
        """The furthest hold position that there was at the ends of these events of the newest text.

        `least`: a position that was reached in any case. In own characters.
        """
        window, before = self._prose[Surface.TEXT, 0], len(self._before[Surface.TEXT])
        for extent in reversed(passed):
            if extent.text <= least:  # nor can any hold position before it lie further
                break
            least = max(least, window.hold_at(before + extent.text) - before)
        return least

    def drop_holds(self) -> None:
        """No rule interrupts prose any more."""
        for window in self._prose.values():
            window.drop_holds()

    def calls_held(self, declared: Iterable[tuple[str, ...]]) -> bool:
        """Whether calls wait for the message's end: a refusing rule admits a tool in sight.

        `declared`: names (own and canonical) of each tool that the request declares.
        """
        named = [watch.possible for watch in self.calls.values()]
        if not all(named) and self._armed.refusing:
            return True
        return any(
            may_admit(live.rule.scope, Surface.TOOL, names)
            for live in self._armed.refusing
            for names in (*declared, *named)
        )

    def _own(self, surface: Surface, until: int | None) -> str:
        window = self._prose.get((surface, 0))
        return "" if window is None else window.text[len(self._before[surface]) : until]

    def _length(self, surface: Surface) -> int:
        window = self._prose.get((surface, 0))
        return 0 if window is None else window.length - len(self._before[surface])

    def _hold(self, surface: Surface, cut: tuple[Surface, int] | None) -> int:
        window = self._prose.get((surface, 0))
        if window is None:
            return 0
        if cut is not None and cut[0] is surface:
            return self.own_position(surface, window.hold_at(cut[1]))
        # What the end decided on this surface is no longer watched, but stays held.
        at_end = cut is not None and self._closed
        position = window.hold_at(window.length) if at_end else window.hold()
        return self.own_position(surface, position)

    def _watch(
        self,
        reader: CallReader | None = None,
        *,
        freeform: bool = False,
        early: EarlySearches | None = None,
    ) -> CallWatch:
        return CallWatch(
            self._families,
            self._admitted,
            self._workspace,
            freeform=freeform,
            matcher=self._armed.matcher,
            reader=reader,
            early=early,
        )

    def _window(self, surface: Surface, choice: int) -> Window | SplitText:
        before = self._before[surface] if choice == 0 else ""
        window: Window | SplitText
        window = Window(self._armed.roster(surface), self._armed.release, before)
        if surface is Surface.TEXT and self._edits.formats:
            window = SplitText(window, self._edits, self._families, self._watch)
            self._split[choice] = window
        self._prose[surface, choice] = window
        return window

    def _prose_hit(self, surface: Surface, choice: int, found: Found | EditFound) -> Located:
        if isinstance(found, EditFound):
            return self._edit_hit(choice, found)
        text = self._prose[surface, choice].text
        leaked = self._leaks(found.live, surface, choice, found.start)
        hit = Hit(
            found.live.rule,
            surface,
            choice,
            found.start,
            found.end,
            found.decided,
            _excerpt(text, found),
            leaked=leaked,
        )
        return Located(hit, found.live, found.at_end, (surface, found.start, found.end))

    def judged(self, located: Located) -> Located:
        """The same hit, by what has gone out until now."""
        hit, prose = located.hit, located.prose
        if prose is None or hit.surface is not prose[0]:
            return located
        leaked = self._leaks(located.live, hit.surface, hit.choice, hit.start)
        return replace(located, hit=replace(hit, leaked=leaked))

    def _leaks(self, live: LiveRule, surface: Surface, choice: int, start: int) -> bool:
        """Whether something that a rule would have held, from `start` on, has gone out."""
        out = choice == 0 and self.own_position(surface, start) < self._out(surface)
        return out and live.rule.name in self._armed.holding

    def _edit_hit(self, choice: int, each: EditFound) -> Located:
        """A hit in an edit inside the text: on a tool, but no call that could be refused."""
        found = each.found
        hit = Hit(
            found.live.rule,
            Surface.TOOL,
            choice,
            found.start,
            found.end,
            each.decided,
            _excerpt(each.text, found),
            tool=each.tool,
            path=each.paths[0] if each.paths else None,
        )
        return Located(hit, found.live, each.at_end, (Surface.TEXT, *each.span))

    def _out(self, surface: Surface) -> int:
        return self.held.text_out if surface is Surface.TEXT else self.held.thinking_out

    def _heard(self, choice: int, call: int, found: Sequence[CallFound]) -> Sequence[Located]:
        """Hits of more of a call, unless searches are due before they can be told."""
        watch = self.calls[choice, call]
        if watch.due:
            self.due = watch.early_jobs((choice, call))
            if not self.due:
                found = watch.searched(())
        return self._call_hits(choice, call, found) if found else ()

    def _call_hits(
        self, choice: int, call: int, found: Iterable[CallFound], *, closing: bool = False
    ) -> Sequence[Located]:
        tool = self.calls[choice, call].own_name or None
        return [self._call_hit(choice, call, tool, each, closing=closing) for each in found]

    def _call_hit(
        self, choice: int, call: int, tool: str | None, each: CallFound, *, closing: bool
    ) -> Located:
        found = each.found
        hit = Hit(
            found.live.rule,
            Surface.TOOL,
            choice,
            found.start,
            found.end,
            each.arrival,
            _excerpt(each.text, found),
            call=call,
            tool=tool,
            path=each.paths[0] if each.paths else None,
        )
        return Located(hit, found.live, closing)

    def _structure_hit(self, job: StructureJob, live: LiveRule, span: Span) -> Located:
        choice, call = job.call
        if call < 0:
            return self._edit_hit(choice, self._split[choice].structure(job, live, span))
        watch = self.calls[job.call]
        found = Found(live, span.start, span.end, len(job.search.text), at_end=True)
        hit = CallFound(job.section, found, job.paths, job.search.text, watch.size)
        return self._call_hit(*job.call, watch.own_name or None, hit, closing=True)

    def _admitted(self, names: tuple[str, ...], candidates: tuple[str, ...]) -> Iterable[LiveRule]:
        for live in self._armed.tools:
            globs = live.rule.globs
            if globs and not any(glob.matches(candidates) for glob in globs):
                continue
            if admits(live.rule.scope, Surface.TOOL, names, candidates):
                yield live

    def _take_quarantined(self, window: Window | SplitText, surface: Surface) -> None:
        self.quarantined += ((live, surface) for live in window.quarantined)
        window.quarantined.clear()


def _excerpt(text: str, found: Found) -> str:
    """What stands around a match, as far as it had come when the match was decided."""
    start = max(0, found.start - _AROUND)
    end = min(found.end, found.start + _LONGEST) + _AROUND
    return text[start : min(end, found.decided)]
