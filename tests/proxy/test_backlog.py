from __future__ import annotations

from proxy.backlog import Backlog
from proxy.sse import SseEvent
from proxy.wire import Decoded
from rules_engine.events import FinishReason, TextDelta, ThinkingDelta


def test_events_go_in_the_order_in_which_they_came() -> None:
    """Each knows its ordinal and how much of the first choice's prose it carries."""
    backlog = Backlog()
    backlog.add(SseEvent(b"12345", None), Decoded((TextDelta(0, "ab"), TextDelta(1, "xyz"))))
    backlog.add(SseEvent(b"123", None), Decoded((ThinkingDelta(0, "abc"), FinishReason(0, "x"))))
    assert (backlog.count, backlog.size) == (2, 8)
    first = backlog.first(0)
    assert first is not None
    assert (first.ordinal, first.text, first.thinking) == (0, 2, 0)
    backlog.drop_first()
    assert backlog.first(0) is None
    second = backlog.first(1)
    assert second is not None
    assert (second.ordinal, second.text, second.thinking) == (1, 0, 3)
    assert backlog.size == 3


def test_ordinals_go_on_behind_what_was_dropped() -> None:
    """Events count from the attempt's begin, whatever became of those before."""
    backlog = Backlog()
    backlog.add(SseEvent(b"a", None), Decoded())
    backlog.clear()
    assert not backlog
    assert backlog.size == 0
    backlog.add(SseEvent(b"b", None), Decoded())
    assert [held.ordinal for held in backlog] == [1]
