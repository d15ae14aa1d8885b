"""What went out of an answer is known."""

from __future__ import annotations

from proxy.wire import Decoded
from proxy.wire.openai.envelope import Envelope
from proxy.wire.openai.shown import Shown
from rules_engine.events import FinishReason, TextDelta


def test_text_finish_and_end_are_noted() -> None:
    """Empty text is none."""
    shown = Shown(Envelope("k", "i", "m"))
    shown.hear(Decoded((TextDelta(0, ""),)))
    assert not shown.text
    shown.hear(Decoded((TextDelta(0, "a"), FinishReason(0, "stop")), done=True))
    assert (shown.text, shown.finish, shown.done) == (True, True, True)


def test_it_looks_until_the_answer_is_named() -> None:
    """Behind that no chunk of the first attempt has to be read again."""
    shown = Shown(Envelope("k", "i", "m"))
    assert shown.curious
    shown.look({"id": "a", "created": 1, "model": "x"})
    assert not shown.curious
    assert shown.stamp({"choices": []}) == {
        "choices": [],
        "id": "a",
        "created": 1,
        "model": "x",
        "object": "k",
    }
