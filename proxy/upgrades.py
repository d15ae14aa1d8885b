"""The server's HTTP protocol, with offers to switch to HTTP/2 left unheard.

Java's HTTP client offers `Upgrade: h2c` with its first request, body and all. A server may ignore
the offer (RFC 9110 section 7.8), but httptools would skip that request's body.
"""

from __future__ import annotations

import re
from typing import cast

from proxy.connection import LeanProtocol

_OFFER = re.compile(rb"\r\nupgrade(?=:[ \t]*h2c[ \t]*\r\n)", re.IGNORECASE)
_HEAD_END = b"\r\n\r\n"


def without_h2c(head: bytes) -> bytes:
    """Rename the field of the offer in a request's head; every other byte stays."""
    return _OFFER.sub(b"\r\nx-ttsr-ignored-upgrade", head, count=1)


class DeafToH2c(LeanProtocol):
    """The protocol; looks at reads that begin a request only."""

    def data_received(self, data: bytes) -> None:
        """Take what the socket gave."""
        if b"h2c" in data and self._between_requests():
            head, end, body = data.partition(_HEAD_END)
            data = without_h2c(head + end) + body
        super().data_received(data)

    def _between_requests(self) -> bool:
        # uvicorn declares `cycle` without saying that it is None before the first request.
        cycle = cast("object | None", self.cycle)
        return cycle is None or not self.cycle.more_body
