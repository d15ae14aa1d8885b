"""Splices and anchors: client view to model view; pure.

The theory. A conversation has a gap in front of each message and one at its end. Every message
of ours stands in a gap: first the notes of earlier turns (behind their results), then what the
turn of the assistant message behind the gap has injected. A request in the middle of a turn is
built the same way, its own injections standing in the last gap: when the client later returns
the accepted message, that gap is the one in front of it and holds the same bytes.

Where a note stands is decided by its neighbours alone: beside a user message it is merged into
it, beside another note it shares its message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from types import MappingProxyType

from proxy.anchors import NO_MATCHES, Anchored, Matches
from proxy.conversation import Message
from proxy.front import front
from proxy.splice import (
    Delivery,
    Kept,
    Note,
    Placement,
    Splice,
    ToolNote,
    apart,
    merged,
    stands_apart,
)

__all__ = [
    "NO_MATCHES",
    "Delivery",
    "Edit",
    "Insert",
    "Kept",
    "Matches",
    "Merge",
    "Note",
    "Placement",
    "Restore",
    "Splice",
    "Strip",
    "ToolNote",
    "View",
    "build",
    "dropped",
    "flipped",
    "layered",
]

_RESULTS = frozenset({"tool", "function"})
_ASIDES = frozenset({"system", "developer"})  # they stand in no one's turn
_BLANK_LINE = "\n\n"


@dataclass(frozen=True, slots=True)
class Insert:
    """Rendered messages in front of client message `at`; at the end if `at` is their number."""

    at: int
    messages: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """Text into message `at`: in front of its content or behind it.

    String content stays a string (text, blank line, content); a list gets one more text part.
    """

    at: int
    text: str
    front: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """Cut the first `text` characters of message `at`'s text (and `reasoning` of its reasoning)."""

    at: int
    text: int
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Restore:
    """Add the fields of the JSON object `fields` to message `at`."""

    at: int
    fields: bytes


Edit = Insert | Merge | Strip | Restore


@dataclass(frozen=True, slots=True)
class View:
    """A request's model view, as edits of the client view: at most one of a kind and place.

    delivered: what notes in this view tell, with the age of the newest note that tells it
    (assistant messages of the client view from its anchor on, the anchor's own included).
    placed: ids of the splices that stand in it. unstripped: those whose abandoned text was not
    found at the front of their message, so that nothing was cut.
    """

    edits: tuple[Edit, ...]
    delivered: Mapping[Delivery, int]
    placed: tuple[int, ...]
    unstripped: tuple[int, ...]


_UNCHANGED = View((), MappingProxyType({}), (), ())


def build(
    messages: Sequence[Message],
    matches: Matches,
    user: Callable[[str], bytes],
    pending: Sequence[Kept | Note] = (),
) -> View:
    """Build the model view of a request; with `pending`, of a reissue in the middle of its turn.

    `user` renders a user message, for notes that must share one.
    """
    if not (matches.by_message or pending):
        return _UNCHANGED
    plan = _Plan(messages, _ages(messages))
    for at, anchored in sorted(matches.by_message.items()):
        plan.place(at, anchored)
    plan.gaps[len(messages)] += pending
    for gap, pieces in sorted(plan.gaps.items()):
        plan.fill(gap, pieces, user)
    return View(plan.all_edits(), plan.delivered, tuple(plan.placed), tuple(plan.unstripped))


def layered(
    messages: Sequence[Message], text: str, system: Callable[[str], bytes]
) -> tuple[Edit, ...]:
    """Put prompt layers behind the first system or developer message, or in a new one in front."""
    if not text:
        return ()
    at = next((at for at, message in enumerate(messages) if message.role in _ASIDES), None)
    if at is None:
        return (Insert(0, (system(text),)),)
    return (Merge(at, text, front=False),)


def flipped(matches: Matches) -> Matches:
    """Give every splice the other placement, after an upstream refused the first.

    Which splice it refused is unknown: if any stands apart all are merged, else all stand apart.
    """
    any_apart = any(stands_apart(each.splice) for each in matches.by_message.values())
    return _each(matches, merged if any_apart else apart)


def dropped(matches: Matches) -> Matches:
    """Give every splice up, after an upstream refused both placements."""
    return _each(matches, lambda splice: replace(splice, dropped=True))


def _each(matches: Matches, change: Callable[[Splice], Splice]) -> Matches:
    return replace(
        matches,
        by_message={
            at: replace(anchored, splice=change(anchored.splice))
            for at, anchored in matches.by_message.items()
        },
    )


@dataclass(slots=True)
class _Plan:
    """Collects what goes where while one view is built."""

    messages: Sequence[Message]
    ages: Sequence[int]
    gaps: defaultdict[int, list[Kept | Note]] = field(default_factory=lambda: defaultdict(list))
    merges: defaultdict[tuple[int, bool], list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )
    edits: list[Edit] = field(default_factory=list)
    delivered: dict[Delivery, int] = field(default_factory=dict)
    placed: list[int] = field(default_factory=list)
    unstripped: list[int] = field(default_factory=list)

    def place(self, at: int, anchored: Anchored) -> None:
        """Put the parts of one splice where they belong, as far as they can stand there."""
        splice = anchored.splice
        if splice.dropped:
            return
        delivers: list[Delivery] = []
        for piece in splice.before:
            self.gaps[at].append(piece)
            delivers += piece.delivers
        notes = self._placed_notes(at, splice)
        for note in notes:
            delivers += note.delivers
        mended = self._mend(at, anchored)
        if mended or notes or splice.before:
            self.placed.append(anchored.id)
        self.delivered.update(dict.fromkeys(delivers, self.ages[at]))

    def _placed_notes(self, at: int, splice: Splice) -> list[Note]:
        """Place the notes behind the message; those that cannot stand yet are not returned."""
        placed: list[Note] = []
        behind = _behind(self.messages, at)
        for tool in splice.tool_notes:
            if tool.note.placement is Placement.INTO_TOOL:
                result = _result(self.messages, at, tool)
                if result is not None:
                    self.merges[result, True].append(tool.note.text)
                    placed.append(tool.note)
            elif behind is not None:
                self.gaps[behind].append(tool.note)
                placed.append(tool.note)
        if behind is not None:
            self.gaps[behind] += splice.after
            placed += splice.after
        return placed

    def _mend(self, at: int, anchored: Anchored) -> bool:
        """Take abandoned text off the message and put back what the client was not shown."""
        splice, message = anchored.splice, self.messages[at]
        text = front(message.text, splice.strip)
        reasoning = front(message.reasoning, splice.strip_reasoning) if message.reasoning else 0
        if text and not message.calls and not message.text[text:].strip():
            text = None  # an empty assistant message is refused by many upstreams
        if text is None or reasoning is None:
            self.unstripped.append(anchored.id)
        if text or reasoning:
            self.edits.append(Strip(at, text or 0, reasoning or 0))
        if splice.restore:
            self.edits.append(Restore(at, splice.restore))
        return bool(text or reasoning or splice.restore)

    def fill(self, gap: int, pieces: Sequence[Kept | Note], user: Callable[[str], bytes]) -> None:
        """Turn what stands in a gap into merges with its neighbours and messages between them."""
        before, behind = self._neighbour(gap - 1, -1), self._neighbour(gap, 1)
        start, end = 0, len(pieces)
        while start < end and self._merges_behind(before, pieces[start]):
            self.merges[before, False].append(_text(pieces[start]))
            start += 1
        if self._role(behind) == "user":
            while start < end and isinstance(pieces[end - 1], Note):
                end -= 1
            self.merges[behind, True] += map(_text, pieces[end:])
        between = pieces[start:end]
        if self._role(before) == "assistant":
            between = _without_leading_partial(between)
        if between:
            self.edits.append(Insert(gap, _rendered(between, user)))

    def all_edits(self) -> tuple[Edit, ...]:
        """List every edit, by place in the conversation."""
        merges = (
            Merge(at, _BLANK_LINE.join(texts), front_of)
            for (at, front_of), texts in self.merges.items()
            if texts
        )
        return tuple(sorted((*self.edits, *merges), key=lambda edit: edit.at))

    def _merges_behind(self, before: int, piece: Kept | Note) -> bool:
        if not isinstance(piece, Note):
            return False
        role = self._role(before)
        return role == "user" or (role in _RESULTS and piece.placement is Placement.INTO_TOOL)

    def _neighbour(self, at: int, step: int) -> int:
        """Find the message beside a gap; past system messages if a user message is behind them."""
        beyond = at
        while self._role(beyond) in _ASIDES:
            beyond += step
        return beyond if self._role(beyond) == "user" else at

    def _role(self, at: int) -> str:
        return self.messages[at].role if 0 <= at < len(self.messages) else ""


def _ages(messages: Sequence[Message]) -> Sequence[int]:
    """Count the assistant messages from each message on, itself included."""
    ones = [int(message.role == "assistant") for message in messages]
    return list(accumulate(reversed(ones)))[::-1]


def _behind(messages: Sequence[Message], at: int) -> int | None:
    """Find the gap behind message `at` and the results of its batch; None where no note may stand.

    No note may stand where results are still to come, nor between two assistant messages or at
    the end behind one: that one is to be continued.
    """
    end = _batch_end(messages, at)
    while end is not None and end == at + 1:
        if end == len(messages):
            return None
        if messages[end].role != "assistant":
            break
        at, end = end, _batch_end(messages, end)
    return end


def _batch_end(messages: Sequence[Message], at: int) -> int | None:
    """Find the index behind the last result of message `at`'s calls; None while any is missing."""
    results = _results(messages, at)
    if len(results) < len(messages[at].calls):
        return None
    return results[-1] + 1 if results else at + 1


def _results(messages: Sequence[Message], at: int) -> list[int]:
    """List the tool results behind message `at`, up to the next assistant message."""
    results: list[int] = []
    for index in range(at + 1, len(messages)):
        if messages[index].role == "assistant":
            break
        if messages[index].role in _RESULTS:
            results.append(index)
    return results


def _result(messages: Sequence[Message], at: int, tool: ToolNote) -> int | None:
    """Find the result of a tool note's call: by the call's id, else by position."""
    calls, results = messages[at].calls, _results(messages, at)
    named = [position for position, call in enumerate(calls) if call.name == tool.name]
    position = tool.position if tool.position in named else None
    if position is None and len(named) == 1:
        position = named[0]
    if position is None:
        return None
    call_id = calls[position].id
    same = [index for index in results if call_id and messages[index].call_id == call_id]
    earlier = sum(call.id == call_id for call in calls[:position])
    if earlier < len(same):
        return same[earlier]
    nameless = all(messages[index].call_id is None for index in results)
    return results[position] if nameless and position < len(results) else None


def _without_leading_partial(pieces: Sequence[Kept | Note]) -> Sequence[Kept | Note]:
    leads = bool(pieces) and isinstance(pieces[0], Kept) and pieces[0].partial
    return pieces[1:] if leads else pieces


def _rendered(pieces: Sequence[Kept | Note], user: Callable[[str], bytes]) -> tuple[bytes, ...]:
    """Render the pieces as messages; notes that follow each other share one."""
    rendered: list[bytes] = []
    shared: list[str] = []
    for piece in pieces:
        if isinstance(piece, Note) and shared:
            shared.append(piece.text)
            rendered[-1] = user(_BLANK_LINE.join(shared))
            continue
        rendered.append(piece.rendered)
        shared = [piece.text] if isinstance(piece, Note) else []
    return tuple(rendered)


def _text(piece: Kept | Note) -> str:
    return piece.text if isinstance(piece, Note) else ""
