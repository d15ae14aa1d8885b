"""`ttsr …`: which commands there are; each parses, calls one function and prints."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version as version_of
from typing import Annotated

import typer

from proxy.cli import authoring, checking, inspecting, serving, storing, verifying
from proxy.cli.options import COULD_NOT_RUN, document
from proxy.errors import ConfigError

_NAME = "ttsr"  # however it is started: completion and usage go by it

cli = typer.Typer(
    name=_NAME,
    help="A proxy that enforces a project's rule files on any OpenAI-compatible API.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:  # noqa: FBT001 - as typer calls it
    if asked:
        typer.echo(f"ttsr {version_of('ttsr-proxy')}")
        raise typer.Exit


_COMMANDS: Mapping[str, Callable[..., None]] = {
    "serve": serving.serve,
    "demo": serving.demo,
    "tail": serving.tail,
    "purge": storing.purge_database,
    "list": inspecting.list_rules,
    "show": inspecting.show,
    "test": checking.try_output,
    "scan": checking.scan,
    "lint": inspecting.lint,
    "prompt": inspecting.prompt,
    "config": inspecting.config,
    "new": authoring.new,
    "migrate": authoring.migrate,
    "verify": verifying.verify,
}
for name, command in _COMMANDS.items():
    cli.command(name)(command)


@cli.callback()
def _about(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Say which it is."),
    ] = False,
) -> None:
    """Enforce a project's rule files on any OpenAI-compatible API."""


def main() -> None:
    """Run a command. What cannot be used ends with one sentence, or JSON, and status 2."""
    try:
        if "--json" in sys.argv:
            sys.exit(_for_programs())
        cli(prog_name=_NAME)
    except ConfigError as problem:
        typer.echo(str(problem), err=True)
        sys.exit(COULD_NOT_RUN)


def _for_programs() -> int:
    """Run a command whose reader is a program: a bad flag is told as JSON too."""
    try:
        return cli(prog_name=_NAME, standalone_mode=False) or 0
    except typer.TyperException as problem:
        document({"error": str(problem)})
        return COULD_NOT_RUN
    except typer.Abort:
        return 1
