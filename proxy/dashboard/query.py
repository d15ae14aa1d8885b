"""Query parameters of the audit's routes: read strictly, refused by name; pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TypeVar

from proxy.store import HitQuery
from rules_engine.decisions import Action
from rules_engine.scope import Surface

MOST_ROWS = 1000
ROWS = 100

_LIMIT_ALLOWED = f"a whole number from 1 to {MOST_ROWS}"
_CURSOR_ALLOWED = "the `next` of an earlier answer"
_SINCE_ALLOWED = "Unix time in seconds, or an ISO 8601 time such as 2026-01-31T12:00:00Z"
_LARGEST_ID = 2**63 - 1

Parameters = Mapping[str, str]
T = TypeVar("T")


class BadParameter(Exception):  # noqa: N818 - a fault of the request, named by what is wrong
    """A parameter that cannot be used: its name, what it was, what may stand there."""

    def __init__(self, name: str, value: str, allowed: str) -> None:
        super().__init__(f"parameter `{name}` is {value!r}; allowed: {allowed}")
        self.name = name
        self.value = value
        self.allowed = allowed


def hit_query(pairs: Iterable[tuple[str, str]]) -> HitQuery:
    """Read the filters of `/audit/hits`; raises `BadParameter`. Empty values count as absent."""
    given = _given(pairs, ("rule", "surface", "action", "conversation", "since", "limit", "cursor"))
    return HitQuery(
        rule=given.get("rule"),
        surface=_one_of(given, "surface", [surface.value for surface in Surface]),
        action=_one_of(given, "action", [action.value for action in Action]),
        conversation=given.get("conversation"),
        since=_read(given, "since", _time, _SINCE_ALLOWED),
        limit=_limit(given),
        cursor=_read(given, "cursor", _whole(1, _LARGEST_ID), _CURSOR_ALLOWED),
    )


def turn_limit(pairs: Iterable[tuple[str, str]]) -> int:
    """Read the only parameter of `/audit/turns`; raises `BadParameter`."""
    return _limit(_given(pairs, ("limit",)))


def no_parameters(pairs: Iterable[tuple[str, str]]) -> None:
    """Refuse any parameter; raises `BadParameter`."""
    _given(pairs, ())


def _given(pairs: Iterable[tuple[str, str]], known: tuple[str, ...]) -> Parameters:
    """Check the names: a misspelt filter must not answer as if it were not there."""
    given: dict[str, str] = {}
    for name, value in pairs:
        if name not in known:
            allowed = f"one of the parameters {', '.join(known)}" if known else "no parameters"
            raise BadParameter(name, value, allowed)
        if name in given:
            raise BadParameter(name, value, "at most one value")
        if value:
            given[name] = value
    return given


def _limit(given: Parameters) -> int:
    limit = _read(given, "limit", _whole(1, MOST_ROWS), _LIMIT_ALLOWED)
    return ROWS if limit is None else limit


def _one_of(given: Parameters, name: str, allowed: list[str]) -> str | None:
    value = given.get(name)
    if value is not None and value not in allowed:
        raise BadParameter(name, value, ", ".join(allowed))
    return value


def _read(given: Parameters, name: str, read: Callable[[str], T], allowed: str) -> T | None:
    if name not in given:
        return None
    try:
        return read(given[name])
    except (ValueError, OverflowError):
        raise BadParameter(name, given[name], allowed) from None


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit()) or not least <= int(text) <= most:
            raise ValueError(text)
        return int(text)

    return read


def _time(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        # A plus sign that was not percent-encoded arrives as a space.
        moment = datetime.fromisoformat(text.replace(" ", "+") if "T" in text else text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not math.isfinite(seconds):
        raise ValueError(text)
    return seconds
