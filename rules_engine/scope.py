"""The scope grammar: which surfaces, tools and paths a rule watches.

Grammar and meaning are oh-my-pi's (`.` in tool names added): `text`, `thinking`, `tool`,
`tool:edit(*.rs)`, `tool(*.ts)`, a bare tool name. Tokens are alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rules_engine.globs import Glob, split_commas
from rules_engine.problems import Code, Problem


class Surface(StrEnum):
    """Where output appears. OMP calls it the source."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ScopeToken:
    """One alternative of a scope. `tool` None means every tool; only tool tokens carry a glob.

    `tool` is lower case.
    """

    surface: Surface
    tool: str | None = None
    glob: Glob | None = None


DEFAULT_SCOPE = (ScopeToken(Surface.TEXT), ScopeToken(Surface.TOOL))

_TOKEN = re.compile(
    r"(?:(?P<every>tool|toolcall)(?::(?P<named>[\w.-]+))?|(?P<bare>[\w.-]+))"
    r"(?:\((?P<glob>[^()]+)\))?",
    re.IGNORECASE | re.ASCII,
)


def parse_scope(
    value: str | Sequence[str], *, file: str, line: int | None = None
) -> tuple[tuple[ScopeToken, ...], tuple[Problem, ...]]:
    """Read the tokens of a comma-separated string or of a list of such.

    A token that cannot be read is a problem and left out; none left: the scope reaches nothing.
    """
    written = [value] if isinstance(value, str) else value
    tokens: list[ScopeToken] = []
    problems: list[Problem] = []
    for part in (part for entry in written for part in split_commas(entry)):
        token = _parse_token(part)
        if token is None:
            problems.append(Problem(Code.BAD_SCOPE, file, "scope", line, part))
            continue
        tokens.append(token)
        if token.glob and token.glob.malformed:
            problems.append(Problem(Code.BAD_GLOB, file, "scope", line, token.glob.pattern))
    return tuple(dict.fromkeys(tokens)), tuple(problems)


def _parse_token(part: str) -> ScopeToken | None:
    match = _TOKEN.fullmatch(part.strip())
    if match is None:
        return None
    glob = Glob(match["glob"].strip()) if match["glob"] else None
    bare = (match["bare"] or "").lower()
    if bare in (Surface.TEXT, Surface.THINKING):
        return None if glob else ScopeToken(Surface(bare))
    name = (match["named"] or bare).lower()
    return ScopeToken(Surface.TOOL, name or None, glob)


def admits(
    tokens: Sequence[ScopeToken],
    surface: Surface,
    tool_names: Sequence[str] = (),
    candidates: Sequence[str] | None = None,
) -> bool:
    """Whether one of the tokens covers this output.

    `tool_names`: the tool's own name and its canonical ones, in any case. `candidates`: forms of
    the call's path; None or empty where it has none, and then a token with a glob does not hold.
    """
    names = {name.lower() for name in tool_names}
    return any(
        token.surface is surface
        and (token.tool is None or token.tool in names)
        and (token.glob is None or token.glob.matches(candidates or ()))
        for token in tokens
    )


def may_admit(
    tokens: Sequence[ScopeToken], surface: Surface, tool_names: Sequence[str] = ()
) -> bool:
    """Whether an output could be covered once its path is known.

    No tool names: the call is not named yet, so any tool token may come to cover it.
    """
    names = {name.lower() for name in tool_names}
    return any(
        token.surface is surface
        and (token.tool is None or not names or token.tool in names)
        and (token.glob is None or not token.glob.malformed)
        for token in tokens
    )
