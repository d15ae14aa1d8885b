"""`ttsr serve` as it is, which also writes on SIGUSR1 what tasks its event loop has.

The proxy itself has no door for that, and gets none: the handler is the soak's own.
"""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from proxy.cli import main

FILE = "SOAK_TASKS"


def tell(*_: object) -> None:
    """Write a line for each task, then put the file in its place."""
    names = sorted(str(task.get_coro()).partition(" at 0x")[0] for task in asyncio.all_tasks())
    target = Path(os.environ[FILE])
    fresh = target.with_suffix(".new")
    fresh.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    fresh.replace(target)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, tell)
    main()
