"""Whole conversations, played through: whatever was injected once stands where it stood."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.anchors import NO_MATCHES, lookup_keys, match, places
from proxy.conversation import Call, Message, canonical, normalised, spine
from proxy.pending import Pending
from proxy.splice import Delivery, Placement, Splice, StoredSplice, decode, encode
from proxy.views import (
    Insert,
    Merge,
    Restore,
    Strip,
    View,
    build,
    flipped,
)
from proxy.wire.chat import WIRE_API

Neutral = dict[str, Any]


def user(text: str) -> bytes:
    return json.dumps({"role": "user", "text": text}).encode()


def neutral(message: Message) -> Neutral:
    """Show a message as the model gets it; absent fields are left out."""
    fields: Neutral = {"role": message.role, "text": message.text}
    if message.calls:
        fields["calls"] = [[call.id, call.name, call.arguments] for call in message.calls]
    if message.call_id is not None:
        fields["call_id"] = message.call_id
    return fields


def applied(messages: Sequence[Message], view: View) -> list[Neutral]:
    """Make the model view: edits applied to the client view."""
    kept = [neutral(message) for message in messages]
    inserts: dict[int, tuple[bytes, ...]] = {}
    for edit in view.edits:
        match edit:
            case Insert(at, rendered):
                assert at not in inserts, "two inserts in one gap"
                inserts[at] = rendered
            case Merge(at, text, front):
                pair = (text, kept[at]["text"]) if front else (kept[at]["text"], text)
                kept[at]["text"] = "\n\n".join(pair)
            case Strip(at, text, _):
                kept[at]["text"] = kept[at]["text"][text:]
            case Restore(at, fields):
                kept[at] |= json.loads(fields)
    whole: list[Neutral] = []
    for at in range(len(kept) + 1):
        whole += [json.loads(rendered) for rendered in inserts.get(at, ())]
        whole += kept[at : at + 1]
    return whole


def plain(messages: Sequence[Neutral]) -> list[Neutral]:
    """Leave what is the same where a client printed things again."""
    return [
        message
        | {"text": normalised(message["text"])}
        | {"calls": [[i, name, canonical(text)] for i, name, text in message.get("calls", ())]}
        for message in messages
    ]


def faults(messages: Sequence[Neutral]) -> dict[str, int]:
    """Count what strict upstreams refuse."""
    found = {"user user": 0, "assistant assistant": 0, "unanswered": 0}
    for at, message in enumerate(messages):
        following = messages[at + 1] if at + 1 < len(messages) else None
        pair = f"{message['role']} {following['role']}" if following else ""
        if pair in found:
            found[pair] += 1
        answers = set()
        for answer in messages[at + 1 :]:
            if answer["role"] != "tool":
                break
            answers.add(answer.get("call_id"))
        found["unanswered"] += len({call[0] for call in message.get("calls", ())} - answers)
    return found


def assert_legal(messages: Sequence[Message], view: View) -> None:
    """Check that the view adds no fault that the client's own conversation did not have."""
    model = applied(messages, view)
    allowed = faults([neutral(message) for message in messages])
    assert all(count <= allowed[fault] for fault, count in faults(model).items()), model
    assert model[-1]["role"] != "assistant" or messages[-1].role == "assistant"
    assert len(set(view.placed)) == len(view.placed)


@dataclass
class Ledger:
    """Splices as a store would give them back: through their encoding."""

    stored: list[StoredSplice] = field(default_factory=list)

    def add(self, before: Sequence[Message], got: Message, splice: Splice) -> int:
        entry = StoredSplice(len(self.stored) + 1, places(got, spine(before)), encode(splice))
        self.stored.append(entry)
        return entry.id

    def view(self, messages: Sequence[Message], pending: Pending | None = None) -> View:
        read = spine(messages)
        keys = set(lookup_keys(read))
        found = [entry for entry in self.stored if keys & {place.key for place in entry.places}]
        return build(messages, match(read, found), user, pending.before if pending else ())


@dataclass(frozen=True)
class Attempt:
    """One abandoned attempt. `kept`: text of the partial; `refused`: calls of a refusal."""

    released: str
    kept: str = ""
    refused: int = 0


@dataclass(frozen=True)
class Turn:
    """What the model does in one turn and what the client sends next."""

    attempts: tuple[Attempt, ...]
    text: str
    calls: int
    after: int
    tool_notes: tuple[tuple[int, Placement], ...]
    own_ids: bool
    restore: bool
    follow_up: bool
    system: bool


words = st.sampled_from(["Hello", "No.", "x = 1", "<think>h</think>", " ", "```", "é\U0001f600"])
texts = st.lists(words, max_size=4).map(" ".join)
attempts = st.builds(
    Attempt,
    released=texts,
    kept=texts.map(str.strip),
    refused=st.sampled_from([0, 0, 1, 2]),
)
turns = st.builds(
    Turn,
    attempts=st.lists(attempts, max_size=3).map(tuple),
    text=texts,
    calls=st.sampled_from([0, 0, 1, 2, 3]),
    after=st.sampled_from([0, 0, 1, 2]),
    tool_notes=st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from([Placement.INTO_TOOL, Placement.OWN])),
        max_size=2,
        unique_by=lambda note: note[0],
    ).map(tuple),
    own_ids=st.booleans(),
    restore=st.booleans(),
    follow_up=st.booleans(),
    system=st.booleans(),
)


@dataclass
class Play:
    """One client, its conversation, and what each turn left."""

    unique: bool = True
    ledger: Ledger = field(default_factory=Ledger)
    messages: list[Message] = field(
        default_factory=lambda: [Message("system", "s"), Message("user", "do it")]
    )
    count: int = 0
    delivered: list[tuple[int, set[Delivery]]] = field(default_factory=list)

    def turn(self, turn: Turn) -> list[Neutral]:
        """Play a turn; returns the model's conversation at its end, the accepted answer too."""
        self.count += 1
        before, mark = list(self.messages), f" #{self.count}" if self.unique else ""
        pending = Pending.behind(before, user)
        for number, attempt in enumerate(turn.attempts):
            pending = self._abandon(pending, attempt, f"{self.count}.{number}")
            assert_legal(before, self.ledger.view(before, pending))
            assert_legal(before, self.ledger.view(before, pending.flipped()))
        model = applied(before, self.ledger.view(before, pending))
        accepted = self._accepted(turn, mark)
        pending = self._remind(pending, turn, len(accepted.calls))
        got = replace(
            accepted,
            text=pending.splice.strip + accepted.text,
            calls=tuple(
                call if turn.own_ids else replace(call, id=None) for call in accepted.calls
            ),
        )
        splice = pending.finish(got.text)
        if splice is not None and places(got, spine(before)):
            self.ledger.add(before, got, splice)
        self.messages.append(replace(got, calls=accepted.calls))
        answer = neutral(accepted)
        if splice is not None and splice.restore:
            answer |= json.loads(splice.restore)
        return [*model, answer]

    def follow(self, turn: Turn) -> None:
        """Send what the client has behind the answer."""
        calls = self.messages[-1].calls
        if turn.system:
            self.messages += [] if calls else [Message("system", "aside")]
        self.messages += [Message("tool", f"result {call.id}", call_id=call.id) for call in calls]
        if not calls or turn.follow_up:
            self.messages.append(Message("user", f"go on {self.count}"))

    def _accepted(self, turn: Turn, mark: str) -> Message:
        calls = tuple(
            Call(
                f"id_{self.count}_{number}x" if turn.own_ids else f"call_{number}",
                "write",
                json.dumps({"b": number, "a": self.count + 0.5 if self.unique else 1.5}),
            )
            for number in range(turn.calls)
        )
        text = turn.text + mark
        return Message("assistant", text if normalised(text) or calls else "Done.", calls=calls)

    def _abandon(self, pending: Pending, attempt: Attempt, name: str) -> Pending:
        pending = pending.abandoned(attempt.released and f"{attempt.released}\n\n")
        if not attempt.refused:
            partial = json.dumps({"role": "assistant", "text": attempt.kept}).encode()
            return pending.interrupted(
                f"note {name}",
                [Delivery(f"rule {name}", "h")],
                partial=partial if attempt.kept else b"",
            )
        calls = [[f"refused_{name}_{number}", "write", "{}"] for number in range(attempt.refused)]
        message = {"role": "assistant", "text": attempt.kept, "calls": calls}
        answers = [{"role": "tool", "text": "refused", "call_id": call[0]} for call in calls]
        return pending.refused([json.dumps(each).encode() for each in (message, *answers)], ())

    def _remind(self, pending: Pending, turn: Turn, calls: int) -> Pending:
        for number in range(turn.after):
            name = f"after {self.count}.{number}"
            pending = pending.reminded(name, [Delivery(name, "h")])
        for position, placement in turn.tool_notes:
            if position < calls:
                name = f"call {self.count}.{position}"
                pending = pending.reminded_of_call(
                    position, "write", name, [Delivery(name, "h")], placement
                )
        return pending.restored(b'{"reasoning": "r"}') if turn.restore else pending


def reserialised(message: Message) -> Message:
    """Print a message as agents send it back: arguments printed again, text trimmed."""
    if message.role != "assistant":
        return message
    return replace(
        message,
        text=message.text.strip(),
        calls=tuple(
            replace(
                call, arguments=json.dumps(json.loads(call.arguments), indent=1, sort_keys=True)
            )
            for call in message.calls
        ),
    )


@given(st.lists(turns, min_size=1, max_size=5), st.booleans())
def test_views_keep_the_prefix_when_messages_come_back_unchanged(
    played: list[Turn],
    unique: bool,  # noqa: FBT001 - drawn
) -> None:
    """A model view and its accepted answer begin the next model view, byte for byte."""
    play = Play(unique=unique)
    for turn in played:
        model = play.turn(turn)
        play.follow(turn)
        view = play.ledger.view(play.messages)
        assert_legal(play.messages, view)
        assert applied(play.messages, view)[: len(model)] == model
        assert applied(play.messages, play.ledger.view(play.messages)) == applied(
            play.messages, view
        )


@given(st.lists(turns, min_size=1, max_size=4))
def test_views_keep_the_prefix_when_a_client_prints_messages_again(played: list[Turn]) -> None:
    """Re-printed arguments and trimmed text change no place, only the client's own bytes."""
    play = Play()
    for turn in played:
        model = play.turn(turn)
        play.follow(turn)
        play.messages = [reserialised(message) for message in play.messages]
        view = play.ledger.view(play.messages)
        assert_legal(play.messages, view)
        assert plain(applied(play.messages, view)[: len(model)]) == plain(model)


@given(st.lists(turns, min_size=1, max_size=4))
def test_views_deliver_every_note_that_can_stand(played: list[Turn]) -> None:
    """After a turn all that it told is delivered, with the age of its anchor."""
    play = Play()
    for turn in played:
        play.turn(turn)
        play.follow(turn)
    view = play.ledger.view(play.messages)
    total = sum(message.role == "assistant" for message in play.messages)
    told = {
        delivery: total - age for entry, age in _anchored(play) for delivery in _deliveries(entry)
    }
    assert view.delivered == told
    texts_seen = json.dumps(applied(play.messages, view))
    assert all(
        texts_seen.count(f"{name}\\n") + texts_seen.count(f'{name}"') == 1
        for name in {_text_of(delivery) for delivery in told}
    )


def _anchored(play: Play) -> list[tuple[Splice, int]]:
    found = match(spine(play.messages), play.ledger.stored).by_message
    ages = [
        sum(message.role == "assistant" for message in play.messages[:at]) for at in sorted(found)
    ]
    return [
        (anchored.splice, age)
        for (_, anchored), age in zip(sorted(found.items()), ages, strict=True)
    ]


def _deliveries(splice: Splice) -> list[Delivery]:
    pieces = (*splice.before, *splice.after, *(tool.note for tool in splice.tool_notes))
    return [delivery for piece in pieces for delivery in piece.delivers]


def _text_of(delivery: Delivery) -> str:
    return delivery.rule.replace("rule ", "note ")


@pytest.mark.case(129)
@given(st.lists(turns, min_size=2, max_size=4), st.data())
def test_views_forget_what_a_rewind_took_back(played: list[Turn], data: st.DataObject) -> None:
    """A message that is gone takes its notes with it, and its rules may act again."""
    play = Play()
    lengths = [len(play.messages)]
    for turn in played:
        play.turn(turn)
        play.follow(turn)
        lengths.append(len(play.messages))
    kept = data.draw(st.integers(0, len(played) - 1))
    view = play.ledger.view(play.messages[: lengths[kept]])
    assert_legal(play.messages[: lengths[kept]], view)
    for delivery in view.delivered:
        assert int(delivery.rule.split()[1].split(".")[0]) <= kept
    play.messages = play.messages[: lengths[kept]]
    model = play.turn(played[0])
    play.follow(played[0])
    assert applied(play.messages, play.ledger.view(play.messages))[: len(model)] == model


@given(st.lists(turns, min_size=2, max_size=4), st.data())
def test_views_rearm_what_a_compaction_dropped(played: list[Turn], data: st.DataObject) -> None:
    """What stays behind a summary keeps its notes, what was summarised loses them."""
    play = Play()
    starts = []
    for turn in played:
        starts.append(len(play.messages))
        play.turn(turn)
        play.follow(turn)
    first = data.draw(st.integers(1, len(played) - 1))
    whole = play.ledger.view(play.messages)
    play.messages = [Message("user", "summary"), *play.messages[starts[first] :]]
    view = play.ledger.view(play.messages)
    assert_legal(play.messages, view)
    expected = {
        delivery
        for delivery in whole.delivered
        if int(delivery.rule.split()[1].split(".")[0]) > first
    }
    assert set(view.delivered) == expected


@given(st.lists(turns, min_size=1, max_size=4), st.data())
def test_views_stay_legal_whatever_a_client_did(played: list[Turn], data: st.DataObject) -> None:
    """Dropped, doubled, edited and split messages never make a request that is refused."""
    play = Play(unique=data.draw(st.booleans()))
    for turn in played:
        play.turn(turn)
        play.follow(turn)
    messages = list(play.messages)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(messages) - 1))
        match data.draw(st.sampled_from(["drop", "double", "edit", "cut", "short"])):
            case "drop":
                del messages[at]
            case "double":
                messages.insert(at, messages[at])
            case "edit":
                messages[at] = replace(messages[at], text=data.draw(texts))
            case "cut":
                messages[at] = replace(messages[at], calls=messages[at].calls[:1])
            case _:
                messages = messages[: at + 1]
        if not messages:
            return
    read = spine(messages)
    matches = match(read, play.ledger.stored)
    assert_legal(messages, build(messages, matches, user))
    assert_legal(messages, build(messages, flipped(matches), user))


@given(st.lists(turns, max_size=4))
def test_views_without_splices_change_nothing(played: list[Turn]) -> None:
    """Nothing stored, nothing edited."""
    play = Play()
    for turn in played:
        play.turn(turn)
        play.follow(turn)
    assert build(play.messages, NO_MATCHES, user) == View((), {}, (), ())


@given(st.lists(turns, min_size=1, max_size=2), st.integers(0, 200))
def test_views_place_a_message_that_the_client_left_in_the_middle(
    played: list[Turn], length: int
) -> None:
    """A message cut short carries its splice from forty characters on."""
    play = Play()
    for turn in played[:-1]:
        play.turn(turn)
        play.follow(turn)
    before = list(play.messages)
    pending = Pending.behind(before, user).interrupted("note", [Delivery("r", "h")])
    released = "A sentence of fair length, and unlike all the others here. " * 2
    splice = pending.finish(released, head=True)
    assert splice is not None
    got = Message("assistant", released)
    stored = StoredSplice(99, places(got, spine(before), head=True), encode(splice))
    messages = [*before, Message("assistant", released[:length]), Message("user", "and?")]
    matches = match(spine(messages), [stored])
    long_enough = len(normalised(released[:length])) >= 40
    assert (len(before) in matches.by_message) is long_enough
    assert decode(stored.payload) == splice


def in_chat(message: Message) -> Neutral:
    """Write a client's message as chat completions have it."""
    fields: Neutral = {"role": message.role, "content": message.text}
    if message.calls:
        fields["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    if message.call_id is not None:
        fields["tool_call_id"] = message.call_id
    return fields


def out_of_chat(fields: Neutral) -> Neutral:
    """Read it back; messages of ours are neutral already."""
    if "text" in fields:
        return fields
    read: Neutral = {"role": fields["role"], "text": fields["content"] or ""}
    if "tool_calls" in fields:
        read["calls"] = [
            [call["id"], call["function"]["name"], call["function"]["arguments"]]
            for call in fields["tool_calls"]
        ]
    if "tool_call_id" in fields:
        read["call_id"] = fields["tool_call_id"]
    return read | ({"reasoning": fields["reasoning"]} if "reasoning" in fields else {})


@given(st.lists(turns, min_size=1, max_size=4))
def test_views_are_the_same_through_a_chat_body(played: list[Turn]) -> None:
    """The wire's own reading and splicing give the model view that the edits mean."""
    play = Play()
    for turn in played:
        play.turn(turn)
        play.follow(turn)
        body = json.dumps({"messages": [in_chat(message) for message in play.messages]}).encode()
        request = WIRE_API.read(body)
        assert request.messages == tuple(play.messages)
        view = play.ledger.view(request.messages)
        spliced = json.loads(WIRE_API.spliced(request, view.edits))
        assert [out_of_chat(each) for each in spliced["messages"]] == applied(play.messages, view)
