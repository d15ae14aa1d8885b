"""`ttsr …`: which commands there are; each parses, calls one function and prints."""

from __future__ import annotations

import sys

import typer

from proxy.cli import serving
from proxy.errors import ConfigError

cli = typer.Typer(
    name="ttsr",
    help="A proxy that enforces a project's rule files on any OpenAI-compatible API.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

for command in (serving.serve, serving.demo, serving.tail):
    cli.command()(command)


def main() -> None:
    """Run a command; settings that cannot be used end with one sentence and status 2."""
    try:
        cli()
    except ConfigError as problem:
        typer.echo(str(problem), err=True)
        sys.exit(2)
