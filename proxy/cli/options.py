"""What the commands share: flags of one meaning, errors as sentences or JSON, documents."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from proxy.config import Settings, load
from proxy.errors import CannotRun, ConfigError, OurFault
from proxy.inventory import take

CLEAN, VIOLATIONS, COULD_NOT_RUN = 0, 1, 2

_PIPED_WIDTH = 160


def rule_names(incomplete: str) -> list[str]:
    """Complete the name of a rule of the directory that the shell is in."""
    try:
        entries = take(load(need_upstream=False).settings).entries
    except (ConfigError, OurFault):
        return []
    return sorted({entry.name for entry in entries if entry.name.startswith(incomplete)})


Workspace = Annotated[Path | None, typer.Option("--workspace", help="Directory whose rules apply.")]
Config = Annotated[
    Path | None, typer.Option("--config", help="Settings file, instead of the nearest ttsr.yaml.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Agent = Annotated[
    str, typer.Option("--agent", help="Role of the agent whose rules apply: main or sub.")
]


def settings_of(workspace: Path | None, config: Path | None) -> Settings:
    """Read the settings; raises ConfigError, for a workspace that is none too."""
    if workspace is not None and not workspace.is_dir():
        raise CannotRun(f"--workspace {workspace} is no directory; name one that exists.")
    flags = {"workspace": workspace and str(workspace)}
    return load(flags, file=config, need_upstream=False).settings


@contextmanager
def reporting(*, as_json: bool) -> Iterator[None]:
    """What cannot be done ends the command with one message and status 2."""
    try:
        yield
    except (CannotRun, ConfigError, OurFault) as problem:
        fail(str(problem), as_json=as_json)


def fail(message: str, *, as_json: bool) -> NoReturn:
    """Tell an error where the reader looks for it, and end."""
    if as_json:
        document({"error": message})
    else:
        typer.echo(message, err=True)
    raise typer.Exit(COULD_NOT_RUN)


def document(value: Any) -> None:
    """Print JSON."""
    typer.echo(json.dumps(value, indent=2))


def console() -> Console:
    """The terminal; a pipe gets lines that are not cut to a terminal's width."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH)
