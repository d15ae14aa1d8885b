"""Reads a tool call in pieces of any size and writes down everything that the reader told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from proxy.agents import collect, tool_families
from rules_engine.families import ToolFamily
from rules_engine.tools import Section, make_reader

FAMILIES = tool_families(collect(), "")


@dataclass(frozen=True, slots=True)
class Reading:
    """`live`: the sections before the call was closed. `arrivals`: by section, by length."""

    names: tuple[str, ...]
    live: tuple[Section, ...]
    sections: tuple[Section, ...]
    arrivals: tuple[tuple[int, ...], ...]


def read_call(
    name: str,
    raw: str,
    cuts: Iterable[int] = (),
    *,
    freeform: bool = False,
    families: tuple[ToolFamily, ...] = FAMILIES,
) -> Reading:
    """Feed `raw` cut at `cuts`; what `take` gave must add up to `sections`."""
    reader = make_reader(families, freeform=freeform)
    reader.name(name)
    taken: dict[str, str] = {}
    bounds = [0, *cuts, len(raw)]
    for start, end in pairwise(bounds):
        reader.feed(raw[start:end])
        _add(taken, reader.take())
    live = reader.sections
    reader.close()
    _add(taken, reader.take())
    sections = reader.sections
    assert taken == {section.key: section.text for section in sections}
    arrivals = tuple(
        tuple(reader.arrival(section.key, length) for length in range(len(section.text) + 1))
        for section in sections
    )
    return Reading(reader.names, live, sections, arrivals)


def _add(taken: dict[str, str], news: Iterable[Section]) -> None:
    for section in news:
        taken[section.key] = taken.get(section.key, "") + section.text
