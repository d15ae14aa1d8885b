"""`ttsr …`: parse, call one function, print."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from proxy import app as application
from proxy.config import Loaded, Settings, load, without_credentials
from proxy.drain import Drain
from proxy.errors import ConfigError
from proxy.gate import trust_of
from proxy.logs import logging_to
from proxy.server import Server, bound_socket

cli = typer.Typer(
    name="ttsr",
    help="A proxy that enforces a project's rule files on any OpenAI-compatible API.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@cli.callback()
def _commands() -> None:
    """Enforce a project's rule files on any OpenAI-compatible API."""


@cli.command()
def serve(  # noqa: PLR0917 - one parameter a flag
    upstream: Annotated[
        str | None, typer.Option(help="Base URL of the API, such as https://api.openai.com/v1.")
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 picks a free one.")] = None,
    workspace: Annotated[
        Path | None, typer.Option(help="Directory whose rules apply where a request names none.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="Settings file, instead of the nearest ttsr.yaml.")
    ] = None,
    db: Annotated[Path | None, typer.Option(help="Database of ledger and audit.")] = None,
    upstream_profile: Annotated[
        str | None, typer.Option(help="Name of the upstream's profile, instead of guessing it.")
    ] = None,
    no_builtin_rules: Annotated[
        bool | None, typer.Option("--no-builtin-rules", help="Leave out the built-in rules.")
    ] = None,
    dry_run: Annotated[
        bool | None, typer.Option("--dry-run", help="Observe and audit, but never interrupt.")
    ] = None,
) -> None:
    """Run the proxy until it is told to stop."""
    flags = {
        "upstream.url": upstream,
        "upstream.profile": upstream_profile,
        "listen.host": host,
        "listen.port": port,
        "workspace": workspace and str(workspace),
        "db": db and str(db),
        "ttsr.builtinRules": False if no_builtin_rules else None,
        "dryRun": dry_run or None,
    }
    loaded = load(flags, file=config)
    for note in loaded.notes:
        typer.echo(f"note: {note}", err=True)
    run(loaded)


def run(loaded: Loaded) -> None:
    """Serve until a signal comes; raises ConfigError where the address cannot be used."""
    settings = loaded.settings
    drain = Drain(settings.limits.turns)
    built = application.create_app(settings, drain=drain)
    sock = bound_socket(settings.listen)
    line = listening(settings, sock.getsockname()[1])
    server = Server(built, drain, lambda: typer.echo(line))
    with logging_to(), sock, asyncio.Runner(loop_factory=server.loop_factory()) as runner:
        runner.run(server.serve([sock]))


def listening(settings: Settings, port: int) -> str:
    """Say where the proxy listens, for which upstream, and who may see the audit."""
    host = settings.listen.host
    base = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    trust = trust_of(settings.listen)
    if not trust.token_needed:
        who = "no token needed"
    elif trust.token is not None:
        who = "token needed"
    else:
        who = "closed until listen.token is set, because this address is reachable from outside"
    upstream = without_credentials(settings.upstream_url)
    return f"ttsr listens on {base}/v1 for {upstream}; audit: {base}/audit ({who})"


def main() -> None:
    """Run a command; settings that cannot be used end with one sentence and status 2."""
    try:
        cli()
    except ConfigError as problem:
        typer.echo(str(problem), err=True)
        sys.exit(2)
