"""A splice finds its own message again, and no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proxy.anchors import lookup_keys, match, places
from proxy.conversation import Call, Message, spine
from proxy.splice import Splice, StoredSplice, encode

USER = Message("user", "go")


def said(text: str, *calls: Call) -> Message:
    return Message("assistant", text, calls=calls)


def stored(
    number: int, before: Sequence[Message], got: Message, splice: Splice | None = None
) -> StoredSplice:
    splice = splice or Splice(strip=f"of {number}")
    return StoredSplice(number, places(got, spine(before), head=splice.head), encode(splice))


def found(messages: Sequence[Message], *entries: StoredSplice) -> dict[int, int]:
    matches = match(spine(messages), entries)
    return {at: anchored.id for at, anchored in matches.by_message.items()}


def test_lookup_needs_no_read_without_assistant_messages() -> None:
    """A conversation that has no spine has no keys."""
    assert lookup_keys(spine([Message("system", "s"), USER])) == ()


def test_lookup_holds_every_key_once() -> None:
    """Two equal messages are asked for once."""
    once = lookup_keys(spine([said("a")]))
    assert lookup_keys(spine([said("a"), USER, said("a")])) == once


def test_places_hold_the_head_only_for_a_client_that_left() -> None:
    """The first characters are a key of broken-off messages alone."""
    message = said("x" * 50)
    whole = {place.key.partition(":")[0] for place in places(message, spine([]))}
    cut = {place.key.partition(":")[0] for place in places(message, spine([]), head=True)}
    assert cut - whole == {"head"}


def test_splice_is_found_by_a_call_id_before_its_text() -> None:
    """The message with the id wins over one with the same words."""
    got = said("Let me look.", Call("call_Ab1", "read", '{"p":1}'))
    entry = stored(1, [USER], got)
    edited = said("Something else", Call("call_Ab1", "read", '{"p":2}'))
    assert found([USER, said("Let me look."), USER, edited], entry) == {3: 1}


def test_splice_is_found_by_text_and_calls_where_ids_are_counted() -> None:
    """Counted ids are no key; printing arguments again changes nothing."""
    entry = stored(1, [USER], said("a", Call("call_0", "read", '{"p":1,"q":2}')))
    other = said("b", Call("call_0", "read", '{"p":9}'))
    same = said("a ", Call("call_0", "read", '{"q": 2, "p": 1.0}'))
    assert found([USER, other, USER, same], entry) == {3: 1}


def test_splice_is_found_by_text_alone_or_calls_alone() -> None:
    """Weaker likeness is enough where it is the only one."""
    call = Call(None, "read", '{"p":1}')
    entry = stored(1, [USER], said("a", call))
    assert found([USER, said("a")], entry) == {1: 1}
    assert found([USER, said("other", call)], entry) == {1: 1}
    assert found([USER, said("other")], entry) == {}


def test_splice_is_not_found_by_a_part_where_both_have_ids() -> None:
    """A message said again after a rewind has ids of its own, and is another one."""
    entry = stored(1, [USER], said("a", Call("call_Ab1", "read", "{}")))
    assert found([USER, said("b", Call("call_Cd2", "read", "{}"))], entry) == {}
    assert found([USER, said("a", Call("call_Cd2", "read", "{}"))], entry) == {1: 1}
    assert found([USER, said("b", Call("call_0", "read", "{}"))], entry) == {1: 1}


def test_splice_prefers_the_longest_equal_run() -> None:
    """Of two equal messages the one with the same spine before it is the anchor."""
    history = [USER, said("one"), USER, said("two"), USER]
    entry = stored(1, history, said("Done."))
    assert found([USER, said("Done."), *history, said("Done.")], entry) == {7: 1}


def test_tie_goes_to_the_earliest_message_by_a_whole_key() -> None:
    """Equal messages with equal runs: the first."""
    entry = stored(1, [USER], said("Done."))
    assert found([USER, said("Done."), USER, said("Done.")], entry) == {1: 1}


def test_tie_by_a_part_of_a_message_places_nothing() -> None:
    """Likeness in text alone that two messages share is no evidence."""
    entry = stored(1, [USER], said("a", Call(None, "read", "{}")))
    assert found([USER, said("a"), USER, said("a")], entry) == {}


def test_message_keeps_the_splice_with_the_longer_run() -> None:
    """The older splice stays where its conversation agrees longer."""
    history = [USER, said("one"), USER]
    right, stranger = stored(1, history, said("Done.")), stored(2, [USER], said("Done."))
    assert found([*history, said("Done.")], right, stranger) == {3: 1}


def test_run_ends_where_two_conversations_part() -> None:
    """What was said before the last equal message counts no more."""
    here = [USER, said("one"), USER, said("two"), USER]
    there = [USER, said("one"), USER, said("2"), USER]
    right, stranger = stored(1, here, said("Done.")), stored(2, there, said("Done."))
    assert found([*here, said("Done.")], right, stranger) == {5: 1}


def test_message_keeps_the_newer_of_two_splices_with_equal_runs() -> None:
    """After a rewind the same words were said again."""
    history = [USER, said("one"), USER]
    entries = [stored(number, history, said("Done.")) for number in (1, 2)]
    assert found([*history, said("Done.")], *reversed(entries)) == {3: 2}


def test_splices_of_a_model_that_repeats_itself_keep_their_order() -> None:
    """Beyond the reach of a run, the turns' splices stand in the order of their messages."""
    messages: list[Message] = []
    entries = []
    for number in range(14):
        messages.append(USER)
        entries.append(stored(number + 1, messages, said("Again.")))
        messages.append(said("Again."))
    assert found(messages, *entries) == {2 * number + 1: number + 1 for number in range(14)}


def test_splice_of_a_message_that_is_gone_stays_away() -> None:
    """A client that never returns a message leaves its splice unplaced."""
    assert found([USER, said("other")], stored(1, [USER], said("mine"))) == {}


def test_head_is_found_by_prefix_and_only_from_forty_characters_on() -> None:
    """What the client kept begins what was released, or the other way round."""
    released = "The quick brown fox jumps over the lazy dog, twice in a row."
    splice = Splice(strip="x", head=True, released=released)
    entry = stored(1, [USER], said(released), splice)
    assert found([USER, said(released[:52])], entry) == {1: 1}
    assert found([USER, said(released + " And more.")], entry) == {1: 1}
    assert found([USER, said(released[:52] + "!")], entry) == {}
    assert found([USER, said(released[:30])], entry) == {}


def test_unreadable_payload_is_reported_and_its_message_left_to_others() -> None:
    """A damaged row costs its own splice only."""
    good = stored(1, [USER], said("a"))
    bad = replace(good, id=2, payload=b"\x00")
    elsewhere = replace(stored(3, [USER], said("b")), payload=b"\x00")
    matches = match(spine([USER, said("a")]), [bad, good, elsewhere])
    assert {at: each.id for at, each in matches.by_message.items()} == {1: 1}
    assert matches.unreadable == (2,)
