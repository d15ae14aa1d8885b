"""Gets a request through to the upstream, whatever the upstream thinks of our additions.

An answer of 400, 413 or 422 to a request that carries something of ours sends it out once more
with the other placement, then as the client sent it, so that no conversation is ever stuck.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum

import anyio

from proxy.beside import beside
from proxy.errors import ConnectFailed, FirstByteTimeout, UpstreamBroken
from proxy.headers import first
from proxy.upstream import UpstreamResponse

_REFUSED = frozenset({400, 413, 422})
_TRANSIENT = frozenset({429, 500, 502, 503, 504, 529})
_RETRIES = 2
_LONG_PAUSE = 2.0

Open = Callable[[bytes], Awaitable[UpstreamResponse]]


class Form(IntEnum):
    """In which form a request was accepted, in the order in which they are tried."""

    PLACED = 0
    FLIPPED = 1
    UNLAYERED = 2
    BARE = 3


@dataclass(frozen=True, slots=True)
class Opened:
    """An answer, and the form of the request that it answers."""

    response: UpstreamResponse
    form: Form


@dataclass(frozen=True, slots=True)
class Bodies:
    """Distinct bodies, best first, each made when it is asked for; the last is the client's own."""

    made: Iterator[tuple[Form, bytes]]
    own: bytes

    async def following(self) -> tuple[Form, bytes]:
        """The next body; there is none behind the client's own."""
        return await beside(len(self.own), lambda: next(self.made))


async def open_placed(open_body: Open, bodies: Bodies) -> Opened:
    """Try each form until one is not refused; the last one's answer counts whatever it is.

    Raises what opening raises.
    """
    while True:
        form, body = await bodies.following()
        response = await open_body(body)
        if response.status not in _REFUSED or body == bodies.own:
            return Opened(response, form)
        await response.aclose()


def patient(open_body: Open, deadline: float) -> Open:
    """Make opening retry transport failures, 429 and 5xx twice, up to `deadline` (event-loop
    seconds): once after 50 to 200 ms, once after 2 s, or when Retry-After says.
    """  # noqa: D205 - one sentence over two lines

    async def opened(body: bytes) -> UpstreamResponse:
        for retry in range(_RETRIES):
            pause = random.uniform(0.05, 0.2) if retry == 0 else _LONG_PAUSE  # noqa: S311 - jitter
            try:
                response = await open_body(body)
            except (ConnectFailed, UpstreamBroken, FirstByteTimeout):
                if not _fits(pause, deadline):
                    raise
            else:
                if response.status not in _TRANSIENT:
                    return response
                asked = _retry_after(response)
                pause = pause if asked is None else asked
                if not _fits(pause, deadline):
                    return response
                await response.aclose()
            await anyio.sleep(pause)
        return await open_body(body)

    return opened


def _fits(pause: float, deadline: float) -> bool:
    return anyio.current_time() + pause < deadline


def _retry_after(response: UpstreamResponse) -> float | None:
    """Seconds asked for; the date form of the field is left alone."""
    value = first(response.headers, b"retry-after-ms")
    if value is not None and value.strip().isdigit():
        return int(value) / 1000
    value = first(response.headers, b"retry-after")
    return float(value) if value is not None and value.strip().isdigit() else None
