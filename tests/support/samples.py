"""What an agent was seen to send, and what must be made of it; one table an agent.

A table stands in `tests/proxy/agents/samples/<agent>.py` as `SAMPLES`.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import tests.proxy.agents.samples
from rules_engine.families import ProseFormat


@dataclass(frozen=True, slots=True)
class Request:
    """One request, as far as it says who sent it; then what is to be read out of that.

    declared: the tools that it declares; tools_off: it lets none be called.
    formats, path: the edits that its answer may hold.
    """

    headers: tuple[tuple[str, str], ...] = ()
    system: str = ""
    declared: tuple[str, ...] = ()
    tools_off: bool = False
    first_user: str = ""
    last_user: str = ""
    hints: tuple[tuple[str, str], ...] = ()
    role: Literal["main", "sub"] = "main"
    session: str | None = None
    workspace: str | None = None
    side: bool = False
    formats: frozenset[ProseFormat] = frozenset()
    path: str = ""


@dataclass(frozen=True, slots=True)
class Added:
    """A section: its files, its text, and what a scope may call the tool beside its own name.

    Files and names are words with blanks between.
    """

    paths: str
    text: str
    names: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A call, and every section of it. `raw`: what it sends, JSON unless `freeform`."""

    tool: str
    raw: str
    snapshot: tuple[Added, ...]
    freeform: bool = False

    def __str__(self) -> str:
        return self.tool


def call(tool: str, arguments: Any, *snapshot: Added) -> Call:
    """A call with JSON arguments."""
    return Call(tool, json.dumps(arguments), snapshot)


def raw_call(tool: str, text: str, *snapshot: Added) -> Call:
    """A call whose input is no JSON."""
    return Call(tool, text, snapshot, freeform=True)


def seen(headers: Mapping[str, str] | None = None, **told: Any) -> Request:
    """A request; headers as a mapping."""
    return Request(tuple((headers or {}).items()), **told)


@dataclass(frozen=True, slots=True)
class Samples:
    """What one agent sends."""

    requests: tuple[Request, ...]
    calls: tuple[Call, ...] = ()


def collect() -> dict[str, Samples]:
    """The tables by the name of their file, which is that of the agent's."""
    package = tests.proxy.agents.samples
    modules = (module.name for module in pkgutil.iter_modules(package.__path__))
    return {name: importlib.import_module(f"{package.__name__}.{name}").SAMPLES for name in modules}
