"""Ways to cut bytes into reads: every split, byte by byte, at given offsets, at random."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator


def at_offsets(data: bytes, offsets: Iterable[int]) -> list[bytes]:
    """Cut at `offsets`; those outside the data, and double ones, count for nothing."""
    borders = [0, *sorted({o for o in offsets if 0 < o < len(data)}), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(borders)]


def byte_by_byte(data: bytes) -> list[bytes]:
    """Cut into single bytes."""
    return at_offsets(data, range(len(data)))


def every_split(data: bytes) -> Iterator[list[bytes]]:
    """Cut into two reads in every way, the uncut data first."""
    for offset in range(len(data)):
        yield at_offsets(data, [offset])


def random_splits(data: bytes, seed: int) -> list[bytes]:
    """Cut at random places, the same ones for the same seed; some reads are empty."""
    source = random.Random(seed)
    count = source.randint(1, max(1, min(len(data), 40)))
    reads = at_offsets(data, [source.randint(0, len(data)) for _ in range(count)])
    reads.insert(source.randint(0, len(reads)), b"")
    return reads
