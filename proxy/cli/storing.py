"""`ttsr purge`: what the database forgets on order."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import anyio
import typer

from proxy.cli.options import Config, Json, document, reporting
from proxy.config import load
from proxy.purging import age_of, purge

_now = time.time  # noqa: TID251 - a command is started at some time


def purge_database(
    *,
    older_than: Annotated[
        str | None,
        typer.Option(help="Age such as 7d or 12h; 0 is everything. By default the retention."),
    ] = None,
    db: Annotated[Path | None, typer.Option(help="Database of ledger and audit.")] = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Delete old parts of the ledger and the audit; a running proxy may go on meanwhile."""
    with reporting(as_json=as_json):
        flags = {"db": db and str(db)}
        settings = load(flags, file=config, need_upstream=False).settings
        age = settings.retention if older_than is None else age_of(older_than)
        gone = anyio.run(purge, settings.db, _now() - age)
    if as_json:
        document({"database": str(settings.db), "deleted": gone})
    else:
        typer.echo(f"{gone} rows deleted from {settings.db}")
