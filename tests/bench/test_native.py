"""The programs in C count right, whatever is between them."""

from __future__ import annotations

import asyncio
import json
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from bench.native import NotCompiledError, Programs, compiled
from bench.processes import first_line
from tests.support.upstream import Reply, ScriptedUpstream


def loaded(programs: Programs, port: int, **options: int) -> list[str]:
    return [str(programs.load), f"port={port}", *(f"{k}={v}" for k, v in options.items())]


async def told(argv: list[str]) -> dict[str, Any]:
    """Run the load client, beside a server in this loop; its last line has the figures."""
    client = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
    output, _ = await client.communicate()
    figures: dict[str, Any] = json.loads(output.decode().rstrip().rpartition("\n")[2])
    return figures


def asked(port: int, model: str, more: str = "") -> str:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/v1/chat/completions", json.dumps({"model": model, "more": more}))
    body = connection.getresponse().read().decode()
    connection.close()
    return body


@pytest.fixture
def deltas(tmp_path: Path) -> Path:
    path = tmp_path / "deltas.tsv"
    path.write_text('6\t stop(\n4\tone \n6\tt\\"wo\\n\n', encoding="utf-8")
    return path


def test_a_missing_compiler_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A user without one is told which, why, and how to get it."""
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(NotCompiledError, match=r"no-such-compiler.*install"):
        compiled(tmp_path)


def test_upstream_says_its_text_in_stamped_events(programs: Programs, deltas: Path) -> None:
    """As many events as asked for, over and over the text, then an end."""
    with first_line((str(programs.upstream), str(deltas), "MARK"), 0) as port:
        body = asked(int(port), "bench-3-0-0-1")
    chunks = [json.loads(line[6:]) for line in body.split("\n") if line.startswith("data: {")]
    contents = [chunk["choices"][0]["delta"].get("content") for chunk in chunks]
    assert contents == ["one ", 't"wo\n', "one ", None]
    assert chunks[1]["system_fingerprint"].rpartition(".")[2] == "6@"
    assert body.endswith("data: [DONE]\n\n")


def test_upstream_violates_once(programs: Programs, deltas: Path) -> None:
    """The violation stands where it was asked for, but not in a second attempt."""
    with first_line((str(programs.upstream), str(deltas), "MARK"), 0) as port:
        assert asked(int(port), "bench-5-0-4-1").count(" stop(") == 1
        assert " stop(" not in asked(int(port), "bench-5-0-4-1", "MARK")


def test_upstream_notices_a_close(programs: Programs, deltas: Path) -> None:
    """A connection that ends behind a violation is counted, once."""
    with first_line((str(programs.upstream), str(deltas), "MARK"), 0) as port:
        connection = HTTPConnection("127.0.0.1", int(port), timeout=10)
        connection.request("POST", "/", '{"model": "bench-1000-10-1-1"}')
        assert b"stop(" in connection.getresponse().read(300)
        connection.close()
        counts: list[int] = []
        while not any(counts):
            connection.request("GET", "/closes")
            counts.append(json.loads(connection.getresponse().read())["count"])
        connection.request("GET", "/closes")
        assert json.loads(connection.getresponse().read())["count"] == 0
        connection.close()
    assert counts[-1] == 1


def test_load_counts_what_the_upstream_sent(programs: Programs, deltas: Path) -> None:
    """Every event of every stream arrives, with a delay."""
    with first_line((str(programs.upstream), str(deltas), "MARK"), 0) as port:
        argv = loaded(programs, int(port), streams=6, at_once=3, events=40)
        figures = asyncio.run(told(argv))
    assert (figures["streams"], figures["events"]) == (6, 240)
    assert (figures["errors"], figures["incomplete"], figures["timed_out"]) == (0, 0, 0)
    assert 0 < figures["latency_us_p50"] <= figures["latency_us_p99"]


@pytest.mark.anyio
@pytest.mark.parametrize("framing", ["chunked", "content-length", "close"])
async def test_load_counts_events_however_they_are_cut(programs: Programs, framing: Any) -> None:
    """A chunk of one byte each, and bodies of other framings, hold the same events."""
    async with ScriptedUpstream() as upstream:
        body = b"data: @100.3@\n\ndata: a@b 1.2@ @200.4@\n\ndata: [[DONE]\n\n"
        upstream.script(Reply(body, framing=framing, splits="every_byte"))
        figures = await told(loaded(programs, upstream.port, streams=1, events=2))
    assert (figures["events"], figures["errors"], figures["incomplete"]) == (2, 0, 0)


@pytest.mark.anyio
async def test_load_tells_failed_and_incomplete_streams_apart(programs: Programs) -> None:
    """A status that is none of success, an end without its mark, a missing event."""
    async with ScriptedUpstream() as upstream:
        upstream.script(
            Reply(b"data: @1.1@ [DONE]", status=500),
            Reply(b"data: @1.1@", terminate="abort"),
            Reply(b"data: [DONE]\n\n"),
            Reply(b"data: @1.1@ [DONE]\n\n"),
        )
        figures = await told(loaded(programs, upstream.port, streams=4, events=1))
    assert (figures["streams"], figures["errors"], figures["incomplete"]) == (4, 1, 2)


@pytest.mark.anyio
async def test_load_gives_up_in_time(programs: Programs) -> None:
    """A stream that never ends is told as such, and what came until then is."""
    async with ScriptedUpstream() as upstream:
        upstream.script(Reply(b"data: @1.1@\n\n", terminate="stall"))
        figures = await told(loaded(programs, upstream.port, streams=1, events=2, limit=1))
    assert (figures["timed_out"], figures["events"]) == (1, 1)
