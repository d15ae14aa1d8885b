"""A queue that is small when empty."""

from __future__ import annotations

import sys
from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from proxy.few import Few

STEPS = st.lists(st.sampled_from(["append", "appendleft", "popleft", "clear"]), max_size=40)


@given(STEPS)
def test_few_does_what_a_deque_does(steps: list[str]) -> None:
    """Whatever is done with it."""
    few, many = Few[int](), deque[int]()
    for number, step in enumerate(steps):
        if step == "popleft":
            if many:
                assert few.popleft() == many.popleft()
        elif step == "clear":
            few.clear()
            many.clear()
        else:
            getattr(few, step)(number)
            getattr(many, step)(number)
        assert list(few) == list(many)
        assert (bool(few), len(few)) == (bool(many), len(many))


def test_few_is_small_when_empty() -> None:
    """That is all that it is for."""
    assert sys.getsizeof(Few()) * 5 < sys.getsizeof(deque())
