from __future__ import annotations

import pytest

from proxy.upgrades import without_h2c


@pytest.mark.parametrize("field", [b"Upgrade: h2c", b"upgrade:h2c", b"UPGRADE: \t H2C "])
def test_the_offer_is_renamed(field: bytes) -> None:
    """Whatever its case and spacing; the rest of the head keeps every byte."""
    head = b"POST /v1 HTTP/1.1\r\nHost: a\r\n" + field + b"\r\nX-A: h2c\r\n\r\n"
    changed = without_h2c(head)
    assert b"\r\nx-ttsr-ignored-upgrade:" in changed
    assert changed.replace(b"x-ttsr-ignored-upgrade", field[:7]) == head


@pytest.mark.parametrize(
    "field", [b"Upgrade: websocket", b"X-Upgrade: h2c", b"Connection: upgrade"]
)
def test_other_fields_stay(field: bytes) -> None:
    """A WebSocket is answered elsewhere."""
    head = b"GET / HTTP/1.1\r\n" + field + b"\r\n\r\n"
    assert without_h2c(head) == head
