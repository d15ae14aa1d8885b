"""Sizes (`64MiB`), durations (`30d`) and counts (`2 errors`) as people write them; pure."""

from __future__ import annotations

import re

_UNITS_OF_SIZE = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}
_UNITS_OF_TIME = {
    "": 1.0,
    "ms": 0.001,
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "w": 604800.0,
}
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")


def how_many(number: int, noun: str) -> str:
    """Say how many there are: `1 error`, `2 errors`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size(value: object) -> object:
    """Bytes; a plain number is bytes. Raises ValueError naming the units. Non-text passes."""
    if not isinstance(value, str):
        return value
    number, unit = _parts(value, "a size such as 64MiB, 500kB or a number of bytes")
    if unit not in _UNITS_OF_SIZE:
        raise ValueError("should be a size in B, kB, MB, GB, KiB, MiB or GiB")
    return int(number * _UNITS_OF_SIZE[unit])


def duration(value: object) -> object:
    """Seconds; a plain number is seconds. Raises ValueError naming the units. Non-text passes."""
    if not isinstance(value, str):
        return value
    number, unit = _parts(value, "a duration such as 30d, 10m, 500ms or a number of seconds")
    if unit not in _UNITS_OF_TIME:
        raise ValueError("should be a duration in ms, s, m, h, d or w")
    return number * _UNITS_OF_TIME[unit]


def _parts(value: str, what: str) -> tuple[float, str]:
    found = _QUANTITY.fullmatch(value)
    if found is None:
        raise ValueError(f"should be {what}")
    return float(found[1]), found[2].lower()
