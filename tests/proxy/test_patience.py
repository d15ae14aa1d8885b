from __future__ import annotations

from proxy.patience import Patience


def test_waits_are_what_is_documented() -> None:
    """A turn waits 100 ms for the ledger, 250 ms for its store, 500 ms behind an end mark."""
    waits = Patience()
    assert (waits.ledger_read, waits.ledger_write, waits.end_mark) == (0.1, 0.25, 0.5)
    assert waits.structures == 2
    assert waits.ledger_read < waits.ledger_write < waits.finish_reason < waits.keep_alive
