"""`/audit/stream` over sse-starlette, kept from polling on behalf of a whole process.

The library patches uvicorn's exit handler at import and starts a task on the event loop that
outlives its streams. Here each stream watches for the end by itself, and takes that watch along.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import AppStatus, EventSourceResponse

from proxy.dashboard.feed import Feed

KEEP_ALIVE_SECONDS = 15
# How long an ended stream may take for what is queued before it is cut.
GRACE_SECONDS = 1.0
# How soon a signal is noticed if nobody ends the feed.
SIGNAL_SECONDS = 0.5


class LiveResponse(EventSourceResponse):
    """The feed as server-sent events; ends with its client, its feed or the server."""

    def __init__(self, feed: Feed) -> None:
        super().__init__(
            _written(feed),
            ping=KEEP_ALIVE_SECONDS,
            # Some clients lose data at a comment that begins with "ping".
            ping_message_factory=_keep_alive,
            sep="\n",
        )
        self._feed = feed

    async def _listen_for_exit_signal_with_grace(self) -> None:
        """Replace the library's process-wide watcher; returning cuts the stream."""
        while not self._feed.ended:
            with anyio.move_on_after(SIGNAL_SECONDS):
                await self._feed.wait_ended()
            if AppStatus.should_exit:  # a signal came, and nobody has told the feed
                self._feed.end()
        await anyio.sleep(GRACE_SECONDS)


async def _written(feed: Feed) -> AsyncIterator[ServerSentEvent]:
    with feed.reader() as reader:
        # Shows proxies and clients that the stream is open: from here on nothing is missed.
        yield _keep_alive()
        async for event in reader:
            yield ServerSentEvent(event.data, event=event.name, sep="\n")


def _keep_alive() -> ServerSentEvent:
    return ServerSentEvent(comment="keep-alive", sep="\n")
