"""`docs/commands.md`, made from the command line itself: `make docs` writes it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Literal, get_args, get_origin

import typer
from typer.main import get_command

from proxy.cli import cli

_OPENING = """# Commands

<!-- Made by `make docs` out of the commands themselves; do not edit. -->

Settings that cannot be used end a command with one sentence and status 2.
"""


def commands_page() -> str:
    """The whole page, as Markdown."""
    group = get_command(cli)
    assert isinstance(group, typer.core.TyperGroup)
    return "\n".join((_OPENING, *_sections(group, "ttsr")))


def _sections(group: typer.core.TyperGroup, above: str) -> Iterator[str]:
    for name, command in group.commands.items():
        called = f"{above} {name}"
        if isinstance(command, typer.core.TyperGroup):
            yield from _sections(command, called)
            continue
        said = (command.help or "").replace("\f", "").strip()
        yield f"## `{called}`\n\n{said}\n"
        rows = [_row(parameter) for parameter in command.params]
        if rows:
            yield "| option | meaning |\n| --- | --- |\n" + "\n".join(rows) + "\n"


def _row(parameter: object) -> str:
    """One row; an argument is named by what stands for it, an option by all of its spellings."""
    meant = " ".join((getattr(parameter, "help", None) or "").split()).replace("|", "\\|")
    variables = getattr(parameter, "envvar", None) or ()
    variables = [variables] if isinstance(variables, str) else variables
    also = " or ".join(f"`{variable}`" for variable in variables)
    more = f"{_choices(parameter)}{_default(parameter)}{f' Also {also}.' if also else ''}"
    if isinstance(parameter, typer.core.TyperOption):
        name = ", ".join(f"`{each}`" for each in (*parameter.opts, *parameter.secondary_opts))
    else:
        assert isinstance(parameter, typer.core.TyperArgument)
        name = f"`{(parameter.name or '').upper()}`"
    return f"| {name} | {meant}{more} |"


def _choices(parameter: object) -> str:
    """The words that it takes, where they are not any."""
    annotation = parameter.type_descriptor.annotation  # type: ignore[attr-defined]
    words = get_args(annotation) if get_origin(annotation) is Literal else ()
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        words = tuple(member.value for member in annotation)
    return f" One of {', '.join(f'`{word}`' for word in words)}." if words else ""


def _default(parameter: object) -> str:
    """What counts without it, where that is a word; a switch is off, and a path is here."""
    default = getattr(parameter, "default", None)
    return f" By default `{default}`." if isinstance(default, str) else ""


if __name__ == "__main__":
    typer.echo(commands_page(), nl=False)
