"""Whether what is found depends on where a text is cut: random windows against the oracle.

`python -m bench.cuts [triples]` compares that many (pattern, text, cut) triples, shared out among
the cores, with each scanner: piece by piece to a window that asks every pattern everything, and
the hits to one search of the finished text. Nothing of it is timed.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from random import Random

from bench.findings import Finding, Section, main, table
from tests.support.window_trials import run

TRIPLES = 100_000


@dataclass(frozen=True, slots=True)
class Share:
    """What one process compared. `difference`: what it met, where it stopped; mostly nothing."""

    seed: int
    triples: int
    difference: str = ""


def compared(seed: int, triples: int) -> Share:
    """Compare at least so many."""
    try:
        return Share(seed, run(Random(seed), triples))
    except AssertionError as difference:
        return Share(seed, 0, str(difference))


def section(triples: int) -> Section:
    """Compare everything; a difference is a missed target, and stands in the table whole."""
    cores = len(os.sched_getaffinity(0))
    each = -(-triples // cores)
    with ProcessPoolExecutor(cores) as pool:
        shares = list(pool.map(compared, range(1, cores + 1), [each] * cores))
    rows = [(str(s.seed), f"{s.triples:,}", s.difference or "none") for s in shares]
    found = sum(bool(share.difference) for share in shares)
    total = sum(share.triples for share in shares)
    what = "any cut of any text: hits, hold positions and hits of the whole, against the oracle"
    measured = f"{found} of {total:,} triples" if not found else f"{found}, at which it stopped"
    finding = Finding("12", what, "0 differences", measured, not found)
    head = ("seed", "(pattern, text, cut) triples", "differences")
    above = "Each with both scanners, and with and without searches that are put together."
    return Section("Cuts", [above, "", *table(head, rows)], [finding])


if __name__ == "__main__":
    main(section, TRIPLES)
