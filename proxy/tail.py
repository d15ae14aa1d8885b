"""`ttsr tail`: follows a running proxy's audit stream in a terminal and reconnects."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from rich.console import Console
from rich.text import Text

from proxy.masking import single_line
from proxy.sse import SseEvent, SseReader

# The server comments every 15 s: thrice that without a byte means that the connection is dead.
SILENCE_SECONDS = 45.0
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 5.0

_COLOURS = {
    "interrupt": "bold red",
    "refuse": "bold magenta",
    "tool_reminder": "yellow",
    "prose_reminder": "yellow",
    "warning": "yellow",
    "observed": "dim",
    "exhausted": "bold red",
    "quarantined": "bold blue",
}


class TailError(Exception):
    """The server answered, but not with a stream; the message says what to do."""


@dataclass(frozen=True, slots=True)
class TailSettings:
    """`url`: where the proxy listens, with or without `/v1`. `token`: for other hosts' proxies.

    `as_json`: one event a line, as sent. `reconnect` False: return at the first end.
    """

    url: str
    token: str | None = field(default=None, repr=False)
    as_json: bool = False
    reconnect: bool = True


def tail(
    settings: TailSettings,
    out: Console,
    messages: Console,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Print events to `out` and the connection's state to `messages` until interrupted.

    Raises `TailError` where trying again cannot help: bad address, no access, no such route.
    """
    pause = FIRST_PAUSE
    lost = False
    with _client(settings) as client:
        while True:
            try:
                for event in _events(client):
                    if lost:
                        messages.print(Text("connected again", "green"))
                    lost, pause = False, FIRST_PAUSE
                    _show(event, out, as_json=settings.as_json)
                reason = "the server ended the stream"
            except httpx.TransportError as error:
                reason = str(error) or type(error).__name__
            if not settings.reconnect:
                return
            if not lost:
                told = (
                    f"not connected to {_base(settings.url)} ({single_line(reason)}); trying again"
                )
                messages.print(Text(told, "dim"))
            lost = True
            sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)


def _client(settings: TailSettings) -> httpx.Client:
    headers = {"accept": "text/event-stream", "accept-encoding": "identity"}
    if settings.token:
        if not (settings.token.isascii() and settings.token.isprintable()):
            raise TailError("the token holds characters that no header can carry; check --token")
        headers["authorization"] = f"Bearer {settings.token}"
    return httpx.Client(
        base_url=_base(settings.url),
        headers=headers,
        timeout=httpx.Timeout(SILENCE_SECONDS, connect=5.0),
        # A proxy for the internet, from the environment, is not the way to one's own machine.
        trust_env=False,
    )


def _base(text: str) -> httpx.URL:
    """Find the proxy's root: a client's base URL will do, and so will host and port alone."""
    address = text.strip().rstrip("/").removesuffix("/v1")
    try:
        url = httpx.URL(address if "://" in address else f"http://{address}")
    except httpx.InvalidURL as error:
        raise TailError(f"the address {single_line(text)!r} is not a URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise TailError(f"the address {single_line(text)!r} is not one of http:// or https://")
    return url


def _events(client: httpx.Client) -> Iterator[SseEvent]:
    """Connect once; every event, comments included, until the stream ends."""
    with client.stream("GET", "audit/stream") as response:
        _check(response)
        reader = SseReader()
        for data in response.iter_raw():
            yield from reader.feed(data)


def _check(response: httpx.Response) -> None:
    status = response.status_code
    if status in (401, 403):
        raise TailError(
            f"the proxy refused access (HTTP {status}); give its listen.token with --token"
        )
    kind = response.headers.get("content-type", "").partition(";")[0]
    if status >= 500:  # noqa: PLR2004 - a server that starts or stops; trying again may help
        raise httpx.RemoteProtocolError(f"HTTP {status}")
    if status != 200 or kind != "text/event-stream":  # noqa: PLR2004 - the only answer with a stream
        raise TailError(
            f"{response.url} does not serve a stream (HTTP {status}, {kind or 'no content type'}); "
            "is the address that of a ttsr proxy?"
        )


def _show(event: SseEvent, out: Console, *, as_json: bool) -> None:
    if event.data is None:
        return
    data = event.document()
    if as_json:
        out.print(Text(json.dumps({"event": event.name} | data)), soft_wrap=True)
        return
    match event.name:
        case "ttsr_triggered":
            for hit in data.get("hits", ()):
                out.print(_hit_line(hit), soft_wrap=True)
        case "ttsr_dropped":
            out.print(Text(f"{data.get('count')} events were dropped: too slow", "bold yellow"))
        case _:
            return


def _hit_line(hit: Mapping[str, Any]) -> Text:
    """One line a hit: when, what was done, by which rule, where, and what was found."""
    action = _text(hit, "action")
    place = " ".join(
        text for key in ("surface", "tool", "target_path") if (text := _text(hit, key))
    )
    return Text.assemble(
        (_clock(hit.get("time")), "dim"),
        " ",
        (f"{action:<14}", _COLOURS.get(action, "")),
        " ",
        (_text(hit, "rule"), "bold"),
        "  ",
        place,
        "  ",
        (_text(hit, "excerpt"), "italic"),
        "  ",
        (f"{_text(hit, 'conversation')} #{_text(hit, 'attempt')}", "dim"),
    )


def _text(hit: Mapping[str, Any], key: str) -> str:
    value = hit.get(key)
    return "" if value is None else single_line(str(value))


def _clock(seconds: object) -> str:
    if not isinstance(seconds, int | float):
        return "--:--:--"
    return time.strftime("%H:%M:%S", time.localtime(seconds))
