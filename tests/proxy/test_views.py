"""Where each note stands, decided by its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from proxy.anchors import NO_MATCHES, Anchored, Matches
from proxy.conversation import Call, Message
from proxy.splice import Delivery, Kept, Note, Placement, Splice, ToolNote
from proxy.views import (
    Edit,
    Insert,
    Merge,
    Restore,
    Strip,
    View,
    build,
    dropped,
    flipped,
)

SYSTEM, ASKED = Message("system", "s"), Message("user", "do it")
PARTIAL = Kept(b"partial", partial=True)
ONE, TWO = Call("a1x", "write", "{}"), Call("b2y", "edit", "{}")


def user(text: str) -> bytes:
    return f"user:{text}".encode()


def note(text: str, placement: Placement = Placement.OWN) -> Note:
    return Note(text, user(text), placement, (Delivery(text, "h"),))


def said(text: str = "ok", *calls: Call) -> Message:
    return Message("assistant", text, calls=calls)


def result(call: Call) -> Message:
    return Message("tool", "done", call_id=call.id)


def view_of(messages: Sequence[Message], **at: Splice) -> View:
    """Build with splices by message: `m2=Splice(…)`."""
    matches = Matches(
        {int(name[1:]): Anchored(int(name[1:]), splice, 0) for name, splice in at.items()}
    )
    return build(messages, matches, user)


def edits_of(messages: Sequence[Message], **at: Splice) -> tuple[Edit, ...]:
    return view_of(messages, **at).edits


def told(view: View) -> dict[str, int]:
    return {delivery.rule: age for delivery, age in view.delivered.items()}


def test_view_without_splices_has_no_edits() -> None:
    """Nothing found, nothing changed."""
    assert build([SYSTEM, ASKED], NO_MATCHES, user) == View((), {}, (), ())


def test_partial_and_note_stand_in_front_of_the_message() -> None:
    """An interrupt with a kept partial is two messages of ours."""
    assert edits_of([ASKED, said()], m1=Splice(before=(PARTIAL, note("n")))) == (
        Insert(1, (b"partial", b"user:n")),
    )


def test_note_alone_merges_behind_the_user_message_in_front() -> None:
    """Two user messages never follow each other."""
    splice = Splice(before=(note("n", Placement.INTO_USER), note("m")))
    assert edits_of([ASKED, said()], m1=splice) == (Merge(0, "n\n\nm", front=False),)


def test_note_alone_is_a_message_behind_a_tool_result() -> None:
    """Behind a result a user message may stand; consecutive notes share it."""
    messages = [ASKED, said("", ONE), result(ONE), said()]
    splice = Splice(before=(note("n"), note("m")))
    assert edits_of(messages, m3=splice) == (Insert(3, (b"user:n\n\nm",)),)


def test_note_looks_past_system_messages_for_its_user_message() -> None:
    """Servers that lift system messages out would see two user messages in a row."""
    messages = [ASKED, SYSTEM, said(), SYSTEM, ASKED]
    splice = Splice(before=(note("n"),), after=(note("m"),))
    assert edits_of(messages, m2=splice) == (
        Merge(0, "n", front=False),
        Merge(4, "m", front=True),
    )


def test_note_with_nothing_in_front_is_a_message_of_its_own() -> None:
    """A conversation that begins with the anchor."""
    assert edits_of([said(), ASKED], m0=Splice(before=(note("n"),))) == (Insert(0, (b"user:n",)),)


def test_partial_is_left_out_behind_an_assistant_message() -> None:
    """A client that split its message gets no third assistant message."""
    messages = [ASKED, said("text"), said("", ONE), result(ONE)]
    assert edits_of(messages, m2=Splice(before=(PARTIAL, note("n")))) == (Insert(2, (b"user:n",)),)


def test_after_merges_in_front_of_the_next_user_message() -> None:
    """A reminder is read before what the user says next."""
    view = view_of([ASKED, said(), ASKED], m1=Splice(after=(note("n"), note("m"))))
    assert view.edits == (Merge(2, "n\n\nm", front=True),)
    assert told(view) == {"n": 1, "m": 1}


def test_after_waits_for_all_results_of_the_batch() -> None:
    """A note that cannot stand yet is not delivered."""
    messages = [ASKED, said("", ONE, TWO), result(ONE)]
    splice = Splice(after=(note("n"),))
    waiting = view_of(messages, m1=splice)
    assert (waiting.edits, waiting.delivered, waiting.placed) == ((), {}, ())
    whole = view_of([*messages, result(TWO)], m1=splice)
    assert whole.edits == (Insert(4, (b"user:n",)),)
    assert whole.placed == (1,)


def test_after_shares_its_message_with_the_next_turns_note() -> None:
    """The gap in front of the next message holds one user message, not two."""
    messages = [ASKED, said("", ONE), result(ONE), said("two")]
    found = edits_of(messages, m1=Splice(after=(note("n"),)), m3=Splice(before=(note("m"),)))
    assert found == (Insert(3, (b"user:n\n\nm",)),)


def test_after_is_not_placed_behind_a_message_to_be_continued() -> None:
    """The request ends on the client's own assistant message, and must go on doing so."""
    assert edits_of([ASKED, said()], m1=Splice(after=(note("n"),))) == ()


def test_after_goes_behind_all_parts_of_a_split_message() -> None:
    """Nothing comes between two assistant messages that follow each other."""
    messages = [ASKED, said("text"), said("", ONE), result(ONE)]
    assert edits_of(messages, m1=Splice(after=(note("n"),))) == (Insert(4, (b"user:n",)),)


@pytest.mark.case(120)
def test_tool_note_stands_in_front_of_its_own_result() -> None:
    """Found by the call's id, whatever the order of the results."""
    messages = [ASKED, said("", ONE, TWO), result(TWO), result(ONE)]
    splice = Splice(tool_notes=(ToolNote(0, "write", note("n", Placement.INTO_TOOL)),))
    assert edits_of(messages, m1=splice) == (Merge(3, "n", front=True),)


@pytest.mark.parametrize(
    ("calls", "results", "at"),
    [
        ((replace(ONE, id=None), replace(TWO, id=None)), (None, None), 3),
        ((TWO,), ("b2y",), 2),
        ((replace(TWO, id="c0"), replace(TWO, id="c0")), ("c0", "c0"), 3),
        ((ONE,), ("a1x",), None),
        ((ONE, TWO), ("a1x", "other"), None),
        ((ONE, ONE, TWO, TWO), ("a1x", "a1x", "b2y", "b2y"), None),
    ],
)
def test_tool_note_is_bound_by_position_and_name(
    calls: tuple[Call, ...], results: tuple[str | None, ...], at: int | None
) -> None:
    """Without the id the position counts; a call that moved is known by its name if unique."""
    answers = [Message("tool", "done", call_id=call_id) for call_id in results]
    splice = Splice(tool_notes=(ToolNote(1, "edit", note("n", Placement.INTO_TOOL)),))
    view = view_of([ASKED, said("", *calls), *answers], m1=splice)
    assert view.edits == (() if at is None else (Merge(at, "n", front=True),))
    assert told(view) == ({} if at is None else {"n": 1})


def test_tool_note_of_its_own_stands_behind_all_results() -> None:
    """In a message of its own, together with what is said behind the message."""
    messages = [ASKED, said("", ONE, TWO), result(ONE), result(TWO)]
    splice = Splice(tool_notes=(ToolNote(1, "edit", note("n")),), after=(note("m"),))
    assert edits_of(messages, m1=splice) == (Insert(4, (b"user:n\n\nm",)),)


def test_strip_and_restore_mend_the_message() -> None:
    """Abandoned text goes, hidden fields come back."""
    message = Message("assistant", "He\n\nHi", reasoning="why so")
    splice = Splice(strip="He\n\n", strip_reasoning="why ", restore=b'{"r":1}')
    view = view_of([ASKED, message, ASKED], m1=splice)
    assert view.edits == (Strip(1, 4, 4), Restore(1, b'{"r":1}'))
    assert (view.placed, view.unstripped) == ((1,), ())


@pytest.mark.parametrize(
    "message", [said("Other"), said("He \n"), Message("assistant", "Hello", reasoning="because")]
)
def test_strip_that_is_not_found_cuts_nothing_and_says_so(message: Message) -> None:
    """Nor is a message cut until it is empty."""
    splice = Splice(strip="He\n\n", strip_reasoning="why ")
    view = view_of([ASKED, message, ASKED], m1=splice)
    assert all(not (isinstance(edit, Strip) and edit.text) for edit in view.edits) or (
        message.reasoning
    )
    assert view.unstripped == (1,)


def test_strip_may_leave_calls_without_text() -> None:
    """A message of calls alone is whole."""
    messages = [ASKED, said("He\n\n", ONE), result(ONE)]
    assert edits_of(messages, m1=Splice(strip="He\n\n")) == (Strip(1, 4),)


def test_dropped_splice_changes_and_delivers_nothing() -> None:
    """What every placement was refused for is gone for good."""
    splice = Splice(before=(PARTIAL, note("n")), strip="o", dropped=True)
    assert view_of([ASKED, said(), ASKED], m1=splice) == View((), {}, (), ())


def test_age_counts_assistant_messages_from_the_newest_anchor() -> None:
    """The anchor's own message is the first."""
    messages = [ASKED, said("1"), ASKED, said("2"), ASKED, said("3"), ASKED]
    old, new = Splice(after=(note("n"), note("m"))), Splice(after=(note("n"),))
    assert told(view_of(messages, m1=old, m3=new)) == {"n": 2, "m": 3}


def test_reissue_holds_what_the_turn_injected_in_the_last_gap() -> None:
    """The gap is the one in front of the message that the client will return."""
    messages = [ASKED, said("", ONE), result(ONE)]
    matches = Matches({1: Anchored(1, Splice(after=(note("n"),)), 0)})
    pieces = (note("m"), Kept(b"refused"), Kept(b"answer"), PARTIAL, note("o"))
    reissue = build(messages, matches, user, pieces)
    later = build(
        [*messages, said("two"), ASKED],
        Matches({**matches.by_message, 3: Anchored(2, Splice(before=pieces), 0)}),
        user,
    )
    expected = Insert(3, (b"user:n\n\nm", b"refused", b"answer", b"partial", b"user:o"))
    assert reissue.edits == later.edits == (expected,)


def test_flipped_matches_put_each_note_in_its_other_place() -> None:
    """Where anything stands apart, all of it goes into the results, and partials go."""
    messages = [ASKED, said("", ONE), result(ONE), said("two"), ASKED]
    first = Splice(
        tool_notes=(ToolNote(0, "write", note("t", Placement.INTO_TOOL)),), after=(note("n"),)
    )
    second = Splice(before=(PARTIAL, note("m")))
    matches = Matches({1: Anchored(1, first, 0), 3: Anchored(2, second, 0)})
    assert build(messages, matches, user).edits == (
        Merge(2, "t", front=True),
        Insert(3, (b"user:n", b"partial", b"user:m")),
    )
    assert build(messages, flipped(matches), user).edits == (
        Merge(2, "t", front=True),
        Merge(2, "n\n\nm", front=False),
    )


def test_flipped_matches_stand_apart_where_all_was_merged() -> None:
    """A tool note leaves the result; what is in a user message cannot stand beside it."""
    messages = [ASKED, said("", ONE), result(ONE)]
    splice = Splice(
        before=(note("n", Placement.INTO_USER),),
        tool_notes=(ToolNote(0, "write", note("t", Placement.INTO_TOOL)),),
    )
    matches = flipped(Matches({1: Anchored(1, splice, 0)}))
    assert build(messages, matches, user).edits == (
        Merge(0, "n", front=False),
        Insert(3, (b"user:t",)),
    )


def test_dropped_matches_leave_the_conversation_as_the_client_sent_it() -> None:
    """Nothing is placed, nothing counts as delivered."""
    matches = Matches({1: Anchored(1, Splice(after=(note("n"),)), 0)})
    assert build([ASKED, said(), ASKED], dropped(matches), user) == View((), {}, (), ())
