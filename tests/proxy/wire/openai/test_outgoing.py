"""Events of ours are found by every reader, whatever went out before them."""

from __future__ import annotations

import json

from proxy.sse import SseReader
from proxy.wire.openai.outgoing import Outgoing


def test_line_feed_of_an_event_that_ended_in_crlf_is_made_up_for() -> None:
    """It comes with the next event, which may stay here; ours would be lost without it."""
    (event,) = SseReader().feed(b"data: {}\r\n\r\n")
    assert event.raw.endswith(b"\r\n\r")
    out = Outgoing()
    out.passed(event.raw, has_id=event.has_id)
    assert out.event({}) == b"\ndata: {}\n\n"
    assert out.event({}) == b"data: {}\n\n"


def test_comment_behind_an_id_has_no_blank_line() -> None:
    """Some clients dispatch an empty event there."""
    (event,) = SseReader().feed(b"id: 1\ndata: {}\n\n")
    out = Outgoing()
    assert out.keep_alive() == b": keep-alive\n\n"
    out.passed(event.raw, has_id=event.has_id)
    assert out.keep_alive() == b": keep-alive\n"


def test_error_is_named_as_ours() -> None:
    """Clients raise what it says; its type tells it from the upstream's."""
    written = json.loads(Outgoing().error("no", "why").removeprefix(b"data: "))
    assert written == {"error": {"message": "no", "type": "ttsr_error", "code": "why"}}
