from __future__ import annotations

import anyio
import pytest

from proxy.drain import Drain
from proxy.errors import Overloaded, Stopping

pytestmark = pytest.mark.anyio


async def test_turns_are_counted_up_to_the_limit() -> None:
    """One more is told to come back; afterwards there is room again."""
    drain = Drain(limit=1)
    with drain.turn():
        assert drain.turns == 1
        with pytest.raises(Overloaded, match=r"limits\.turns") as caught, drain.turn():
            pass
        assert caught.value.retry_after == 1
    with drain.turn():
        pass
    assert drain.turns == 0


async def test_a_failing_turn_is_uncounted() -> None:
    """Whatever it raises."""
    drain = Drain(limit=1)
    with pytest.raises(ValueError, match="x"), drain.turn():
        raise ValueError("x")
    assert drain.turns == 0


async def test_stopping_refuses_new_turns_and_ends_streams_first() -> None:
    """What would never end by itself is told at once."""
    told: list[str] = []
    drain = Drain(limit=5, grace=60)
    drain.at_stop(lambda: told.append("stop"))
    async with anyio.create_task_group() as group:
        group.start_soon(drain.run)
        await anyio.wait_all_tasks_blocked()
        assert told == ["stop"]
        with pytest.raises(Stopping), drain.turn():
            pass
        group.cancel_scope.cancel()


async def test_turns_are_told_before_they_are_cut() -> None:
    """They have a moment for last words."""
    drain = Drain(limit=5, grace=0, last_words=0)
    said: list[str] = []
    ending = anyio.Event()
    drain.at_ending(ending.set)

    async def turn() -> None:
        with drain.turn():
            await ending.wait()
            said.append("last words")
            await anyio.sleep_forever()
        said.append("cut")

    async with anyio.create_task_group() as group:
        group.start_soon(turn)
        await anyio.wait_all_tasks_blocked()
        group.start_soon(drain.run)
    assert said == ["last words", "cut"]
