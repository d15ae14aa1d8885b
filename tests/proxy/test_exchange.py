"""One turn over bytes: steps, what goes out when, and what becomes of faults, breaks and ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from proxy.conversation import Message
from proxy.exchange import Exchange
from proxy.pending import Pending
from proxy.quirks import PLAIN, Profile
from proxy.sse import EventTooLarge, SseEvent
from proxy.step import Step
from proxy.wire import Decoded, Decoder, Texts, WireApi
from proxy.wire.chat import ChatApi
from rules_engine.decisions import Action
from rules_engine.events import TextDelta, TurnEvent
from rules_engine.policy import OnExhausted, ReleaseMode, TurnOptions
from rules_engine.ruleset import RuleSet
from tests.support.attempts import DONE, USAGE, chunk, request, tool, wire
from tests.support.chat import Thinking, Tool, chat, completion, events
from tests.support.chunks import at_offsets
from tests.support.exchanges import exchange_of, message_of, read, serve
from tests.support.grammar import check_stream
from tests.support.rules import rule_text, ruleset, turn_of

NONE = ruleset()
FOO = ruleset(foo=rule_text("Say no such thing.", condition="FORBIDDEN"))
QUIET = ruleset(foo=rule_text(condition="FORBIDDEN", interruptMode="never"))
ENDING = ruleset(foo=rule_text("Do not end so.", condition="end$"))
ENDLESS = ruleset(foo=rule_text(condition="FORB[^]*IDDEN"))
BAD_CALL = Tool("edit", '{"path":"a.ts","new":"the end"}')


def document_of(*pieces: str | Tool | Thinking) -> bytes:
    return completion(*pieces).body


# ---- text that goes by


def said(*pieces: str) -> bytes:
    return wire(*(chunk({"content": piece}) for piece in pieces))


def flowing(
    rules: RuleSet, release: ReleaseMode = ReleaseMode.SAFE, held: int = 1 << 20
) -> Exchange:
    """An exchange whose text has begun to go out as it comes."""
    exchange = exchange_of(turn_of(rules, TurnOptions(release=release)), held_limit=held)
    for raw in (wire(chunk({"role": "assistant", "content": ""})), said("a "), said("b ")):
        assert read(exchange, raw).send == raw
    return exchange


WATCHED = pytest.mark.parametrize("rules", [NONE, QUIET, FOO], ids=["none", "quiet", "foo"])


@WATCHED
@pytest.mark.parametrize("release", [ReleaseMode.SAFE, ReleaseMode.CUT])
def test_text_that_goes_out_as_it_came_takes_no_step(rules: RuleSet, release: ReleaseMode) -> None:
    """What a read completes is given back, also where it began or goes on in another read."""
    exchange = flowing(rules, release)
    assert exchange.read(said("c "), 0.0) == said("c ")
    assert exchange.read(said("d ", "e ") + said("f ")[:9], 0.0) == said("d ", "e ")
    assert exchange.read(said("f ")[9:], 0.0) == said("f ")
    served = serve(exchange, [said("g ") + chat("h ")])
    assert served.got == said("g ") + chat("h ")
    assert exchange.client_message().text == ("" if rules is NONE else "a b c d e f g h ")


@WATCHED
def test_what_comes_behind_text_in_its_read_is_taken_as_ever(rules: RuleSet) -> None:
    """Counts, why the answer ended, and its end mark."""
    exchange = flowing(rules)
    step = exchange.read(said("c ") + chat("d ", usage=USAGE), 0.0)
    assert isinstance(step, Step)
    assert step.complete
    assert step.send + step.last == said("c ") + chat("d ", usage=USAGE)
    assert exchange.usage == [USAGE]


def test_read_of_text_behind_the_finish_reason_is_told_of() -> None:
    """The runner counts from the last read on how long it waits for the end."""
    exchange = flowing(NONE)
    for raw in (wire(chunk(finish="stop", usage=USAGE)), said("c ")):
        step = exchange.read(raw, 0.0)
        assert isinstance(step, Step)
        assert step.send == raw
    assert exchange.finish_seen


@pytest.mark.parametrize("release", [ReleaseMode.SAFE, ReleaseMode.CUT])
@pytest.mark.parametrize("tail", ["", "c "])
def test_hit_in_text_that_goes_by_stops_it(release: ReleaseMode, tail: str) -> None:
    """The events before it in the same read go out, those behind it were never received."""
    exchange = flowing(FOO, release)
    step = exchange.read(said(*filter(None, [tail]), "FORBIDDEN", " more"), 0.0)
    assert isinstance(step, Step)
    assert step.reissue
    assert step.send == (said(tail) if tail else b"")
    assert exchange.client_message().text == "a b " + tail


def test_text_that_begins_to_wait_waits_up_to_the_limit() -> None:
    """Of a read that brings more than may be held, no more is fed than brings it there."""
    exchange, text = flowing(ENDLESS, held=1000), said("FORB", "x" * 2000, "IDDEN")
    step = read(exchange, text)
    assert step.overheld
    assert not step.seen
    assert step.send + exchange.give_up().send == text


# ---- ends


def test_what_stands_behind_the_end_mark_stays_in_its_order() -> None:
    """Bytes behind the end mark follow it, whether they came with it or later."""
    body = chat("fine") + b": bye\n\ndata: hal"
    exchange = exchange_of(turn_of(FOO))
    step = read(exchange, body, 0.0)
    assert bytes(step.send) + step.last == body
    assert exchange.passes_on
    assert bytes(exchange.pass_rest(b"f").send) == b"f"


def test_nothing_behind_the_end_mark_of_a_later_attempt_goes_out() -> None:
    """Only the first attempt's bytes are the client's as they are."""
    exchange = exchange_of(turn_of(FOO))
    served = serve(exchange, [chat("FORBIDDEN"), chat("fine") + b": bye\n\n"])
    assert served.got.endswith(DONE)
    assert not exchange.passes_on
    assert not exchange.pass_rest(b"x").send


def test_body_that_ends_without_a_mark_is_taken_for_what_it_is() -> None:
    """Behind a finish reason the end is orderly; without one the answer was cut short."""
    whole = chat("fine", done=False)
    orderly = serve(exchange_of(turn_of(FOO)), [whole])
    assert (orderly.got, orderly.broken) == (whole, False)
    short = chat("fine", done=False, finish=None)
    exchange = exchange_of(turn_of(QUIET))
    served = serve(exchange, [short])
    assert served.got == short
    assert served.complete


def test_silence_behind_a_finish_reason_can_be_settled() -> None:
    """An upstream that said why it finished and never ends is taken at its word, once."""
    body = chat("fine", done=False)
    exchange = exchange_of(turn_of(FOO))
    first = read(exchange, body, 0.0)
    open_before = exchange.finish_seen
    assert exchange.holding
    step = exchange.settle(1.0)
    assert step.complete
    assert not step.broken
    assert bytes(first.send) + step.last == body
    assert (open_before, exchange.finish_seen) == (True, False)
    assert exchange.settle(2.0) == Step()


def test_unterminated_tail_is_read_and_passed() -> None:
    """A last event without its blank line counts like any other."""
    body = chat("fine").removesuffix(b"\n\n")
    assert serve(exchange_of(turn_of(FOO)), [body]).got == body
    cut = exchange_of(turn_of(FOO))
    read(cut, wire(chunk({"role": "assistant", "content": "a "}))[:-2], 0.0)
    assert cut.end(0.0, broken=True).broken


def test_break_is_passed_on_without_what_violates() -> None:
    """Text inside a match that the end decides stays here, and there is no other attempt."""
    exchange = exchange_of(turn_of(ENDING))
    served = serve(exchange, [chat("the ", "end", done=False, finish=None)], breaks=True)
    assert served.broken
    assert message_of(served.got).text == "the "
    assert exchange.client_message().text == "the "
    assert exchange.splice() is None
    assert [seen.outcome for seen in served.seen] == ["the answer broke off"]


def test_break_in_a_call_lets_only_finished_calls_go() -> None:
    """Half a call would be run with half its arguments."""
    half = [
        chunk({"role": "assistant", "content": "a"}),
        chunk(tool(0, '{"path":"a","new":"b"}', id="c0", name="edit")),
        chunk(tool(1, '{"path":"a","n', id="c1", name="edit")),
    ]
    served = serve(exchange_of(turn_of(FOO)), [wire(*half)], breaks=True)
    assert [call.id for call in message_of(served.got).calls] == ["c0"]


def test_time_alone_lets_go_of_held_prose() -> None:
    """Past the turn's budget a stalled later attempt keeps nothing back."""
    exchange = exchange_of(turn_of(FOO, TurnOptions(turn_budget=10)))
    read(exchange, chat("FORBIDDEN"), 0.0)
    exchange.reissued(0.0)
    assert not read(exchange, wire(chunk({"content": "FORB"})), 1.0).send
    assert not exchange.tick(5.0).send
    assert b"FORB" in exchange.tick(20.0).send


def test_usage_is_kept_by_attempt() -> None:
    """Each attempt's counts are known, those of cut ones included where they were read."""
    exchange = exchange_of(turn_of(FOO))
    serve(exchange, [chat("FORBIDDEN"), chat("fine", usage=USAGE)])
    assert exchange.usage == [None, USAGE]


def test_error_report_in_the_stream_is_a_failure() -> None:
    """What the upstream reports is passed on, and the answer counts as failed."""
    body = wire(chunk({"role": "assistant", "content": "a"}), {"error": {"message": "no"}}, DONE)
    served = serve(exchange_of(turn_of(QUIET)), [body])
    assert served.failed
    assert served.got == body


# ---- rules off


def test_idle_turn_passes_bytes_as_they_come() -> None:
    """Where nothing is watched each read goes out at once, up to the end."""
    exchange = exchange_of(turn_of(ruleset()))
    body = chat("anything", usage=USAGE)
    step = read(exchange, body, 0.0)
    assert bytes(step.send) + step.last == body
    assert step.complete
    assert exchange.usage == [USAGE]
    assert exchange.splice() is None


def test_giving_up_lets_everything_go() -> None:
    """Held events go out, later ones pass, and the end is still known."""
    exchange = exchange_of(turn_of(FOO, TurnOptions(release=ReleaseMode.WHOLE)))
    body = chat("a FORB", "IDDEN")
    first = read(exchange, body[:300], 0.0)
    assert not first.send
    assert exchange.holding
    out = bytes(exchange.give_up().send)
    assert not exchange.holding
    assert not exchange.give_up().send
    step = read(exchange, body[300:], 0.0)
    assert out + bytes(step.send) + step.last == body
    assert step.complete


def test_giving_up_in_a_later_attempt_keeps_the_stream_legal() -> None:
    """The rest of a later attempt is still written as a continuation."""
    exchange = exchange_of(turn_of(FOO))
    got = bytes(read(exchange, chat("Well. ", "FORBIDDEN"), 0.0).send)
    exchange.reissued(0.0)
    later = chat("a FORB", Tool("edit", "{}"))
    got += read(exchange, later[:400], 0.0).send
    got += exchange.give_up().send
    step = read(exchange, later[400:], 0.0)
    got += bytes(step.send) + step.last
    assert check_stream(got, include_usage=False) == []
    assert message_of(got).text == "Well. \n\na FORB"
    assert exchange.client_message().text == message_of(got).text


def test_event_over_the_limit_is_the_readers_to_report() -> None:
    """What no event carries is handed over, passed with what is held, and the end still comes."""
    body = wire(chunk({"role": "assistant", "content": "FORB"}), chunk({"content": "x" * 999}))
    exchange = exchange_of(turn_of(FOO), limit=400)
    first = read(exchange, body, 0.0)
    with pytest.raises(EventTooLarge) as caught:
        read(exchange, DONE, 0.0)
    rest = exchange.pass_rest(caught.value.rest)
    assert bytes(first.send) + bytes(rest.send) == body + DONE
    assert exchange.end(0.0, broken=False).complete


# ---- faults of ours


class Faulty:
    """A decoder with a fault: it fails at any text that holds `BOOM`."""

    def __init__(self, inner: Decoder, *, late: bool) -> None:
        self._inner = inner
        self._late = late

    def decode(self, event: SseEvent) -> Decoded:
        if "BOOM" in (event.data or "") and not self._late:
            raise RuntimeError("a fault")
        decoded = self._inner.decode(event)
        if "BOOM" in (event.data or ""):
            # A call that nobody opened makes the turn machine fail, behind the decoder.
            return Decoded((*decoded.events, *_IMPOSSIBLE))
        return decoded

    def texts(self, parts: Sequence[bytes]) -> Texts | None:
        if any(b"BOOM" in part for part in parts):
            if self._late:
                return None
            raise RuntimeError("a fault")
        return self._inner.texts(parts)

    def document(self, body: bytes) -> Decoded:
        if b"BOOM" in body:
            raise RuntimeError("a fault")
        return self._inner.document(body)

    def close(self, *, broken: bool) -> tuple[TurnEvent, ...]:
        return self._inner.close(broken=broken)

    def message(self, choice: int) -> Any:
        return self._inner.message(choice)


_IMPOSSIBLE: tuple[TurnEvent, ...] = (
    TextDelta(0, None),  # type: ignore[arg-type]
)


@dataclass(frozen=True)
class FaultyApi(ChatApi):
    """The chat API with a fault in its decoder, or one that only the turn machine finds."""

    late: bool = False

    def decoder(self, profile: Profile) -> Decoder:
        return Faulty(super().decoder(profile), late=self.late)


def faulty(rules: RuleSet, *, late: bool = False, release: str = "safe") -> Exchange:
    api: WireApi = FaultyApi(late)
    pending = Pending.behind([Message("user", "Do it.", "", ())], api.user)
    turn = turn_of(rules, TurnOptions(release=ReleaseMode(release)))
    return Exchange(api, request(), turn, PLAIN, pending, limit=1 << 20, held_limit=1 << 20)


@pytest.mark.parametrize("waiting", [False, True])
def test_fault_in_a_read_of_text_lets_every_byte_go(
    waiting: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The turn machine fails at a read that is nothing but text; what waited goes first."""
    exchange = faulty(FOO, release="whole" if waiting else "safe")
    before = wire(chunk({"role": "assistant", "content": "a "}), chunk({"content": "b "}))
    text = wire(chunk({"content": "c "}), chunk({"content": "d "}))
    got = bytes(read(exchange, before, 0.0).send)

    def fail(*_: Any) -> tuple[Any, ...]:
        raise RuntimeError("a fault")

    monkeypatch.setattr(exchange.turn, "pass_text", fail)
    step = read(exchange, text, 0.0)
    got += step.send
    assert step.fault.startswith("RuntimeError in fail")
    step = read(exchange, DONE, 0.0)
    got += step.send + step.last
    assert got == before + text + DONE
    assert step.complete


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("release", ["safe", "whole"])
@pytest.mark.parametrize("done", [True, False])
def test_fault_lets_every_byte_go(late: bool, release: str, done: bool) -> None:  # noqa: FBT001
    """Rules go off; what was held, the event itself and what follows pass in their order."""
    body = chat("a FORB", "BOOM", "IDDEN FORBIDDEN", done=done)
    for size in (len(body), 7):
        reads = partial(at_offsets, offsets=range(size, len(body), size))
        served = serve(faulty(FOO, late=late, release=release), [body], reads)
        assert served.got == body
        assert served.complete
        assert len(served.faults) == 1
        assert served.faults[0].startswith(
            ("RuntimeError in texts", "RuntimeError in decode", "TypeError in ")
        )


@pytest.mark.parametrize("release", ["safe", "cut", "whole"])
def test_fault_in_text_that_flows_lets_every_byte_go(release: str) -> None:
    """Behind text that went the short way, event by event, and several in one read."""
    sent = events("All ", "is ", "well. ", "BOOM", " more", " and more")
    for reads in (sent, [*sent[:3], b"".join(sent[3:])]):
        served = serve(faulty(FOO, release=release), [b"".join(sent)], lambda _, reads=reads: reads)
        assert served.got == b"".join(sent)
        assert served.complete
        assert len(served.faults) == 1


@pytest.mark.parametrize("late", [False, True])
def test_fault_at_the_last_event_still_ends_the_turn(late: bool) -> None:  # noqa: FBT001
    """A fault in what the body's end left unread is no different."""
    body = chat("fine ", "BOOM", done=False, finish=None).removesuffix(b"\n\n")
    served = serve(faulty(FOO, late=late), [body])
    assert served.got == body
    assert served.complete


def test_fault_in_a_later_attempt_keeps_what_was_read() -> None:
    """What a later attempt held goes out rewritten, once."""
    exchange = faulty(FOO, late=True)
    later = chat("Better: FORB", "BOOM", "fine")
    served = serve(exchange, [chat("Well. ", "FORBIDDEN"), later])
    assert message_of(served.got).text == "Well. \n\nBetter: FORBBOOMfine"
    assert check_stream(served.got, include_usage=False) == []


def test_fault_in_a_document_passes_it() -> None:
    """A whole answer goes out as it came."""
    body = document_of("BOOM FORBIDDEN")
    step = faulty(FOO).document(body, 0.0)
    assert (step.complete, step.last) == (True, body)
    assert step.fault.startswith("RuntimeError")


# ---- whole answers


def test_document_on_which_no_rule_acts_is_passed_byte_for_byte() -> None:
    """White space and all."""
    body = b"\n  " + document_of("a FORBIDDEN b", BAD_CALL)
    step = exchange_of(turn_of(QUIET)).document(body, 0.0)
    assert (step.complete, step.last) == (True, body)
    assert [seen.action for seen in step.seen] == [Action.PROSE_REMINDER]


def test_document_is_interrupted_and_the_next_one_is_the_answer() -> None:
    """Nothing was shown, so the answer is the later document alone."""
    exchange = exchange_of(turn_of(FOO))
    step = exchange.document(document_of("All clear. FORBIDDEN and more"), 0.0)
    assert step.reissue
    assert step.close_upstream
    assert not step.send
    assert not step.last
    exchange.reissued(0.0)
    body = document_of("Better.")
    step = exchange.document(body, 0.0)
    assert (step.complete, step.last) == (True, body)
    splice = exchange.splice()
    assert splice is not None
    assert splice.strip == ""
    assert exchange.client_message().text == "Better."
    kept = json.loads(splice.before[0].rendered)
    assert kept["content"] == "All clear. FORBIDDEN"


def test_document_with_a_violating_call_is_refused() -> None:
    """A finished call in a document is cut or refused like one that streamed."""
    exchange = exchange_of(turn_of(ENDING))
    step = exchange.document(document_of("I edit.", BAD_CALL), 0.0)
    assert step.reissue
    assert [seen.action for seen in step.seen] == [Action.REFUSE]


def test_document_is_withheld_when_attempts_are_used_up() -> None:
    """The client gets a document of ours, or an error body, in place of the calls."""
    refuse = exchange_of(turn_of(ENDING, TurnOptions(max_attempts=1)))
    step = refuse.document(document_of("I edit.", BAD_CALL), 0.0)
    message = json.loads(step.last)["choices"][0]["message"]
    assert "foo" in message["content"]
    assert "tool_calls" not in message
    assert refuse.client_message().text == message["content"]
    options = TurnOptions(max_attempts=1, on_exhausted=OnExhausted.ERROR)
    failing = exchange_of(turn_of(ENDING, options))
    step = failing.document(document_of("I edit.", BAD_CALL), 0.0)
    assert step.failed
    assert json.loads(step.last)["error"]["code"] == "rule_exhausted"


def test_error_document_is_passed_as_a_failure() -> None:
    """An answer that is an error report is no answer to watch."""
    body = b'{"error":{"message":"no"}}'
    step = exchange_of(turn_of(FOO)).document(body, 0.0)
    assert (step.complete, step.failed, step.last) == (True, True, body)
