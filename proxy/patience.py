"""How long a turn waits for what, in seconds; pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """The waits of one turn.

    ledger_read: for the conversation's splices. ledger_write: for what the turn leaves.
    end_mark: in which bytes behind the end mark are still passed on. finish_reason: of silence
    after which a finish reason is the end. keep_alive: after which a client that waits on us is
    sent a comment. structures: for all of a message's searches for structures, unless tiny.
    """

    ledger_read: float = 0.1
    ledger_write: float = 0.25
    end_mark: float = 0.5
    finish_reason: float = 5.0
    keep_alive: float = 10.0
    structures: float = 2.0
