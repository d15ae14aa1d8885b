"""A new rule file: rendered, read back and built, and written only if nothing is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from proxy.errors import CannotRun
from proxy.inventory import Inventory
from rules_engine.frontmatter import parse_rule
from rules_engine.problems import Problem, Severity
from rules_engine.rule import InterruptMode
from rules_engine.ruleset import RuleSetOptions, build

_FORBIDDEN = frozenset('<>:"|?*\0')
_LONGEST = 128


@dataclass(frozen=True, slots=True)
class Draft:
    """What the author wants. Without a trigger the rule always stands in the prompt, or is
    offered there by its description.
    """  # noqa: D205 - one sentence and its alternative

    name: str
    body: str
    description: str = ""
    conditions: tuple[str, ...] = ()
    structures: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    interrupt_mode: InterruptMode | None = None
    always_apply: bool = False


def render(draft: Draft) -> str:
    """Write the file: frontmatter, blank line, body."""
    text = "\n".join(["---", *_fields(draft), "---", "", draft.body.strip(), ""])
    return text.encode("utf-8", "replace").decode()


def _fields(draft: Draft) -> Iterator[str]:
    if draft.description.strip():
        yield f"description: {_scalar(draft.description.strip())}"
    if draft.always_apply:
        yield "alwaysApply: true"
    yield from _list("condition", draft.conditions)
    yield from _list("astCondition", draft.structures)
    yield from _list("scope", draft.scope)
    yield from _list("globs", draft.globs)
    if draft.interrupt_mode is not None:
        yield f"interruptMode: {draft.interrupt_mode}"


def _list(key: str, values: Sequence[str]) -> Iterator[str]:
    if values:
        yield f"{key}:"
        yield from (f"  - {_scalar(value)}" for value in values)


def _scalar(text: str) -> str:
    """Single quotes leave a pattern's backslashes alone; what they cannot hold is escaped."""
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in escaped) + '"'


def refused_name(name: str) -> str | None:
    """Say why a name cannot be a file's, or None."""
    if not name.strip():
        return "a rule needs a name"
    if "/" in name or "\\" in name or ".." in name or name.startswith("."):
        return f"the name {name!r} is a path; a rule's name is its file's, without a directory"
    if _FORBIDDEN & set(name) or not name.isprintable() or len(name) > _LONGEST:
        return f"the name {name!r} cannot be a file's name everywhere; use letters, digits and -"
    return None


def faults(draft: Draft) -> tuple[Problem, ...]:
    """Everything that would be wrong with the file, as `ttsr lint` would say it."""
    rule, problems = parse_rule(render(draft), draft.name, f"{draft.name}.md", "native")
    return problems if rule is None else build((rule,), RuleSetOptions(), problems).problems


def write(draft: Draft, directory: Path, inventory: Inventory) -> Path:
    """Write the file to a directory, which is made; raises CannotRun and leaves nothing behind."""
    refusal = refused_name(draft.name)
    if refusal:
        raise CannotRun(f"{refusal}.")
    known = inventory.named(draft.name)
    if known:
        raise CannotRun(f"there is a rule {draft.name} in {known[0].path}; edit that file instead.")
    found = faults(draft)
    if any(problem.severity is Severity.ERROR for problem in found):
        told = "\n".join(f"  {problem.render()}" for problem in found)
        raise CannotRun(f"the rule was not written, since it would not work:\n{told}")
    path = directory / f"{draft.name}.md"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _create(path, render(draft))
    except FileExistsError:
        raise CannotRun(f"{path} is there already and was left as it is; edit it.") from None
    except OSError as error:
        raise CannotRun(f"{path} cannot be written: {error.strerror}.") from None
    return path


def _create(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except BaseException:
            path.unlink(missing_ok=True)
            raise
