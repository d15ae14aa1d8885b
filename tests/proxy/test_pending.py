"""What a turn has injected so far, step by step."""

from __future__ import annotations

from proxy.conversation import Message
from proxy.pending import Pending
from proxy.splice import Delivery, Kept, Note, Placement, Splice, ToolNote

TOLD = (Delivery("no-any", "h1"),)


def user(text: str) -> bytes:
    return f"user:{text}".encode()


def behind(role: str) -> Pending:
    return Pending.behind([Message("system", "s"), Message(role, "x")], user)


def note(text: str, placement: Placement) -> Note:
    return Note(text, user(text), placement, TOLD)


def test_pending_that_injected_nothing_leaves_no_splice() -> None:
    """A plain completion leaves nothing."""
    assert Pending.behind([], user).finish("text") is None


def test_interrupted_keeps_partial_and_note() -> None:
    """A kept partial is followed by a message of our own."""
    pending = behind("user").interrupted("stop", TOLD, partial=b"half").abandoned("ha\n\n", "why")
    assert pending.finish("ha\n\nwhole") == Splice(
        before=(Kept(b"half", partial=True), note("stop", Placement.OWN)),
        strip="ha\n\n",
        strip_reasoning="why",
    )


def test_interrupted_without_partial_merges_into_the_clients_user_message() -> None:
    """A note of a discarded attempt goes into the user message in front of it."""
    pending = behind("user").interrupted("stop", TOLD).interrupted("stop again", TOLD)
    assert pending.before == (
        note("stop", Placement.INTO_USER),
        note("stop again", Placement.INTO_USER),
    )
    assert behind("tool").interrupted("stop", TOLD).before == (note("stop", Placement.OWN),)


def test_interrupted_behind_an_assistant_message_keeps_nothing() -> None:
    """Two assistant messages in a row would be refused."""
    first = behind("assistant").interrupted("stop", TOLD, partial=b"half")
    assert first.before == (note("stop", Placement.OWN),)
    second = first.interrupted("stop again", TOLD, partial=b"half")
    assert second.before[1:] == (Kept(b"half", partial=True), note("stop again", Placement.OWN))


def test_refused_keeps_the_message_and_its_answers() -> None:
    """What the answers deliver beyond the refusal is told by the last of them."""
    pending = behind("user").refused([b"message", b"answer"], TOLD).interrupted("stop", TOLD)
    assert pending.before == (
        Kept(b"message"),
        Kept(b"answer", TOLD),
        note("stop", Placement.OWN),
    )


def test_reminders_and_hidden_fields_stand_at_the_accepted_message() -> None:
    """Notes behind it, notes at its calls, fields to put back."""
    pending = (
        behind("user")
        .reminded("later", TOLD)
        .reminded_of_call(1, "write", "here", TOLD)
        .reminded_of_call(0, "edit", "apart", TOLD, Placement.OWN)
        .restored(b'{"r":1}')
    )
    assert pending.finish("text") == Splice(
        after=(note("later", Placement.OWN),),
        tool_notes=(
            ToolNote(1, "write", note("here", Placement.INTO_TOOL)),
            ToolNote(0, "edit", note("apart", Placement.OWN)),
        ),
        restore=b'{"r":1}',
    )


def test_head_keeps_what_was_released() -> None:
    """A message that the client left is found by prefix later."""
    splice = behind("tool").interrupted("stop", TOLD).finish("so far", head=True)
    assert splice == Splice(before=(note("stop", Placement.OWN),), head=True, released="so far")


def test_flipped_pending_drops_the_partial() -> None:
    """The other form of a kept partial is the note alone."""
    pending = behind("user").interrupted("stop", TOLD, partial=b"half").flipped()
    assert pending.before == (note("stop", Placement.INTO_TOOL),)
