"""`verify`: whether a real model is stopped, and reminded, as it should be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from proxy import verify as verification
from proxy.cli.options import CLEAN, VIOLATIONS, Json, console, document, reporting
from proxy.logs import logging_to
from proxy.verify import FIXTURE, Verification, Verify


def verify(
    upstream: Annotated[
        str, typer.Option(help="Base URL of the API, such as https://api.openai.com/v1.")
    ],
    model: Annotated[str, typer.Option(help="Name of the model, as the API knows it.")],
    fixture: Annotated[
        Path, typer.Option(help="Directory with loud.md and prompt.md.", show_default=False)
    ] = FIXTURE,
    api_key: Annotated[
        str | None,
        typer.Option(
            help="Sent as bearer token.",
            envvar=["TTSR_API_KEY", "OPENAI_API_KEY"],
            show_envvar=True,
        ),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Ask a model the same twice, once under a rule that stops it and once under `never`.

    Both runs take place in a scratch directory. Status 1: it did not come out as it should.
    """
    with reporting(as_json=as_json), logging_to(level="warning"):
        done = verification.verify(Verify(upstream, model, fixture, api_key))
    if as_json:
        document(verification.fields(done))
    else:
        _print(done)
    raise typer.Exit(VIOLATIONS if done.complaints else CLEAN)


def _print(done: Verification) -> None:
    table = Table("The rule may stop the model", "The same rule under never", show_lines=True)
    table.add_row(*(Text("\n\n".join(run.lines)) for run in (done.loud, done.quiet)))
    console().print(table)
    for complaint in done.complaints:
        typer.echo(f"not as it should be: {complaint}.")
    if not done.complaints:
        typer.echo("As it should be: the one run was stopped, the other only reminded.")
