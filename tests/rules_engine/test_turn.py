from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rules_engine.decisions import Complete, Interrupt, Observe, Refuse, Release, Withhold
from rules_engine.events import (
    FinishReason,
    OpenCharacter,
    TextDelta,
    ThinkingDelta,
    ToolArguments,
    ToolNamed,
    ToolOpened,
    TurnEvent,
)
from rules_engine.policy import OnExhausted, ReleaseMode, ToolRefusal, TurnOptions
from rules_engine.ruleset import RuleSetOptions
from rules_engine.scope import Surface
from rules_engine.turn import Answer
from tests.support.playbook import broken, call, done, play, text, thinking
from tests.support.rules import rule_text, ruleset, turn_of

FOO = rule_text(condition="FORBIDDEN")
QUIET = rule_text(condition="FORBIDDEN", interruptMode="never")
TOOL = rule_text(condition="FORBIDDEN", scope="tool")
PROSE = rule_text(condition="FORBIDDEN", interruptMode="prose-only")


# ---- prose


@pytest.mark.case(106)
def test_text_hit_interrupts_and_asks_for_another_attempt() -> None:
    """Mode always and a text match: the stream stops, nothing of the match was released."""
    turn = turn_of(ruleset(foo=FOO))
    heard = play(turn, text("All clear. ", "FORB", "IDDEN", " more") + done())
    (interrupt,) = heard.of(Interrupt)
    assert [hit.rule.name for hit in interrupt.hits] == ["foo"]
    assert heard.released == [0]
    assert interrupt.partial == "All clear. FORBIDDEN"
    assert interrupt.seam == "\n\n"
    assert turn.released == "All clear. "


@pytest.mark.case(87)
def test_word_split_over_deltas_matches() -> None:
    """The windows hold joined text, whatever the deltas were."""
    heard = play(turn_of(ruleset(foo=FOO)), text(*"xFORBIDDENx"))
    (interrupt,) = heard.of(Interrupt)
    assert (interrupt.hits[0].start, interrupt.hits[0].end) == (1, 10)


@pytest.mark.case(89)
def test_halves_in_two_messages_do_not_match() -> None:
    """A turn begins with empty windows: the end of the last message is not in them."""
    rules = ruleset(foo=FOO)
    assert play(turn_of(rules), text("FORB") + done()).of(Complete)
    assert play(turn_of(rules), text("IDDEN") + done()).of(Complete)


@pytest.mark.case(90)
def test_next_attempt_forgets_the_text_of_the_first() -> None:
    """Text that was cut off is not part of the next attempt's window."""
    turn = turn_of(ruleset(foo=rule_text(condition=["FORBIDDEN", "one two"])))
    play(turn, text("one ", "FORBIDDEN"))
    turn.reissued(0.0)
    assert play(turn, text("two") + done()).of(Complete)


def test_no_violation_is_built_across_the_seam() -> None:
    """The next attempt's window begins with what the client saw, so a match over both counts."""
    turn = turn_of(ruleset(foo=rule_text(condition=["FORBIDDEN", r"clear\.\s+Second"])))
    first = play(turn, text("All clear. ", "x" * 20, "FORBIDDEN"))
    assert first.of(Interrupt)
    assert turn.released.startswith("All clear. ")
    turn = turn_of(
        ruleset(foo=rule_text(condition=["FORBIDDEN", r"clear\.\s+Second"])),
        TurnOptions(release=ReleaseMode.CUT),
    )
    play(turn, text("All clear. ", "FORBIDDEN"))
    assert turn.released == "All clear. "
    turn.reissued(0.0)
    (interrupt,) = play(turn, text("Second") + done()).of(Interrupt)
    assert interrupt.partial == "Second"


@pytest.mark.case(93)
def test_line_rule_matches_on_the_delta_that_completes_it() -> None:
    """A line-bounded pattern needs no end of line once it is certain."""
    heard = play(
        turn_of(ruleset(foo=rule_text(condition=r"let \w+: any;"))),
        text("let x", ": any", ";", "\n"),
    )
    assert heard.of(Interrupt)[0].hits[0].decided == len("let x: any;")


@pytest.mark.case(94)
def test_hit_that_a_later_delta_falsifies_is_none() -> None:
    """A negative lookahead is only decided by the character that follows."""
    rules = ruleset(foo=rule_text(condition=r"TODO(?!\()"))
    assert play(turn_of(rules), text("TODO", "(me)") + done()).of(Complete)
    (interrupt,) = play(turn_of(rules), text("TODO", " x") + done()).of(Interrupt)
    assert interrupt.hits[0].decided == len("TODO ")
    (at_end,) = play(turn_of(rules), text("TODO") + done()).of(Interrupt)
    assert at_end.hits[0].decided == len("TODO")


@pytest.mark.case(92)
def test_end_of_the_text_finds_what_no_delta_decided() -> None:
    """A pattern that only the end decides is found there, over any length."""
    filler = "line\n" * 20_000
    rules = ruleset(foo=rule_text(condition=r"begin[\s\S]*end$", interruptMode="never"))
    heard = play(turn_of(rules), text("begin", *[filler] * 10, "end") + done())
    (complete,) = heard.of(Complete)
    assert [hit.rule.name for hit in complete.reminders] == ["foo"]


@pytest.mark.case(99)
def test_same_text_twice_gives_the_same_answer() -> None:
    """No search leaves state behind in a compiled rule."""
    rules = ruleset(foo=QUIET)
    answers = [play(turn_of(rules), text("a FORBIDDEN b") + done()).of(Complete) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][0].reminders


@pytest.mark.case(108)
def test_quiet_rule_before_the_cut_joins_the_batch() -> None:
    """One interrupt carries every hit decided at or before its cut, quiet rules included."""
    rules = ruleset(
        loud=rule_text(condition="foobar"), quiet=rule_text(condition="foo", interruptMode="never")
    )
    (interrupt,) = play(turn_of(rules), text("a foobar")).of(Interrupt)
    assert [hit.rule.name for hit in interrupt.hits] == ["quiet", "loud"]


def test_what_comes_behind_the_cut_was_never_received() -> None:
    """A second violation in the same delta is no part of the batch, nor of the partial."""
    rules = ruleset(one=rule_text(condition="one"), two=rule_text(condition="two"))
    (interrupt,) = play(turn_of(rules), text("one two")).of(Interrupt)
    assert [hit.rule.name for hit in interrupt.hits] == ["one"]
    assert interrupt.partial == "one"


@pytest.mark.case(109)
def test_prose_only_does_not_interrupt_on_a_tool_match() -> None:
    """The mode decides by surface: elsewhere the hit leaves a reminder."""
    wires = call(0, "edit", {"path": "a.ts", "new": "FORBIDDEN"}) + done(0)
    heard = play(turn_of(ruleset(foo=PROSE)), wires)
    assert not heard.of(Interrupt)
    assert [hit.surface for hit in heard.of(Complete)[0].reminders] == [Surface.TOOL]


@pytest.mark.case(113)
def test_spent_rule_lets_prose_pass_untouched() -> None:
    """Under once, a rule whose note stands in the conversation is not watched on prose."""
    turn = turn_of(ruleset(foo=PROSE), delivered={"foo": 3})
    heard = play(turn, text("a FORBIDDEN b") + done())
    assert heard.of(Complete)[0].reminders == ()
    assert heard.released[-1] == 2


@pytest.mark.case(116)
def test_second_rule_interrupts_after_the_first() -> None:
    """A rule that is hit in the next attempt interrupts again; nothing is lost."""
    turn = turn_of(ruleset(one=rule_text(condition="one"), two=rule_text(condition="two")))
    assert play(turn, text("one")).of(Interrupt)
    turn.reissued(0.0)
    (interrupt,) = play(turn, text("two")).of(Interrupt)
    assert [hit.rule.name for hit in interrupt.hits] == ["two"]


@pytest.mark.case(115)
def test_rule_hits_once_in_one_window() -> None:
    """Further matches of a rule in the same text are no further hits."""
    heard = play(turn_of(ruleset(foo=QUIET)), text("FORBIDDEN ", "FORBIDDEN ") + done())
    assert len(heard.of(Complete)[0].reminders) == 1


@pytest.mark.case(125)
def test_quiet_prose_hit_becomes_a_reminder_without_a_stop() -> None:
    """Everything is released and the hit is handed over for the client's next request."""
    heard = play(turn_of(ruleset(foo=QUIET)), text("a FORBIDDEN", " b") + done())
    assert not heard.of(Interrupt)
    assert heard.released == [0, 1, 2, 3]
    assert heard.of(Complete)[0].reminders[0].surface is Surface.TEXT


def test_thinking_needs_an_explicit_scope() -> None:
    """Reasoning is watched only by rules that ask for it, and then interrupts like text."""
    assert play(turn_of(ruleset(foo=FOO)), thinking("FORBIDDEN") + done()).of(Complete)
    rules = ruleset(foo=rule_text(condition="FORBIDDEN", scope="thinking"))
    (interrupt,) = play(turn_of(rules), thinking("a FORBI", "DDEN")).of(Interrupt)
    assert interrupt.hits[0].surface is Surface.THINKING
    assert interrupt.partial == ""


# ---- hold


def test_safe_holds_only_what_could_still_match() -> None:
    """Text that no continuation can turn into a match goes out at once."""
    heard = play(turn_of(ruleset(foo=FOO)), text("hello ", "FORB", " no", "thing"))
    assert heard.released == [0, 1, 2, 3]
    heard = play(turn_of(ruleset(foo=FOO)), text("hello ", "xFORB"))
    assert heard.released == [0]


def test_release_whole_holds_everything_until_the_turn_is_clean() -> None:
    """Under `whole` the client sees nothing of an attempt before its end."""
    turn = turn_of(ruleset(foo=FOO), TurnOptions(release=ReleaseMode.WHOLE))
    wires = text("a", "b") + done()
    assert turn.plan().whole
    assert play(turn, wires[:3]).released == []
    turn = turn_of(ruleset(foo=FOO), TurnOptions(release=ReleaseMode.WHOLE))
    assert play(turn, wires).released == [0, 1, 2, 3]


def test_release_cut_holds_only_complete_undecided_matches() -> None:
    """Under `cut` a beginning is released; a complete match that may yet be undone is not."""
    options = TurnOptions(release=ReleaseMode.CUT)
    rules = ruleset(foo=rule_text(condition=r"TODO(?!\()"))
    assert play(turn_of(rules, options), text("a ", "TO")).released == [0, 1]
    assert play(turn_of(rules, options), text("a ", "TODO")).released == [0]


def test_hold_limit_releases_the_oldest_and_marks_the_hit_as_leaked() -> None:
    """Beyond the limit text goes out; a later hit says so and still interrupts."""
    options = TurnOptions(hold_limit=10)
    rules = ruleset(foo=rule_text(condition=r"begin[^!]*!"))
    heard = play(turn_of(rules, options), text("begin", "12345", "67890", "abc", "!"))
    assert heard.released[:2] == [0, 1]
    (interrupt,) = heard.of(Interrupt)
    assert interrupt.hits[0].leaked


def test_structured_answers_are_held_whole() -> None:
    """A JSON document cannot be continued, so nothing of it goes out before it is clean."""
    assert turn_of(ruleset(foo=FOO), structured=True).plan().whole
    assert not turn_of(ruleset(foo=QUIET), structured=True).plan().whole


def test_sealed_reasoning_is_held_until_its_attempt_is_accepted() -> None:
    """Signed reasoning is only valid whole, so it never goes out for an attempt that may fall."""
    wires = [(ThinkingDelta(0, "hm", sealed=True),), *text("clean"), *done()]
    assert play(turn_of(ruleset(foo=FOO)), wires[:2]).released == []
    assert play(turn_of(ruleset(foo=FOO)), wires).released == [0, 1, 2, 3]
    assert play(turn_of(ruleset(foo=QUIET)), wires[:2]).released == [0, 1]


def test_finish_reason_waits_for_the_end() -> None:
    """The last event goes out only when the end is known, so that what it leaves can be stored."""
    assert play(turn_of(ruleset(foo=QUIET)), text("a") + done()[:1]).released == [0]


# ---- tools


@pytest.mark.case(88)
def test_halves_in_two_calls_do_not_match() -> None:
    """Each call is a window of its own."""
    wires = (
        call(0, "edit", {"path": "a.ts", "new": "FORB"})
        + call(1, "edit", {"path": "a.ts", "new": "IDDEN"})
        + done(0, 1)
    )
    heard = play(turn_of(ruleset(foo=FOO)), wires)
    assert heard.of(Complete)[0].reminders == ()


def test_halves_in_two_edits_of_one_call_do_not_match() -> None:
    """Each edit of a call is a window of its own."""
    edits = {"path": "a.ts", "edits": [{"new": "FORB"}, {"new": "IDDEN"}]}
    heard = play(turn_of(ruleset(foo=FOO)), call(0, "edits", edits) + done(0))
    assert heard.of(Complete)


@pytest.mark.case(91)
def test_call_without_deltas_is_checked_whole() -> None:
    """Arguments that arrive in one piece are matched like any others."""
    wires = call(0, "write", {"path": "a.ts", "content": "x FORBIDDEN"}) + done(0)
    assert play(turn_of(ruleset(foo=TOOL)), wires).of(Interrupt)


@pytest.mark.case(95)
def test_removed_text_never_matches() -> None:
    """Taking a bad construct out of a file is no violation."""
    wires = call(0, "edit", {"path": "a.ts", "old": "FORBIDDEN", "new": "fine"}) + done(0)
    assert play(turn_of(ruleset(foo=TOOL)), wires).of(Complete)


def test_tool_hit_interrupts_while_the_arguments_stream() -> None:
    """The cut comes as soon as the hit is decided and tool and path are settled."""
    arguments = '{"path":"a.ts","new":"x FORBIDDEN and much more'
    wires = text("I edit.") + call(0, "edit", arguments, 25, 36)
    heard = play(turn_of(ruleset(foo=TOOL)), wires)
    (interrupt,) = heard.of(Interrupt)
    assert heard.released == [0]
    assert interrupt.partial == "I edit."
    assert interrupt.hits[0].path == "a.ts"
    assert interrupt.hits[0].tool == "edit"


def test_tool_hit_waits_for_the_path() -> None:
    """A rule for one kind of file counts only once the call has named its file."""
    rules = ruleset(foo=rule_text(condition="FORBIDDEN", scope="tool:edit(*.ts)"))
    content_first = '{"new":"FORBIDDEN","path":"a.ts"}'
    wires = call(0, "edit", content_first, 19) + done(0)
    heard = play(turn_of(rules), wires)
    (interrupt,) = heard.of(Interrupt)
    assert len(heard.decisions) == 1
    assert interrupt.hits[0].decided > content_first.index("path")
    other = play(turn_of(rules), call(0, "edit", content_first.replace(".ts", ".md"), 19) + done(0))
    assert other.of(Complete)[0].reminders == ()


def test_calls_are_held_to_the_end_of_the_message() -> None:
    """A call that has begun to reach the client cannot be taken back."""
    wires = text("a") + call(0, "edit", {"path": "a", "new": "ok"}) + done(0)
    turn = turn_of(ruleset(foo=TOOL))
    assert turn.holds_calls()
    assert play(turn, wires[:-1]).released == [0]
    assert play(turn_of(ruleset(foo=TOOL)), wires).released == list(range(len(wires)))


def test_calls_flow_where_no_refusing_rule_admits_a_tool() -> None:
    """Calls are held for nobody if no rule could refuse any of them."""
    rules = ruleset(foo=rule_text(condition="FORBIDDEN", scope="tool:deploy"))
    wires = call(0, "bash", {"command": "ls"})
    assert play(turn_of(rules, tools=("bash",)), wires).released == [0, 1]
    assert play(turn_of(ruleset(foo=QUIET)), wires).released == [0, 1]


def test_undeclared_tool_is_held_once_the_message_calls_it() -> None:
    """What the message calls counts as much as what the request declared."""
    rules = ruleset(foo=rule_text(condition="x", scope="tool:deploy"))
    assert play(turn_of(rules, tools=("bash",)), call(0, "deploy", {"a": "b"})).released == []


def test_call_without_a_name_waits_for_it() -> None:
    """As long as a call has no name it may be any tool."""
    rules = ruleset(foo=rule_text(condition="FORBIDDEN", scope="tool:deploy"))
    wires = [(ToolOpened(0, 0, None),), (ToolArguments(0, 0, "{}"),), (ToolNamed(0, 0, "bash"),)]
    turn = turn_of(rules, tools=())
    assert play(turn, wires[:2]).released == []
    assert play(turn_of(rules, tools=()), wires).released == [0, 1, 2]


def test_violation_found_only_on_the_finished_call_is_refused() -> None:
    """The message is read to its end and comes back with each call answered."""
    rules = ruleset(foo=rule_text(condition="end$", scope="tool"))
    wires = (
        call(0, "edit", {"path": "a", "new": "the end"})
        + call(1, "edit", {"path": "b", "new": "fine"})
        + done(0, 1)
    )
    heard = play(turn_of(rules), wires)
    (refuse,) = heard.of(Refuse)
    assert refuse.refused == (0,)
    assert heard.released == []


@pytest.mark.case(132)
def test_spent_rule_still_refuses_a_repeated_call() -> None:
    """A refusal spends nothing: the same call is refused again, but never cut."""
    wires = call(0, "edit", {"path": "a", "new": "FORBIDDEN"}) + done(0)
    spent = {"foo": 1}
    heard = play(turn_of(ruleset(foo=TOOL), delivered=spent), wires)
    assert not heard.of(Interrupt)
    assert heard.of(Refuse)
    once = TurnOptions(tool_refusal=ToolRefusal.ONCE)
    assert play(turn_of(ruleset(foo=TOOL), once, delivered=spent), wires).of(Complete)


@pytest.mark.case(110)
def test_interrupt_names_only_the_call_that_matched() -> None:
    """Of three sibling calls only the second carries the hit; the others are dropped with it."""
    wires = (
        call(0, "edit", {"path": "a", "new": "fine"})
        + call(1, "edit", {"path": "b", "new": "FORBIDDEN"})
        + call(2, "edit", {"path": "c", "new": "fine"})
    )
    (interrupt,) = play(turn_of(ruleset(foo=TOOL)), wires).of(Interrupt)
    assert [hit.call for hit in interrupt.hits] == [1]


@pytest.mark.case(119)
def test_quiet_tool_hit_lets_the_call_run() -> None:
    """Mode never: nothing is stopped, no further attempt is asked for."""
    wires = call(0, "edit", {"path": "a", "new": "FORBIDDEN"}) + done(0)
    heard = play(turn_of(ruleset(foo=QUIET)), wires)
    assert heard.released == list(range(len(wires)))
    assert [hit.call for hit in heard.of(Complete)[0].reminders] == [0]


@pytest.mark.case(124)
def test_broken_message_leaves_no_reminder_to_deliver() -> None:
    """A message that broke off is reported as broken; whoever runs the turn delivers nothing."""
    wires = call(0, "edit", {"path": "a", "new": "FORBIDDEN"}) + broken(0)
    (complete,) = play(turn_of(ruleset(foo=QUIET)), wires).of(Complete)
    assert complete.broken


# ---- caps, budget, exhaustion


def test_exhausted_prose_rule_becomes_a_reminder_and_its_text_is_released() -> None:
    """After the last allowed interrupt the text goes out and the rule is told afterwards."""
    turn = turn_of(ruleset(foo=FOO), TurnOptions(max_interrupts_per_rule=2))
    for _ in range(2):
        assert play(turn, text("FORBIDDEN")).of(Interrupt)
        turn.reissued(0.0)
    heard = play(turn, text("FORBIDDEN") + done())
    assert heard.released == [0, 1, 2]
    (hit,) = heard.of(Complete)[0].reminders
    assert hit.exhausted


def test_one_noisy_rule_does_not_silence_the_others() -> None:
    """An exhausted rule is out; a rule with interrupts left still interrupts."""
    rules = ruleset(one=rule_text(condition="one"), two=rule_text(condition="two"))
    turn = turn_of(rules, TurnOptions(max_interrupts_per_rule=1))
    assert play(turn, text("one")).of(Interrupt)
    turn.reissued(0.0)
    heard = play(turn, text("one ", "two"))
    assert [hit.rule.name for hit in heard.of(Interrupt)[0].hits] == ["one", "two"]


def test_attempts_are_capped() -> None:
    """The last attempt is accepted whatever it says."""
    turn = turn_of(ruleset(foo=FOO), TurnOptions(max_attempts=2, max_interrupts_per_rule=9))
    assert play(turn, text("FORBIDDEN")).of(Interrupt)
    turn.reissued(0.0)
    assert play(turn, text("FORBIDDEN") + done()).of(Complete)


CALL = call(0, "edit", {"path": "a", "new": "FORBIDDEN"}) + done(0)
ONE = TurnOptions(max_attempts=1)


def test_exhausted_call_is_withheld() -> None:
    """A call that still violates after the last attempt never reaches the client."""
    heard = play(turn_of(ruleset(foo=TOOL), ONE), text("ok") + CALL)
    (withhold,) = heard.of(Withhold)
    assert not withhold.error
    assert heard.released == [0]
    assert heard.of(Complete)


def test_reminder_of_a_call_that_is_withheld_is_not_promised() -> None:
    """Its result never comes, so nothing can be told there; what hit the text is told."""
    rules = ruleset(
        foo=TOOL,
        quiet=rule_text(condition="FORBIDDEN", scope="tool", interruptMode="never"),
        said=rule_text(condition="sorry", interruptMode="never"),
    )
    heard = play(turn_of(rules, ONE), text("sorry") + CALL)
    assert [hit.rule.name for hit in heard.of(Withhold)[0].hits] == ["foo"]
    assert [hit.rule.name for hit in heard.of(Complete)[0].reminders] == ["said"]
    assert [hit.rule.name for seen in heard.of(Observe) for hit in seen.hits] == ["quiet"]


def test_exhausted_call_can_be_delivered_or_be_an_error() -> None:
    """`onExhausted` chooses; a forced tool choice is always an error."""
    deliver = replace(ONE, on_exhausted=OnExhausted.DELIVER)
    heard = play(turn_of(ruleset(foo=TOOL), deliver), CALL)
    assert heard.released == list(range(len(CALL)))
    assert heard.of(Complete)[0].reminders[0].exhausted
    error = replace(ONE, on_exhausted=OnExhausted.ERROR)
    assert play(turn_of(ruleset(foo=TOOL), error), CALL).of(Withhold)[0].error
    forced = play(turn_of(ruleset(foo=TOOL), deliver, forced_tool=True), CALL)
    assert forced.of(Withhold)[0].error


def test_budget_counts_between_released_events() -> None:
    """Past the budget no further attempt is asked for; before the first event it does not run."""
    options = TurnOptions(turn_budget=10)
    late = turn_of(ruleset(foo=FOO), options)
    assert play(late, text("FORBIDDEN"), now=1000.0).of(Interrupt)
    late.reissued(1000.0)
    assert play(late, text("FORBIDDEN") + done(), now=1011.0).of(Complete)


def test_tick_past_the_budget_releases_held_prose() -> None:
    """A stalled later attempt does not keep text back for longer than the budget."""
    turn = turn_of(ruleset(foo=FOO), TurnOptions(turn_budget=10))
    play(turn, text("FORBIDDEN"))
    turn.reissued(0.0)
    assert play(turn, text("FORB")).released == []
    assert turn.tick(5.0) == ()
    assert [type(d).__name__ for d in turn.tick(11.0)] == ["Release"]


def test_turn_that_ran_late_never_interrupts_again() -> None:
    """What is released once the budget is used up does not give the rules a new one."""
    turn = turn_of(ruleset(foo=FOO), TurnOptions(turn_budget=10))
    play(turn, text("FORBIDDEN"))
    turn.reissued(0.0)
    turn.tick(11.0)
    heard = play(turn, text("clean ", "FORBIDDEN") + done(), now=11.5)
    assert not heard.of(Interrupt)
    assert heard.of(Complete)[0].reminders[0].exhausted


def test_rule_that_an_interrupt_told_is_not_told_again_in_its_turn() -> None:
    """The turn is one delivery: the accepted attempt's hit is reported and leaves no reminder."""
    rules = ruleset(
        loud=rule_text(condition="foobar"), quiet=rule_text(condition="foo", interruptMode="never")
    )
    turn = turn_of(rules)
    assert play(turn, text("foobar")).of(Interrupt)
    turn.reissued(0.0)
    heard = play(turn, text("foo again") + done())
    assert heard.of(Complete)[0].reminders == ()
    assert [hit.rule.name for seen in heard.of(Observe) for hit in seen.hits] == ["quiet"]


def test_every_hit_of_a_stopping_rule_counts_for_its_cap() -> None:
    """A rule that also hit where its mode only reminds is used up all the same."""
    rules = ruleset(foo=rule_text(condition="FORBIDDEN", interruptMode="tool-only"))
    turn = turn_of(rules, TurnOptions(max_interrupts_per_rule=1))
    wires = text("FORBIDDEN") + call(0, "edit", {"path": "a", "new": "FORBIDDEN"}) + done(0)
    assert play(turn, wires).of(Interrupt)
    turn.reissued(0.0)
    assert play(turn, wires).of(Withhold)


# ---- observing, breaking, giving up


def test_observed_turn_changes_nothing() -> None:
    """Side requests and several choices: hits are reported as they come, nothing is held."""
    turn = turn_of(ruleset(foo=FOO), observe=True)
    heard = play(turn, text("a FORBIDDEN") + CALL)
    assert heard.released == list(range(1 + len(CALL)))
    assert {o.hits[0].surface for o in heard.of(Observe)} == {Surface.TEXT, Surface.TOOL}
    assert heard.of(Complete)[0].reminders == ()


def test_break_drops_unfinished_calls_and_releases_the_rest() -> None:
    """A broken upstream is never made to look complete."""
    whole = call(0, "edit", {"path": "a", "new": "ok"})
    half = call(1, "edit", '{"path":"b","new":"o')
    wires = text("a") + whole + half + broken(0, 1)
    turn = turn_of(ruleset(foo=TOOL))
    heard = play(turn, wires)
    release = heard.decisions[-2]
    assert release.without_calls == {(0, 1)}  # type: ignore[union-attr]
    assert heard.of(Complete)[0].broken


def test_break_drops_text_inside_a_match_that_the_end_decides() -> None:
    """What the end decides is decided at a break too, but there is no other attempt then."""
    rules = ruleset(foo=rule_text(condition="secret$"))
    heard = play(turn_of(rules), text("a ", "sec", "ret") + broken())
    assert heard.released == [0, 3]
    assert not heard.of(Interrupt)


def test_hit_completed_before_a_break_still_interrupts() -> None:
    """The hit was decided while the stream was alive."""
    wires = call(0, "edit", '{"path":"a","new":"FORBIDDEN') + broken(0)
    assert play(turn_of(ruleset(foo=TOOL)), wires).of(Interrupt)


@pytest.mark.case(98)
def test_switched_off_rules_watch_nothing() -> None:
    """A rule set without live rules makes an idle turn; with them again, rules match again."""
    off = ruleset(RuleSetOptions(enabled=False), foo=FOO)
    assert turn_of(off).plan().idle
    assert play(turn_of(ruleset(foo=FOO)), text("FORBIDDEN")).of(Interrupt)


def test_give_up_releases_everything_and_watches_nothing_more() -> None:
    """When the proxy cannot go on with the rules, the stream goes on without them."""
    turn = turn_of(ruleset(foo=FOO))
    assert play(turn, text("a", "FORB")).released == [0]
    (release,) = turn.give_up()
    assert release.through == 1  # type: ignore[union-attr]
    heard = turn.feed(2, (TextDelta(0, "IDDEN FORBIDDEN"),), 0.0)
    assert [type(d).__name__ for d in heard] == ["Release"]
    assert turn.plan().idle


def test_context_discard_keeps_no_partial() -> None:
    """The rule that cut says whether its partial stays in the reissued request."""
    rules = ruleset(foo=rule_text(condition="FORBIDDEN", contextMode="discard"))
    (interrupt,) = play(turn_of(rules), text("a ", "FORBIDDEN")).of(Interrupt)
    assert interrupt.partial == ""


# ---- runs of text

UNDECIDED = ruleset(foo=rule_text(condition="ab(?!c)", scope="text"))
Step = Sequence[TurnEvent] | list[str]


def _heard(script: Sequence[Step], options: TurnOptions, *, together: bool) -> list[Answer]:
    """Feed the texts of a step in one run, or one by one; each step comes ten seconds later."""
    turn, at, heard = turn_of(UNDECIDED, options), 0, list[Answer]()
    for now, step in enumerate(script):
        pieces = [each for each in step if isinstance(each, str)]
        runs = [pieces] if together else [[piece] for piece in pieces]
        for run in runs if pieces else ():
            heard += turn.feed_text(at, 0, run, 10.0 * now)
            at += len(run)
        if not pieces:
            heard += turn.feed(at, [each for each in step if not isinstance(each, str)], 10.0 * now)
            at += 1
    return heard


@pytest.mark.parametrize(
    ("script", "budget", "out", "leaked"),
    [
        ([["x a", "b"]], 99, 0, None),
        ([["x a", "b!"]], 99, 0, True),
        ([["x ", "ab!"]], 99, 0, False),
        ([["x ab", "c a", "b"]], 99, 1, None),
        ([["ab"], [ToolOpened(0, 0), ToolNamed(0, 0, "edit")], ["c ", "ab!"]], 99, 3, None),
        ([["x "], ["y ", "ab!"]], 5, 1, False),
    ],
)
def test_run_of_text_goes_out_as_it_would_one_by_one(
    script: Sequence[Step],
    budget: float,
    out: int,
    leaked: bool | None,  # noqa: FBT001 - a case
) -> None:
    """What goes out within a run counts: for leaks, for calls that are out, and for the budget.

    `out`: the last event that is out; `leaked` of the hit that interrupts, None if none does.
    """
    options = TurnOptions(release=ReleaseMode.CUT, turn_budget=budget)
    for together in (True, False):
        heard = _heard(script, options, together=together)
        hits = [each.hits[0].leaked for each in heard if isinstance(each, Interrupt)]
        assert max(each.through for each in heard if isinstance(each, Release)) == out
        assert hits == ([] if leaked is None else [leaked])


@pytest.mark.parametrize(
    "before",
    [
        [],
        [ThinkingDelta(0, "so long that it must go, ab")],
        [ThinkingDelta(0, "", sealed=True)],
        [TextDelta(0, "x"), OpenCharacter(0)],
        [ToolOpened(0, 0), ToolNamed(0, 0, "edit")],
        [FinishReason(0, "stop")],
    ],
    ids=["nothing", "thinking", "sealed", "half", "call", "finish"],
)
@pytest.mark.parametrize("release", ReleaseMode)
def test_text_does_not_overtake_what_waits(
    before: Sequence[TurnEvent], release: ReleaseMode
) -> None:
    """A piece that is all of its event is decided on like any event that brings text."""
    rules = ruleset(
        foo=rule_text(condition="ab(?!c)", scope="text, thinking"),
        bar=rule_text(condition="x", scope="tool"),
    )
    options = TurnOptions(release=release, hold_limit=8)
    one, other = turn_of(rules, options), turn_of(rules, options)
    if before:
        assert one.feed(0, before, 0.0) == other.feed(0, before, 0.0)
    for at, piece in enumerate(["clean", "and ", "more"], 1):
        expected = one.feed(at, [TextDelta(0, piece)], 0.0)
        assert other.feed_text(at, 0, [piece], 0.0) == expected
