"""Abandoned text is found again at the front of the client's message, or left alone."""

from __future__ import annotations

import pytest

from proxy.front import front


@pytest.mark.parametrize(
    ("text", "abandoned", "left"),
    [
        ("He\n\nHi", "He\n\n", "Hi"),
        ("He\n\n\n Hi", "He\n\n", "\n Hi"),
        ("He  llo\nHi", "He llo\n\n", "Hi"),
        ("He Hi", " He\n\n", "Hi"),
        ("```\nx\n```\n\nHi", "```\nx\n```\n\n", "Hi"),
        ("answer\n\nHi", "<think>why</think>answer\n\n", "Hi"),
        ("<think>why</think> answer\n\nHi", "answer\n\n", "Hi"),
        ("<think>a\n\n<think>b</think>Hi", "<think>a\n\n", "<think>b</think>Hi"),
        ("<think>h</think>\n\nHi", "  <think>h</think>\n\n", "<think>h</think>\n\nHi"),
        ("foobar", "foo", "bar"),
        ("foo bar", "foob", "ar"),
        ("Hi", "", "Hi"),
        ("He\n\n", "He\n\n", ""),
        ("\U0001f600\n\nHi", "\ud83d\ude00\n\n", "Hi"),
    ],
)
def test_front_is_cut_in_the_clients_own_characters(text: str, abandoned: str, left: str) -> None:
    """White space and think blocks make no difference to what is found."""
    length = front(text, abandoned)
    assert length is not None
    assert text[length:] == left


@pytest.mark.parametrize(
    ("text", "abandoned"), [("Hello", "Help"), ("He", "Hello"), ("", "x"), ("oh He", "He\n\n")]
)
def test_front_of_another_text_is_not_there(text: str, abandoned: str) -> None:
    """What does not begin the message is not cut out of it."""
    assert front(text, abandoned) is None
