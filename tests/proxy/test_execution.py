"""What a turn decides, as bytes, splices and rows of the audit."""

from __future__ import annotations

import json

import pytest

from proxy.splice import Placement
from proxy.wire.chat import ChatApi
from rules_engine.decisions import Action
from rules_engine.policy import OnExhausted, ReleaseMode, TurnOptions
from tests.support.attempts import DONE
from tests.support.chat import Thinking, Tool, chat
from tests.support.exchanges import exchange_of, message_of, read, serve
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


# ---- decisions become bytes


def test_interrupt_closes_the_upstream_and_leaves_note_and_partial() -> None:
    """The step says so at once; the splice carries what the next attempt is told."""
    exchange = exchange_of(turn_of(FOO))
    step = read(exchange, chat("All clear. ", "FORBIDDEN", " more"), 0.0)
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


@pytest.mark.parametrize("release", list(ReleaseMode))
def test_upstream_is_cut_off_before_anything_else_is_worked_out(release: ReleaseMode) -> None:
    """Writing down what the next attempt is told does not keep it waiting."""
    order: list[str] = []
    exchange = exchange_of(turn_of(FOO, TurnOptions(release=release)), wire=NotingApi(order))
    exchange.at_interrupt = lambda: order.append("cut off")
    assert read(exchange, chat("All clear. ", "FORBIDDEN", " more")).reissue
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
    read(exchange, chat("FORBIDDEN"), 0.0)
    exchange.reissued(0.0)
    exchange.unplaceable = True
    read(exchange, chat("Fine."), 0.0)
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


# ---- what the client has


def test_client_that_leaves_between_attempts_has_the_first_one_once() -> None:
    """While the next attempt is asked for, the client's message is what was released."""
    exchange = exchange_of(turn_of(FOO))
    read(exchange, chat(Thinking("hm"), "All clear. ", "FORBIDDEN"), 0.0)
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
