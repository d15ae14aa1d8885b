from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.wire.openai.channel import Growth, Joiner, ThinkSplit, whole

TAGS = ("think", "thinking", "mm:think")
HALVES = st.text(st.sampled_from("a\ud83d\ude00é😀"), max_size=12)
TAGGED = st.lists(
    st.sampled_from(
        ["<", ">", "/", "think", "<think>", "</think>", "<thinking>", "</thinking>", "\n", "words"]
    ),
    max_size=9,
).map("".join)


def pieces_of(text: str, borders: list[int]) -> list[str]:
    cuts = [0, *sorted(b for b in borders if b < len(text)), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(cuts)]


def split(pieces: list[str], *, start_inside: bool = False) -> tuple[str, str]:
    splitter = ThinkSplit(TAGS, start_inside=start_inside)
    parts = [*[splitter.feed(piece) for piece in pieces], splitter.close()]
    return "".join(thinking for thinking, _ in parts), "".join(text for _, text in parts)


def test_whole_joins_pairs_and_replaces_lone_halves() -> None:
    """Halves that met are one character; the others are U+FFFD each."""
    assert whole("a\ud83d\ude00b") == "a😀b"
    assert whole("\ude00\ud83d\ud83d\ude00\ud83d") == "\ufffd\ufffd😀\ufffd"
    assert whole("plain é") == "plain é"


def test_joiner_keeps_a_first_half_until_its_partner_comes() -> None:
    """A half at the end of a piece is not given out before it is certain what it is."""
    joiner = Joiner()
    assert [joiner.feed("a\ud83d"), joiner.feed(""), joiner.feed("\ude00b")] == ["a", "", "😀b"]
    assert joiner.feed("\ud83d") == ""
    assert joiner.feed("c") == "\ufffdc"
    assert joiner.feed("\ud83d") == ""
    assert (joiner.close(), joiner.close()) == ("\ufffd", "")


@given(HALVES, st.lists(st.integers(0, 12)))
@settings(max_examples=60, deadline=None)
def test_joiner_gives_the_same_text_for_every_cutting(text: str, borders: list[int]) -> None:
    """The pieces given out add up to the whole text, mended."""
    joiner = Joiner()
    given_out = [joiner.feed(piece) for piece in pieces_of(text, borders)]
    assert "".join(given_out) + joiner.close() == whole(text)


def test_growth_answers_with_what_is_new() -> None:
    """A piece that begins with all so far repeats it; any other piece is new."""
    growth = Growth()
    pieces = ["The", "The mill", "The mill", "", "!", "The mill!?"]
    assert [growth.feed(piece) for piece in pieces] == ["The", " mill", "", "", "!", "?"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>a</think>b", ("a", "b")),
        ("\n <thinking>a</think></thinking>b", ("a</think>", "b")),
        ("<mm:think>a", ("a", "")),
        ("<think>a</thi", ("a</thi", "")),
        ("<think></think><think>b</think>", ("", "<think>b</think>")),
        ("Write <think>a</think>", ("", "Write <think>a</think>")),
        ("<thi", ("", "<thi")),
        ("\n\n", ("", "\n\n")),
        ("\n<thing>", ("", "\n<thing>")),
        ("</think>a", ("", "</think>a")),
        ("", ("", "")),
    ],
)
def test_split_takes_a_block_at_the_very_start_only(text: str, expected: tuple[str, str]) -> None:
    """White space in front of the block goes, what follows its end is text as it stands."""
    assert split([text]) == expected
    assert split(list(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a</think>b", ("a", "b")),
        ("a</mm:think>b</think>", ("a", "b</think>")),
        ("<think>a</thinking></think>b", ("a</thinking>", "b")),
        ("all of it", ("all of it", "")),
        ("\n", ("\n", "")),
    ],
)
def test_split_may_start_inside_a_block(text: str, expected: tuple[str, str]) -> None:
    """Without an opening tag any closing tag ends the block."""
    assert split([text], start_inside=True) == expected
    assert split(list(text), start_inside=True) == expected


@given(TAGGED, st.lists(st.integers(0, 60)), st.booleans())
@settings(max_examples=100, deadline=None)
def test_split_gives_the_same_for_every_cutting(
    text: str,
    borders: list[int],
    inside: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    """Neither channel depends on how the content was cut into deltas."""
    assert split(pieces_of(text, borders), start_inside=inside) == split(
        [text], start_inside=inside
    )


def test_split_holds_back_no_more_than_a_tag_may_need() -> None:
    """Words are given out at once; only what may be a tag waits."""
    splitter = ThinkSplit(TAGS, start_inside=False)
    assert splitter.feed("<th") == ("", "")
    assert splitter.feed("ink>so </thi") == ("so ", "")
    assert splitter.feed("ng") == ("</thing", "")
    assert splitter.feed("</think>x <") == ("", "x <")
