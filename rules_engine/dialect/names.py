"""Names of capturing groups: how they are spelt, and which may be used twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import regex

from rules_engine.dialect.escapes import HEXADECIMAL
from rules_engine.dialect.source import Cursor
from rules_engine.dialect.units import join_units

_NAME = regex.compile(r"[$_\p{ID_Start}][$_\u200c\u200d\p{ID_Continue}]*")
_LAST_CODE_POINT = 0x10FFFF

Branch = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Census:
    """What the whole source decides for every escape in it: its groups and their names."""

    groups: int
    names: Mapping[str, tuple[int, ...]]


def take_census(cursor: Cursor) -> Census:
    """Count the capturing groups and collect their names, from the cursor to the end."""
    names: dict[str, tuple[int, ...]] = {}
    groups = 0
    in_class = False
    while cursor.more:
        char = cursor.take()
        if char == "\\":
            cursor.at += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char == "(":
            named = _skip_name_head(cursor)
            groups += named or not cursor.sees("?")
            if named:
                name = read_name(cursor)
                names[name] = (*names.get(name, ()), groups)
    return Census(groups, names)


def _skip_name_head(cursor: Cursor) -> bool:
    if cursor.skip("?P<"):
        return True
    return not cursor.sees("?<=") and not cursor.sees("?<!") and cursor.skip("?<")


def read_name(cursor: Cursor) -> str:
    r"""Read a name and its closing `>`, the cursor being behind the `<`. \u escapes count."""
    start = cursor.at
    spelt: list[str] = []
    while not cursor.skip(">"):
        if not cursor.more:
            raise cursor.error("this group name is not closed; add >", start)
        spelt.append(_read_escaped(cursor) if cursor.skip("\\") else cursor.take())
    name = join_units("".join(spelt))
    if _NAME.fullmatch(name) is None:
        raise cursor.error(
            "this is no group name; use letters, digits, _ and $, no digit first", start
        )
    return name


def _read_escaped(cursor: Cursor) -> str:
    start = cursor.at - 1
    if cursor.skip("u{"):
        digits = cursor.take_while(HEXADECIMAL, 8)
        good = bool(digits) and cursor.skip("}")
    else:
        good = cursor.skip("u")
        digits = cursor.take_while(HEXADECIMAL, 4)
        good = good and len(digits) == 4  # noqa: PLR2004 - \uXXXX has four digits
    if not good or int(digits, 16) > _LAST_CODE_POINT:
        raise cursor.error(r"only \u escapes are allowed in a group name", start)
    return chr(int(digits, 16))


def may_share(left: Branch, right: Branch) -> bool:
    """Whether two groups stand in different alternatives of one choice, so that one is unset."""
    taken = dict(left)
    return any(taken.get(choice, option) != option for choice, option in right)
