from __future__ import annotations

from typing import Any

import anyio
import pytest

from proxy.audit import Audit, TurnLabel
from proxy.record import TurnRecorder
from proxy.step import Seen
from proxy.store import HitRecord, TurnRecord
from rules_engine.decisions import Action, Hit
from rules_engine.rule import Rule
from rules_engine.scope import Surface
from tests.support.memory_store import MemoryAuditLog

pytestmark = pytest.mark.anyio

HIT = Hit(Rule("r", "r.md", "native", "body"), Surface.TEXT, 0, 0, 3, 3, "abc")


def seen(action: Action, attempt: int = 1) -> Seen:
    return Seen(HIT, attempt, action, "an outcome")


class Recorded:
    """A recorder over an audit in memory."""

    def __init__(self, **more: Any) -> None:
        self.hits: list[HitRecord] = []
        self._log = MemoryAuditLog()
        self.audit = Audit(self._log, listeners=[self.hits.extend])
        label = TurnLabel("c", "t", "agent", "model")
        self.recorder = TurnRecorder(self.audit, label, "/w", lambda: 7.0, 2, **more)

    async def turns(self) -> list[TurnRecord]:
        async with anyio.create_task_group() as group:
            group.start_soon(self.audit.run)
            await anyio.wait_all_tasks_blocked()
            await self.audit.close()
        return self._log.turn_rows


async def test_hits_are_recorded_as_they_happen() -> None:
    """With attempt, action and outcome, and an excerpt of the wanted length; none is no row."""
    recorded = Recorded()
    recorded.recorder.see([seen(Action.INTERRUPT, 2)])
    recorded.recorder.see([])
    (row,) = recorded.hits
    assert (row.attempt, row.action, row.outcome, row.time) == (2, "interrupt", "an outcome", 7.0)
    assert len(row.excerpt) <= 2


async def test_turn_is_recorded_once() -> None:
    """The first end counts; remarks stand behind it, each once."""
    recorded = Recorded(unledgered=True)
    recorder = recorded.recorder
    recorder.outcome = "completed"
    recorder.remark("slow")
    recorder.remark("slow")
    recorder.remark("odd")
    recorder.close(3, 12, [None, {"total_tokens": 1}])
    recorder.close(9, 9, [])
    (turn,) = await recorded.turns()
    assert turn.outcome == "completed; slow; odd"
    assert (turn.attempts, turn.withheld_characters, turn.workspace) == (3, 12, "/w")
    assert turn.usage == (None, {"total_tokens": 1})
    assert turn.unledgered


@pytest.mark.parametrize(
    ("actions", "outcome", "cured"),
    [
        ([], "completed", None),
        ([Action.OBSERVED, Action.PROSE_REMINDER, Action.TOOL_REMINDER], "completed", None),
        ([Action.INTERRUPT], "completed", True),
        ([Action.REFUSE, Action.PROSE_REMINDER], "completed", True),
        ([Action.INTERRUPT, Action.EXHAUSTED], "completed", False),
        ([Action.INTERRUPT], "failed", False),
        ([Action.REFUSE], "client left", False),
        ([Action.EXHAUSTED], "completed", None),
    ],
)
async def test_turn_is_cured_when_a_stopped_answer_came_right(
    actions: list[Action], outcome: str, *, cured: bool | None
) -> None:
    """True: stopped, then completed with nothing exhausted; None: nothing was stopped."""
    recorded = Recorded()
    recorded.recorder.see([seen(action) for action in actions])
    recorded.recorder.outcome = outcome
    recorded.recorder.close(1, 0, [])
    (turn,) = await recorded.turns()
    assert turn.cured is cured
