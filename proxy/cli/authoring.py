"""`new` and `migrate`: rule files are written and moved, never overwritten."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from proxy import inventory
from proxy import migrate as migrating
from proxy.cli.options import (
    CLEAN,
    VIOLATIONS,
    Config,
    Json,
    Workspace,
    document,
    reporting,
    settings_of,
)
from proxy.errors import CannotRun
from proxy.migrate import Axes
from proxy.newrule import Draft, faults, refused_name, write
from proxy.rulehomes import Convention, Owner, RuleHomes
from rules_engine.rule import InterruptMode


def new(  # noqa: PLR0917 - one parameter a flag
    name: Annotated[
        str | None, typer.Argument(help="The rule's name; asked for if left out.")
    ] = None,
    body: Annotated[str | None, typer.Option(help="What the model should be told.")] = None,
    description: Annotated[str | None, typer.Option(help="What the rule is about.")] = None,
    condition: Annotated[
        list[str] | None, typer.Option(help="ECMAScript pattern that must not appear.")
    ] = None,
    ast_condition: Annotated[
        list[str] | None, typer.Option(help="ast-grep pattern that must not appear.")
    ] = None,
    scope: Annotated[
        list[str] | None, typer.Option(help="Where to look: text, thinking, tool:edit(*.ts), …")
    ] = None,
    globs: Annotated[
        list[str] | None, typer.Option("--glob", help="Files that it is about.")
    ] = None,
    mode: Annotated[
        InterruptMode | None, typer.Option("--interrupt-mode", help="Where a hit interrupts.")
    ] = None,
    convention: Annotated[
        Convention | None,
        typer.Option(help="Where the file goes; left out, omp where it has rules, else dsh."),
    ] = None,
    workspace: Workspace = None,
    config: Config = None,
    *,
    always: Annotated[
        bool, typer.Option("--always-apply", help="No trigger: it always stands in the prompt.")
    ] = False,
    user: Annotated[bool, typer.Option("--user", help="For yourself, in every project.")] = False,
    as_json: Json = False,
) -> None:
    """Write a new rule file. What is left out is asked for, where somebody can answer."""
    with reporting(as_json=as_json):
        settings = settings_of(workspace, config)
        asks = sys.stdin.isatty() and not as_json
        conditions, structures = tuple(condition or ()), tuple(ast_condition or ())
        draft = Draft(
            name=name if name is not None else _name(asks=asks),
            conditions=conditions or _conditions(asks=asks and not (structures or always)),
            structures=structures,
            scope=tuple(scope or ()),
            globs=tuple(globs or ()),
            description=_asked("What is it about, in one line", description, "", asks=asks),
            body=_asked("What should the model be told", body, None, asks=asks),
            interrupt_mode=mode,
            always_apply=always,
        )
        homes = RuleHomes.of(settings)
        owner: Owner = "user" if user else "project"
        directory = homes.directory(convention or homes.chosen(owner), owner)
        path = write(draft, directory, inventory.take(settings))
    _tell_new(path, draft, as_json=as_json)


def _name(*, asks: bool) -> str:
    while asks:
        name = str(typer.prompt("Name of the rule")).strip()
        refusal = refused_name(name)
        if refusal is None:
            return name
        typer.echo(f"{refusal}.", err=True)
    raise CannotRun("the rule has no name; give one as the argument.")


def _conditions(*, asks: bool) -> tuple[str, ...]:
    """Ask until the pattern can be used, or is left out."""
    while asks:
        pattern = str(typer.prompt("Pattern that must not appear (empty: none)", default="",
                                   show_default=False))  # fmt: skip
        if not pattern:
            break
        found = faults(Draft("new", "x", conditions=(pattern,)))
        if not found:
            return (pattern,)
        typer.echo("\n".join(problem.render() for problem in found), err=True)
    return ()


def _asked(question: str, given: str | None, default: str | None, *, asks: bool) -> str:
    if given is not None:
        return given
    if asks:
        return str(typer.prompt(question, default=default, show_default=False))
    if default is None:
        raise CannotRun("the rule has no text; give it with --body.")
    return default


def _tell_new(path: Path, draft: Draft, *, as_json: bool) -> None:
    problems = faults(draft)
    if as_json:
        document({"path": str(path), "problems": [inventory.problem_fields(p) for p in problems]})
        return
    typer.echo(f"{path} is written; a running proxy takes it from the next turn on.")
    for problem in problems:
        typer.echo(f"  {problem.render()}", err=True)


def migrate(  # noqa: PLR0917 - one parameter a flag
    from_convention: Annotated[
        Convention | None,
        typer.Option(
            help="Where rules are; left out, the other one than --to-convention, "
            "else the one in use."
        ),
    ] = None,
    to_convention: Annotated[
        Convention | None, typer.Option(help="Where they go; left out, it stays as it is.")
    ] = None,
    from_scope: Annotated[Owner, typer.Option(help="Whose rules are moved.")] = "project",
    to_scope: Annotated[
        Owner | None, typer.Option(help="Whose they become; left out, it stays as it is.")
    ] = None,
    workspace: Workspace = None,
    config: Config = None,
    *,
    as_json: Json = False,
) -> None:
    """Move rule files to another convention, or between project and user, or both."""
    with reporting(as_json=as_json):
        axes = Axes(from_convention, to_convention, from_scope, to_scope)
        done = migrating.migrate(RuleHomes.of(settings_of(workspace, config)), axes)
    if as_json:
        document(migrating.fields(done))
    else:
        typer.echo("\n".join(migrating.report(done)))
    raise typer.Exit(CLEAN if done.complete else VIOLATIONS)
