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
from proxy.splice import Placement
from proxy.sse import EventTooLarge, SseEvent
from proxy.step import Step
from proxy.wire import Decoded, Decoder, Texts, WireApi
from proxy.wire.chat import ChatApi
from rules_engine.decisions import Action
from rules_engine.events import TextDelta, TurnEvent
from rules_engine.policy import OnExhausted, ReleaseMode, TurnOptions
from rules_engine.ruleset import RuleSet
from tests.support.attempts import DONE, USAGE, chunk, request, tool, wire
from tests.support.chat import Thinking, Tool, chat, completion
from tests.support.chunks import at_offsets
from tests.support.exchanges import exchange_of, message_of, serve
from tests.support.grammar import check_stream
from tests.support.rules import rule_text, ruleset, turn_of

FOO = ruleset(foo=rule_text("Say no such thing.", condition="FORBIDDEN"))
QUIET = ruleset(foo=rule_text(condition="FORBIDDEN", interruptMode="never"))
ENDING = ruleset(foo=rule_text("Do not end so.", condition="end$"))
BAD_CALL = Tool("edit", '{"path":"a.ts","new":"the end"}')


class NotingApi(ChatApi):
    """The chat API; notes in `order` when what an interrupt keeps is written."""

    def __init__(self, order: list[str]) -> None:
        self._order = order

    def partial(self, text: str) -> bytes:
        self._order.append("written")
        return super().partial(text)


def document_of(*pieces: str | Tool | Thinking) -> bytes:
    return completion(*pieces).body


# ---- decisions become bytes


def test_interrupt_closes_the_upstream_and_leaves_note_and_partial() -> None:
    """The step says so at once; the splice carries what the next attempt is told."""
    exchange = exchange_of(turn_of(FOO))
    step = exchange.read(chat("All clear. ", "FORBIDDEN", " more"), 0.0)
    assert step.close_upstream
    assert step.reissue
    assert not step.complete
    assert message_of(bytes(step.send)).text == "All clear. "
    kept, note = exchange.pending.before
    assert json.loads(kept.rendered) == {"role": "assistant", "content": "All clear. FORBIDDEN"}
    assert "Say no such thing." in json.loads(note.rendered)["content"]
    assert [(seen.action, seen.attempt) for seen in step.seen] == [(Action.INTERRUPT, 1)]
    assert exchange.withheld_characters == len("FORBIDDEN")
    assert not exchange.holding


@pytest.mark.parametrize("release", ["safe", "cut", "whole"])
def test_upstream_is_cut_off_before_anything_else_is_worked_out(release: str) -> None:
    """Writing down what the next attempt is told does not keep it waiting."""
    order: list[str] = []
    wire = NotingApi(order)
    turn = turn_of(FOO, TurnOptions(release=ReleaseMode(release)))
    exchange = exchange_of(turn, wire=wire)
    exchange.at_interrupt = lambda: order.append("cut off")
    assert exchange.read(chat("All clear. ", "FORBIDDEN", " more"), 0.0).reissue
    assert order == ["cut off", "written"]


def test_second_attempt_continues_the_first() -> None:
    """The client reads one answer: what was released, a seam, the next attempt."""
    exchange = exchange_of(turn_of(FOO))
    served = serve(exchange, [chat("All clear. ", "FORBIDDEN"), chat("Better.")])
    assert check_stream(served.got, include_usage=False) == []
    assert message_of(served.got).text == "All clear. \n\nBetter."
    splice = exchange.splice()
    assert splice is not None
    assert splice.strip == "All clear. \n\n"


def test_reissue_that_no_upstream_took_leaves_no_splice() -> None:
    """Where the model was never told, nothing may claim that it was."""
    exchange = exchange_of(turn_of(FOO))
    exchange.read(chat("FORBIDDEN"), 0.0)
    exchange.reissued(0.0)
    exchange.unplaceable = True
    exchange.read(chat("Fine."), 0.0)
    assert exchange.splice() is None


def test_refused_call_comes_back_with_each_call_answered() -> None:
    """The finished message stays here; the others of its calls are said not to have run."""
    exchange = exchange_of(turn_of(ENDING))
    other = Tool("edit", '{"path":"b.ts","new":"fine"}', id="call_b2", index=1)
    served = serve(exchange, [chat("I edit.", BAD_CALL, other), chat("Done.")])
    assert message_of(served.got).text == "I edit.\n\nDone."
    message, first, second = (json.loads(kept.rendered) for kept in exchange.pending.before)
    assert [call["id"] for call in message["tool_calls"]] == ["call_a1", "call_b2"]
    assert "Do not end so." in first["content"]
    assert "Do not end so." not in second["content"]
    assert [seen.action for seen in served.seen] == [Action.REFUSE]


def test_refusal_tells_what_else_was_found_with_the_first_refused_call() -> None:
    """Hits that refuse nothing are told beside the refusal, and count as delivered."""
    rules = ruleset(
        foo=rule_text("Do not end so.", condition="end$", scope="tool"),
        quiet=rule_text("Speak softly.", condition="LOUD", interruptMode="never"),
    )
    exchange = exchange_of(turn_of(rules))
    served = serve(exchange, [chat("LOUD", BAD_CALL), chat("Done.")])
    assert "Speak softly." in json.loads(exchange.pending.before[1].rendered)["content"]
    assert [seen.action for seen in served.seen] == [Action.REFUSE, Action.PROSE_REMINDER]
    assert [d.rule for kept in exchange.pending.before for d in kept.delivers] == ["quiet"]


@pytest.mark.parametrize("placement", [Placement.INTO_TOOL, Placement.OWN])
def test_quiet_hit_in_a_call_leaves_a_note_at_its_result(placement: Placement) -> None:
    """A rule is told of once, at the first call that it matched."""
    call = Tool("edit", '{"path":"a.ts","new":"FORBIDDEN"}')
    again = Tool("edit", '{"path":"b.ts","new":"FORBIDDEN"}', id="call_b2", index=1)
    exchange = exchange_of(turn_of(QUIET), reminders=placement)
    body = chat(call, again)
    served = serve(exchange, [body])
    assert served.got == body
    splice = exchange.splice()
    assert splice is not None
    assert [(note.position, note.name, note.note.placement) for note in splice.tool_notes] == [
        (0, "edit", placement)
    ]
    assert [seen.action for seen in served.seen] == [Action.TOOL_REMINDER]


def test_quiet_prose_hit_leaves_a_note_behind_the_message() -> None:
    """Nothing changes in the answer; the next request carries the reminder."""
    exchange = exchange_of(turn_of(QUIET))
    body = chat("a FORBIDDEN b")
    assert serve(exchange, [body]).got == body
    splice = exchange.splice()
    assert splice is not None
    assert len(splice.after) == 1


def test_observed_hits_are_only_seen() -> None:
    """A side request's answer passes as it is and leaves nothing."""
    exchange = exchange_of(turn_of(FOO, observe=True))
    body = chat("a FORBIDDEN b")
    served = serve(exchange, [body])
    assert served.got == body
    assert [seen.action for seen in served.seen] == [Action.OBSERVED]
    assert exchange.splice() is None


def test_rule_over_its_time_is_seen_as_set_aside() -> None:
    """The audit learns of a quarantine."""
    rules = ruleset(slow=rule_text(condition="(?:a|aa)+[xy]"))
    served = serve(exchange_of(turn_of(rules)), [chat("a" * 3000)])
    assert [seen.action for seen in served.seen] == [Action.QUARANTINED]


# ---- exhaustion


@pytest.mark.parametrize("before", ["", "Now I edit."])
def test_withheld_call_ends_in_a_message_of_ours(before: str) -> None:
    """After the last attempt the client is told, in a well-formed answer, what was withheld."""
    exchange = exchange_of(turn_of(ENDING, TurnOptions(max_attempts=1)))
    served = serve(exchange, [chat(*filter(None, [before]), BAD_CALL)])
    assert check_stream(served.got, include_usage=False) == []
    message = message_of(served.got)
    assert message.text == exchange.client_message().text
    assert message.text.startswith(before)
    assert "foo" in message.text
    assert not message.calls
    assert [seen.action for seen in served.seen] == [Action.EXHAUSTED]


def test_prose_in_front_of_a_withheld_call_is_not_lost() -> None:
    """What was only held for what might have followed is clean once the end has come."""
    rules = ruleset(foo=rule_text(condition=["end$", "secret"]))
    exchange = exchange_of(turn_of(rules, TurnOptions(max_attempts=1)))
    served = serve(exchange, [chat("I edit a sec", BAD_CALL)])
    message = message_of(served.got)
    assert message.text.startswith("I edit a sec\n\n")
    assert message.text == exchange.client_message().text


def test_withheld_call_can_be_an_error() -> None:
    """`onExhausted: error` gives an error event and no end mark."""
    options = TurnOptions(max_attempts=1, on_exhausted=OnExhausted.ERROR)
    exchange = exchange_of(turn_of(ENDING, options))
    served = serve(exchange, [chat("Now.", BAD_CALL)])
    assert served.failed
    assert b'"code":"rule_exhausted"' in served.got
    assert DONE not in served.got
    assert exchange.client_message().text == "Now."


# ---- ends


def test_what_stands_behind_the_end_mark_stays_in_its_order() -> None:
    """Bytes behind the end mark follow it, whether they came with it or later."""
    body = chat("fine") + b": bye\n\ndata: hal"
    exchange = exchange_of(turn_of(FOO))
    step = exchange.read(body, 0.0)
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
    first = exchange.read(body, 0.0)
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
    cut.read(wire(chunk({"role": "assistant", "content": "a "}))[:-2], 0.0)
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
    exchange.read(chat("FORBIDDEN"), 0.0)
    exchange.reissued(0.0)
    assert not exchange.read(wire(chunk({"content": "FORB"})), 1.0).send
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
    step = exchange.read(body, 0.0)
    assert bytes(step.send) + step.last == body
    assert step.complete
    assert exchange.usage == [USAGE]
    assert exchange.splice() is None


def test_giving_up_lets_everything_go() -> None:
    """Held events go out, later ones pass, and the end is still known."""
    exchange = exchange_of(turn_of(FOO, TurnOptions(release=ReleaseMode.WHOLE)))
    body = chat("a FORB", "IDDEN")
    first = exchange.read(body[:300], 0.0)
    assert not first.send
    assert exchange.holding
    out = bytes(exchange.give_up().send)
    assert not exchange.holding
    assert not exchange.give_up().send
    step = exchange.read(body[300:], 0.0)
    assert out + bytes(step.send) + step.last == body
    assert step.complete


def test_giving_up_in_a_later_attempt_keeps_the_stream_legal() -> None:
    """The rest of a later attempt is still written as a continuation."""
    exchange = exchange_of(turn_of(FOO))
    got = bytes(exchange.read(chat("Well. ", "FORBIDDEN"), 0.0).send)
    exchange.reissued(0.0)
    later = chat("a FORB", Tool("edit", "{}"))
    got += exchange.read(later[:400], 0.0).send
    got += exchange.give_up().send
    step = exchange.read(later[400:], 0.0)
    got += bytes(step.send) + step.last
    assert check_stream(got, include_usage=False) == []
    assert message_of(got).text == "Well. \n\na FORB"
    assert exchange.client_message().text == message_of(got).text


def test_event_over_the_limit_is_the_readers_to_report() -> None:
    """What no event carries is handed over, passed with what is held, and the end still comes."""
    body = wire(chunk({"role": "assistant", "content": "FORB"}), chunk({"content": "x" * 999}))
    exchange = exchange_of(turn_of(FOO), limit=400)
    first = exchange.read(body, 0.0)
    with pytest.raises(EventTooLarge) as caught:
        exchange.read(DONE, 0.0)
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
    got = bytes(exchange.read(before, 0.0).send)

    def fail(*_: Any) -> tuple[Any, ...]:
        raise RuntimeError("a fault")

    monkeypatch.setattr(exchange.turn, "feed_text", fail)
    step = exchange.read(text, 0.0)
    got += step.send
    assert step.fault.startswith("RuntimeError in fail")
    step = exchange.read(DONE, 0.0)
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


# ---- what the client has


def test_client_that_leaves_between_attempts_has_the_first_one_once() -> None:
    """While the next attempt is asked for, the client's message is what was released."""
    exchange = exchange_of(turn_of(FOO))
    exchange.read(chat(Thinking("hm"), "All clear. ", "FORBIDDEN"), 0.0)
    message = exchange.client_message()
    assert (message.text, message.reasoning) == ("All clear. ", "hm")
    splice = exchange.splice(left=True)
    assert splice is not None
    assert splice.head
    assert splice.released == "All clear. "


def test_reasoning_behind_released_text_is_kept_for_the_upstream() -> None:
    """A later attempt's reasoning is not shown once text was, but goes back where it was said."""
    exchange = exchange_of(turn_of(FOO))
    served = serve(exchange, [chat("Well. ", "FORBIDDEN"), chat(Thinking("hidden"), "fine")])
    assert message_of(served.got).reasoning == ""
    assert exchange.client_message().reasoning == ""
    splice = exchange.splice()
    assert splice is not None
    assert json.loads(splice.restore) == {"reasoning_content": "hidden"}


def test_reasoning_in_front_of_all_text_is_the_clients() -> None:
    """As long as no text went out every attempt's reasoning is shown, and taken off again."""
    exchange = exchange_of(turn_of(FOO))
    served = serve(exchange, [chat(Thinking("one "), "FORBIDDEN"), chat(Thinking("two"), "fine")])
    assert message_of(served.got).reasoning == "one two"
    assert exchange.client_message().reasoning == "one two"
    splice = exchange.splice()
    assert splice is not None
    assert splice.strip_reasoning == "one "
