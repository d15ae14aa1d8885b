"""What makes a rule hit, as its file says it: conditions, structures, and the scope they add."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from rules_engine.frontmatter.fields import Fields, camel
from rules_engine.frontmatter.values import Value
from rules_engine.globs import Glob
from rules_engine.problems import Code
from rules_engine.rule import CATCH_ALL
from rules_engine.scope import DEFAULT_SCOPE, ScopeToken, Surface, parse_scope

_CONDITIONS = ("condition", "ttsr_trigger", "ttsrTrigger")
_NAMES_BELOW = ("utils", "constraints")


@dataclass(frozen=True, slots=True)
class Conditions:
    """Patterns, and the tokens that conditions which look like paths add to the scope."""

    patterns: tuple[str, ...]
    tokens: tuple[ScopeToken, ...]
    catch_all: bool


def read_conditions(fields: Fields) -> Conditions:
    """Conditions under their present or legacy key, the first that is not null.

    A string is one pattern: commas never split it. A path becomes an edit and a write token, and
    the catch-all stands in where no pattern is left (oh-my-pi).
    """
    key = next((key for key in _CONDITIONS if fields.has(key)), _CONDITIONS[0])
    written = fields.strings(key) or ()
    entries = (written,) if isinstance(written, str) else written
    conditions = tuple(dict.fromkeys(bare for entry in entries if (bare := entry.strip())))
    paths = tuple(condition for condition in conditions if looks_like_glob(condition))
    for path in paths:
        fields.report(Code.GLOB_CONDITION, key, path)
        if Glob(path).malformed:
            fields.report(Code.BAD_GLOB, key, path)
    patterns = tuple(condition for condition in conditions if condition not in paths)
    catch_all = bool(paths) and not patterns
    return Conditions((CATCH_ALL,) if catch_all else patterns, _tokens(paths), catch_all)


def looks_like_glob(condition: str) -> bool:
    """Whether a condition is a path rather than a pattern, by oh-my-pi's test."""
    if re.search(r"[\\^$+|()]", condition) or not re.search(r"[?*\[\]{}]", condition):
        return False
    return "/" in condition or re.fullmatch(r"\*\.[^\s/]+", condition) is not None


def _tokens(paths: tuple[str, ...]) -> tuple[ScopeToken, ...]:
    return tuple(
        ScopeToken(Surface.TOOL, tool, Glob(path)) for path in paths for tool in ("edit", "write")
    )


def read_scope(fields: Fields, added: tuple[ScopeToken, ...], file: str) -> tuple[ScopeToken, ...]:
    """Join the declared scope and what is added to it; the default where neither is there."""
    if not fields.has("scope"):
        return added or DEFAULT_SCOPE
    # A scope of the wrong type must not widen the rule to the default one.
    written = fields.strings("scope") or ()
    declared, problems = parse_scope(written, file=file, line=fields.line("scope"))
    fields.problems.extend(problems)
    scope = tuple(dict.fromkeys((*declared, *added)))
    if not scope:
        fields.report(Code.UNREACHABLE_SCOPE, "scope", fields.value("scope"))
    return scope


def read_structures(fields: Fields) -> tuple[str, ...]:
    """Structure patterns verbatim; a rule object as the canonical JSON of a core with `rule`."""
    value = fields.value("astCondition")
    entries = value if isinstance(value, list) else [] if value is None else [value]
    found: list[str] = []
    for entry in entries:
        if isinstance(entry, dict) and entry:
            found.append(_core(entry))
        elif isinstance(entry, str):
            found += [entry] if entry.strip() else []
        else:
            fields.report(Code.WRONG_TYPE, "astCondition", entry, "a pattern or a rule object")
    return tuple(dict.fromkeys(found))


def _core(entry: dict[str, Value]) -> str:
    named = _camel_keys(entry)
    core = named if "rule" in named else {"rule": named}
    return json.dumps(core, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _camel_keys(value: Value, *, names: bool = False) -> Value:
    """Keys in camel case at every depth, but for names that the author gave."""
    if isinstance(value, list):
        return [_camel_keys(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key if names else camel(key): _camel_keys(item, names=not names and key in _NAMES_BELOW)
        for key, item in value.items()
    }
