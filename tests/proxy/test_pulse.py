"""One timer for all turns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import anyio
import pytest

from proxy.pulse import Living, Pulse

pytestmark = pytest.mark.anyio


class Turn:
    """Notes what it feels; `alive` is set with the second beat. It may `fail` at each."""

    def __init__(self, *, fail: bool = False) -> None:
        self.beats = 0
        self.stopped = 0
        self.alive = anyio.Event()
        self._fail = fail

    def beat(self) -> None:
        self.beats += 1
        if self.beats == 2:
            self.alive.set()
        if self._fail:
            raise ValueError("what a model wrote")

    def stop(self) -> None:
        self.stopped += 1


@contextmanager
def felt(pulse: Pulse, turn: Living) -> Iterator[None]:
    pulse.join(turn)
    try:
        yield
    finally:
        pulse.leave(turn)


async def test_every_turn_is_beaten_again_and_again() -> None:
    """However many there are, and also where there was none for a while."""
    pulse, turns = Pulse(0.02), [Turn() for _ in range(50)]
    with anyio.fail_after(10):
        for _ in range(2):
            with ExitStack() as stack:
                for turn in turns:
                    turn.alive = anyio.Event()
                    turn.beats = 0
                    stack.enter_context(felt(pulse, turn))
                for turn in turns:
                    await turn.alive.wait()
    assert not any(turn.stopped for turn in turns)


async def test_turns_are_stopped_at_the_end_and_those_that_come_later() -> None:
    """A request that was being read when the end came must not run on."""
    pulse, early, late, over = Pulse(), Turn(), Turn(), Turn()
    with felt(pulse, over):
        pass
    with felt(pulse, early):
        pulse.end()
        with felt(pulse, late):
            pass
    assert [early.stopped, late.stopped, over.stopped] == [1, 1, 0]


async def test_a_fault_with_one_turn_harms_no_other(caplog: pytest.LogCaptureFixture) -> None:
    """It is told by its place, without its words."""
    pulse = Pulse(0.02)
    # So many that some share a beat with one that fails.
    turns = [Turn(fail=number % 2 == 0) for number in range(80)]
    with anyio.fail_after(10), ExitStack() as stack:
        for turn in turns:
            stack.enter_context(felt(pulse, turn))
        for turn in turns:
            await turn.alive.wait()
    assert "ValueError in beat" in caplog.text
    assert "what a model wrote" not in caplog.text
