"""`ttsr tail` against a scripted server: what it prints, when it tries again, when it gives up."""

from __future__ import annotations

import io
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from rich.console import Console

from proxy.dashboard.feed import Feed, LiveEvent
from proxy.store import HitRecord
from proxy.tail import LONGEST_PAUSE, TailError, TailSettings, tail
from tests.support.audit_rows import a_hit

OPEN = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n: keep-alive\n\n"


class Stop(Exception):  # noqa: N818 - what ends a test's endless loop
    """Raised instead of a pause once the script is at its end."""


class Script:
    """One answer a connection, each closed after it; remembers what was asked."""

    def __init__(self, answers: Sequence[bytes]) -> None:
        self.answers = answers
        self.requests: list[str] = []
        self.pauses: list[float] = []
        self.out = io.StringIO()
        self.messages = io.StringIO()

    def serve(self, listening: socket.socket) -> None:
        for answer in self.answers:
            connection, _ = listening.accept()
            with connection:
                self.requests.append(connection.recv(65536).decode())
                connection.sendall(answer)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if len(self.pauses) >= len(self.answers):
            raise Stop

    def run(self, settings: TailSettings) -> None:
        tail(settings, _console(self.out), _console(self.messages), sleep=self.sleep)


def _console(stream: io.StringIO) -> Console:
    return Console(file=stream, width=200, force_terminal=False)


@contextmanager
def scripted(*answers: bytes) -> Iterator[tuple[Script, str]]:
    script = Script(answers)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(10)
        thread = threading.Thread(target=script.serve, args=(listening,))
        thread.start()
        yield script, f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join(10)


def an_event(*hits: HitRecord) -> bytes:
    feed = Feed()
    with feed.reader() as reader:
        feed.publish(hits)
        try:
            reader.__anext__().send(None)
        except StopIteration as done:
            event: LiveEvent = done.value
    return f"event: {event.name}\ndata: {event.data}\n\n".encode()


def test_tail_prints_one_line_a_hit() -> None:
    """Rule, action, place and excerpt of each hit stand on one line."""
    hits = an_event(a_hit(), a_hit("no-eval", surface="tool", tool="edit", target_path="src/a.ts"))
    with scripted(OPEN + hits) as (script, url):
        script.run(TailSettings(url, reconnect=False))
    first, second = script.out.getvalue().splitlines()
    assert "interrupt" in first
    assert "no-any  text  const x: any  c1 #1" in first
    assert "no-eval  tool edit src/a.ts" in second
    assert script.requests[0].startswith("GET /audit/stream HTTP/1.1\r\n")


def test_tail_prints_events_as_json_lines() -> None:
    """With `as_json` each event is one line that a program can read."""
    with scripted(OPEN + an_event(a_hit(excerpt="x" * 500))) as (script, url):
        script.run(TailSettings(url, as_json=True, reconnect=False))
    (line,) = script.out.getvalue().splitlines()
    told = json.loads(line)
    assert (told["event"], told["rules"], told["action"]) == (
        "ttsr_triggered",
        ["no-any"],
        "interrupt",
    )


def test_tail_takes_a_clients_base_url_and_sends_the_token() -> None:
    """The address that an agent is configured with will do."""
    with scripted(OPEN) as (script, url):
        script.run(TailSettings(f"{url}/v1/", token="t0ken", reconnect=False))
    assert script.requests[0].startswith("GET /audit/stream ")
    assert "authorization: bearer t0ken\r\n" in script.requests[0].lower()


def test_tail_connects_again_after_an_end_and_after_a_fault() -> None:
    """A restart of the proxy is bridged, with growing pauses, and said once."""
    fault = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"
    answers = (OPEN + an_event(a_hit("one")), fault, OPEN + an_event(a_hit("two")))
    with scripted(*answers) as (script, url), pytest.raises(Stop):
        script.run(TailSettings(url))
    assert [line.split()[2] for line in script.out.getvalue().splitlines()] == ["one", "two"]
    assert script.pauses == [0.5, 1.0, 0.5]
    assert script.messages.getvalue().splitlines() == [
        f"not connected to {url} (the server ended the stream); trying again",
        "connected again",
        f"not connected to {url} (the server ended the stream); trying again",
    ]


def test_tail_waits_for_a_proxy_that_is_not_there_yet() -> None:
    """Pauses grow to a bound."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    script = Script([b""] * 6)
    with pytest.raises(Stop):
        script.run(TailSettings(f"http://127.0.0.1:{port}"))
    assert script.pauses == [0.5, 1.0, 2.0, 4.0, LONGEST_PAUSE, LONGEST_PAUSE]
    assert len(script.messages.getvalue().splitlines()) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n", "give its listen.token"),
        (b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "is the address that of a ttsr"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n",
            "text/html",
        ),
    ],
)
def test_tail_gives_up_where_trying_again_cannot_help(answer: bytes, message: str) -> None:
    """A wrong token or address is said at once."""
    with scripted(answer) as (script, url), pytest.raises(TailError, match=message):
        script.run(TailSettings(url))


@pytest.mark.parametrize("url", ["http://host:port/", "ftp://host", "file:///etc", ""])
def test_tail_refuses_what_is_no_address(url: str) -> None:
    """Nothing is asked of an address that cannot be one."""
    with pytest.raises(TailError, match="the address"):
        Script([]).run(TailSettings(url))


def test_tail_does_not_show_a_token_that_cannot_be_sent() -> None:
    """The error says what is wrong without repeating the secret."""
    settings = TailSettings("http://127.0.0.1:1", token="s3cr3t\n")
    with pytest.raises(TailError) as refused:
        Script([]).run(settings)
    assert "s3cr3t" not in str(refused.value)
    assert "s3cr3t" not in repr(settings)


def test_tail_says_what_it_missed_and_draws_controls() -> None:
    """A server cannot move the terminal's cursor, and a gap is visible."""
    events = (
        b'event: ttsr_dropped\ndata: {"count":3}\n\n'
        b"event: other\ndata: {}\n\n"
        b"event: ttsr_triggered\ndata: not json\n\n"
    )
    hostile = b'event: ttsr_triggered\ndata: {"hits":[{"rule":"a\\u001b[2J[red]"}]}\n\n'
    with scripted(OPEN + events + hostile) as (script, url):
        script.run(TailSettings(url, reconnect=False))
    first, second = script.out.getvalue().splitlines()
    assert first == "3 events were dropped: too slow"
    assert "a␛[2J[red]" in second
