"""How many Python functions are called meanwhile: work that is the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Self


class PythonCalls:
    """Counts calls on this thread from the beginning of a `with` to its end, or to `stop`."""

    def __init__(self) -> None:
        self.number = 0

    def __enter__(self) -> Self:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Count no more."""
        sys.setprofile(None)

    def _note(self, _frame: FrameType, event: str, _argument: object) -> None:
        self.number += event == "call"


def calls_of(work: Callable[[], object]) -> int:
    """Count what a piece of work calls."""
    with PythonCalls() as calls:
        work()
    return calls.number
