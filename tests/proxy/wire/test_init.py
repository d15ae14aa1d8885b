from __future__ import annotations

import pytest

from proxy.wire import Decoded
from rules_engine.events import FinishReason, TextDelta, ThinkingDelta

TEXT = TextDelta(0, "a")


def test_an_event_that_carries_one_piece_of_text_says_so() -> None:
    """Such events may be fed together with their neighbours."""
    assert Decoded((TEXT,)).only_text is TEXT


@pytest.mark.parametrize(
    "decoded",
    [Decoded(), Decoded((TEXT, TEXT)), Decoded((TEXT, FinishReason(0, "stop"))),
     Decoded((ThinkingDelta(0, "a"),)), Decoded((TEXT,), usage={}), Decoded((TEXT,), error=True),
     Decoded(done=True)],
)  # fmt: skip
def test_any_other_event_is_fed_alone(decoded: Decoded) -> None:
    """Whatever else it carries must be noted when its turn comes, not before."""
    assert decoded.only_text is None
