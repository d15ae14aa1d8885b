"""`serve`, `demo` and `tail`: commands that run the proxy or follow one."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from proxy import demo as demonstration
from proxy import tail as following
from proxy.assembly import assemble
from proxy.config import Loaded, Settings, load, without_credentials
from proxy.drain import Drain
from proxy.errors import ConfigError
from proxy.gate import trust_of
from proxy.logs import logging_to
from proxy.server import Server, bound_socket
from proxy.settings_file import SettingsFile


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
    run(loaded, lambda: load(flags, file=config).settings)


def demo(
    *,
    keep: Annotated[
        bool, typer.Option("--keep", envvar="KEEP", help="Stay up afterwards, to be tried.")
    ] = False,
) -> None:
    """Play an agent's conversation with a scripted model through the proxy, offline."""
    with logging_to(level="warning"), contextlib.suppress(KeyboardInterrupt):
        demonstration.run(_say, keep=keep)


def tail(
    url: Annotated[str, typer.Argument(help="Base URL of the proxy.")] = "http://127.0.0.1:8787",
    token: Annotated[
        str | None, typer.Option(envvar="TTSR_LISTEN__TOKEN", help="The proxy's token.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Show what rules do, as it happens."""
    settings = following.TailSettings(url=url, token=token, as_json=as_json)
    try:
        with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
            following.tail(settings, Console(), Console(stderr=True))
    except following.TailError as problem:
        typer.echo(str(problem), err=True)
        raise typer.Exit(1) from None


def _say(text: str) -> None:
    """Print; what a reader who has left (such as `head`) does not want goes nowhere."""
    try:
        typer.echo(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(loaded: Loaded, again: Callable[[], Settings]) -> None:
    """Serve until a signal comes; raises ConfigError where the address cannot be used.

    `again` reads the settings once more, for what may change while the proxy runs.
    """
    settings = loaded.settings
    if not settings.workspace.is_dir():
        raise ConfigError(
            f"the workspace {settings.workspace} is no directory; name one that exists."
        )
    drain = Drain(settings.limits.turns)
    built = assemble(settings, drain, follow=SettingsFile(loaded.places, settings, again))
    sock = bound_socket(settings.listen)
    line = listening(settings, sock.getsockname()[1])

    def started() -> None:
        # What is there now stays until the end: no later collection need look through it, which
        # would stop every stream meanwhile.
        gc.collect()
        gc.freeze()
        typer.echo(line)

    server = Server(built, drain, started)
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
