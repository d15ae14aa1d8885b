"""`list`, `show`, `lint`, `prompt` and `config`: what is in force, and what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from proxy import config as configuration
from proxy import inventory
from proxy.cli.options import (
    CLEAN,
    VIOLATIONS,
    Agent,
    Config,
    Json,
    Workspace,
    console,
    document,
    reporting,
    rule_names,
    settings_of,
)
from proxy.errors import CannotRun
from proxy.inventory import Entry, Inventory, Wanted, fields, problem_fields, why
from proxy.quantities import how_many
from rules_engine import rulebook
from rules_engine.problems import Severity
from rules_engine.rule import Bucket
from rules_engine.ruleset import Reason

_RuleName = Annotated[
    str, typer.Argument(help="Name of a rule: its file's.", autocompletion=rule_names)
]
_COLOURS = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}


def list_rules(  # noqa: PLR0917 - one parameter a flag
    state: Annotated[
        Literal["in-force", "off"] | None, typer.Option(help="Only rules in this state.")
    ] = None,
    reason: Annotated[
        Reason | None, typer.Option(help="Only rules that are off for this reason.")
    ] = None,
    convention: Annotated[
        str | None, typer.Option(help="Only rules of this convention, such as native or cursor.")
    ] = None,
    bucket: Annotated[Bucket | None, typer.Option(help="Only rules used for this.")] = None,
    explained: Annotated[
        str | None,
        typer.Option(
            "--why", help="Say why this rule is in force or not.", autocompletion=rule_names
        ),
    ] = None,
    agent: Agent = "main",
    workspace: Workspace = None,
    config: Config = None,
    *,
    as_json: Json = False,
) -> None:
    """List every rule that is found here: whether it is in force, as what, and why not."""
    with reporting(as_json=as_json):
        found = inventory.take(settings_of(workspace, config), agent)
        wanted = Wanted(state, reason, convention, bucket)
        entries = [entry for entry in found.entries if wanted.admits(entry)]
        if explained is not None:
            entries = list(_named(found, explained))
    if as_json:
        document([fields(entry) for entry in entries])
    elif explained is not None:
        typer.echo("\n".join(why(entry) for entry in entries))
    else:
        _print_list(entries, found)


def _named(found: Inventory, name: str) -> Sequence[Entry]:
    entries = found.named(name)
    if not entries:
        shown = (each for each in found.entries if each.reason != Reason.BUILTINS_OFF)
        names = ", ".join(sorted({entry.name for entry in shown})) or "none"
        raise CannotRun(f"there is no rule {name!r} here. Available: {names}.")
    return entries


def _print_list(entries: Sequence[Entry], found: Inventory) -> None:
    if entries:
        table = Table("Rule", "State", "As", "Reason", "Convention", "File", box=None)
        for entry in entries:
            off = entry.state == "off"
            how = entry.mode or ("" if off else entry.bucket)
            convention = entry.rule.convention if entry.rule else ""
            cells = (entry.name, entry.state, how, entry.reason or "", convention, entry.path)
            table.add_row(
                *(Text(cell, overflow="fold") for cell in cells), style="dim" if off else None
            )
        console().print(table)
    else:
        typer.echo("No rule matches." if found.entries else "There are no rules here.")
    told = inventory.counted(found.problems)
    if told["errors"] or told["warnings"]:
        errors, warnings = how_many(told["errors"], "error"), how_many(told["warnings"], "warning")
        typer.echo(f"{errors} and {warnings} in rule files: ttsr lint", err=True)


def show(
    name: _RuleName,
    agent: Agent = "main",
    workspace: Workspace = None,
    config: Config = None,
    *,
    as_json: Json = False,
) -> None:
    """Show one rule: its state, its fields, what is wrong with it, and its text."""
    with reporting(as_json=as_json):
        entry = _named(inventory.take(settings_of(workspace, config), agent), name)[0]
    body = entry.rule.body if entry.rule else ""
    if as_json:
        document(fields(entry) | {"body": body})
    else:
        typer.echo("\n".join([why(entry), *_field_lines(fields(entry)), "", body.strip()]))


def _field_lines(values: Mapping[str, Any]) -> Iterator[str]:
    shown = {"name", "path", "problems", "provider", "state", "reason", "bucket"}
    for key, value in values.items():
        if key not in shown and value not in (None, [], False):
            words = ", ".join(map(str, value)) if isinstance(value, list) else value
            yield f"  {key}: {words}"


def lint(
    agent: Agent = "main",
    workspace: Workspace = None,
    config: Config = None,
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail too.")] = False,
    as_json: Json = False,
) -> None:
    """Tell every problem of every rule file. Status 1: there is an error."""
    with reporting(as_json=as_json):
        found = inventory.take(settings_of(workspace, config), agent)
    told = inventory.counted(found.problems)
    if as_json:
        listed = [problem_fields(problem) for problem in found.problems]
        document({"problems": listed, "summary": told})
    else:
        _print_problems(found)
    failed = told["errors"] or (strict and told["warnings"])
    raise typer.Exit(VIOLATIONS if failed else CLEAN)


def _print_problems(found: Inventory) -> None:
    """Tell the problems, and how many files were read, bundled ones apart: perhaps none."""
    out = console()
    for problem in found.problems:
        out.print(Text(problem.render(), _COLOURS[problem.severity]), soft_wrap=True)
    told = inventory.counted(found.problems)
    counts = ", ".join(how_many(told[f"{severity}s"], severity) for severity in Severity)
    own = len({entry.path for entry in found.entries if not entry.bundled})
    typer.echo(f"{counts} in {how_many(own, 'rule file')}")


def prompt(
    agent: Agent = "main",
    workspace: Workspace = None,
    config: Config = None,
    *,
    tools: Annotated[
        bool, typer.Option(help="For a request that declares tools, or for one without.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Print what rules without a trigger add to the system prompt, as the model gets it."""
    with reporting(as_json=as_json):
        found = inventory.take(settings_of(workspace, config), agent)
    text = rulebook.layers(found.ruleset, "", tools=tools)
    if as_json:
        document({"text": text, "always": _in(found, "always"), "rulebook": _in(found, "rulebook")})
    elif text:
        typer.echo(text)
    else:
        typer.echo("No rule here adds anything to the prompt.", err=True)


def _in(found: Inventory, bucket: str) -> list[str]:
    return [entry.name for entry in found.entries if entry.bucket == bucket]


def config(
    workspace: Workspace = None,
    file: Config = None,
    *,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of the settings file.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the settings in force, secrets masked."""
    if schema:
        document(configuration.json_schema())
        return
    with reporting(as_json=as_json):
        flags = {"workspace": workspace and str(workspace)}
        loaded = configuration.load(flags, file=file, need_upstream=False)
    if as_json:
        document(loaded.settings.effective())
        return
    for note in loaded.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(f"# from {loaded.file or 'defaults, environment and flags: there is no ttsr.yaml'}")
    for key, value in _flat(loaded.settings.effective()):
        typer.echo(f"{key}: {value}")


def _flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Every setting under its dotted key, its value as YAML would have it."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", json.dumps(value)
