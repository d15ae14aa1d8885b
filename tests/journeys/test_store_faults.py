"""A store that is down, slow or broken: no turn waits for it, and none is lost by it."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from proxy.assembly import assemble
from proxy.drain import Drain
from proxy.errors import ConfigError
from proxy.patience import Patience
from proxy.server import Server, bound_socket
from tests.support.agent import Agent, agent_at, sent, write_rules
from tests.support.chat import chat_reply
from tests.support.completions import text_reply
from tests.support.grammar import answer
from tests.support.proxy import settings_for, until
from tests.support.rules import rule_text
from tests.support.upstream import ScriptedUpstream

pytestmark = pytest.mark.anyio

FOO = rule_text("Say it kindly.", condition="FORBIDDEN")
# Longest waits for the store, and what a busy machine may add.
READ, WRITE, SLACK = 0.1, 0.25, 1.0


def now() -> float:
    return asyncio.get_running_loop().time()


@asynccontextmanager
async def agent_over(
    upstream: ScriptedUpstream, workspace: Path, **settings: Any
) -> AsyncIterator[Agent]:
    """An agent with one rule; the database has a folder of its own."""
    write_rules(workspace, foo=FOO)
    settings = {"db": str(workspace / "state" / "ttsr.db")} | settings
    async with agent_at(upstream, workspace, patience=Patience(), **settings) as agent:
        yield agent


async def readiness(agent: Agent) -> int:
    return (await agent.http.get(f"{agent.proxy.origin}/readyz")).status_code


async def ready(agent: Agent) -> None:
    """Wait until the store works again."""

    async def is_ready() -> bool:
        return await readiness(agent) == 200

    await until(is_ready)


async def rows(agent: Agent, count: int) -> list[dict[str, Any]]:
    """Wait until the audit has that many turns stored, newest first."""
    found: list[dict[str, Any]] = []

    async def there() -> bool:
        answer = await agent.http.get(f"{agent.proxy.origin}/audit/turns")
        found[:] = answer.json().get("turns", []) if answer.status_code == 200 else []
        return len(found) >= count

    await until(there)
    return found


# ---- faults; each is a context that is entered while the proxy runs


@contextmanager
def locked(db: Path) -> Iterator[None]:
    """Another process writes and does not come to an end."""
    with closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def elsewhere(db: Path) -> Iterator[None]:
    """The database and what belongs to it are moved away, and back at the end."""
    kept = db.parent.with_name("kept")
    db.parent.rename(kept)
    yield
    back(kept, db.parent)


def back(kept: Path, place: Path) -> None:
    """Put what was moved away into its place, whatever the proxy makes there meanwhile."""
    for number in count():
        with suppress(FileNotFoundError):
            place.rename(place.with_name(f"aside-{number}"))
        with suppress(OSError):
            kept.rename(place)
            return


@contextmanager
def corrupt(db: Path) -> Iterator[None]:
    """The file is no database any more."""
    with elsewhere(db):
        db.parent.mkdir()
        db.write_bytes(b"this is no database at all" * 400)
        yield


@contextmanager
def newer(db: Path) -> Iterator[None]:
    """A later version has taken the file over."""
    with elsewhere(db):
        db.parent.mkdir()
        with closing(sqlite3.connect(db)) as other:
            other.execute("CREATE TABLE schema_version (version INTEGER NOT NULL)")
            other.execute("INSERT INTO schema_version VALUES (99)")
            other.commit()
        yield


@contextmanager
def gone(db: Path) -> Iterator[None]:
    """The folder is no folder any more, so that no file can be made."""
    with elsewhere(db):
        db.parent.write_bytes(b"")
        yield


Fault = Callable[[Path], Any]
UNREADABLE = [corrupt, newer, gone]


def names(value: object) -> str:
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize("fault", UNREADABLE, ids=names)
async def test_unreadable_ledger_sends_the_request_unspliced_and_unarmed(
    upstream: ScriptedUpstream, tmp_path: Path, fault: Fault
) -> None:
    """Nothing can interrupt, since nobody knows what was told; afterwards all is as before."""
    upstream.script(chat_reply("A ", "FORBIDDEN"), chat_reply("B"), chat_reply("C FORBIDDEN"),
                    chat_reply("D"))  # fmt: skip
    async with agent_over(upstream, tmp_path) as agent:
        await agent.ask("hi")
        told = sent(upstream)
        await ready(agent)
        with fault(tmp_path / "state" / "ttsr.db"):
            begun = now()
            assert (await agent.ask("more"))["content"] == "C FORBIDDEN"
            assert now() - begun < READ + SLACK
            assert [m["content"] for m in sent(upstream)] == ["hi", "A \n\nB", "more"]
            assert await readiness(agent) == 503
        await ready(agent)
        await agent.ask("again")
        assert sent(upstream)[: len(told)] == told
        newest, unledgered, first = await rows(agent, 3)
    assert len(upstream.exchanges) == 4
    assert [row["unledgered"] for row in (first, unledgered, newest)] == [False, True, False]


@pytest.mark.parametrize("mode", ["open", "closed"])
@pytest.mark.parametrize("fault", UNREADABLE, ids=names)
async def test_plain_completion_needs_no_ledger(
    upstream: ScriptedUpstream, tmp_path: Path, fault: Fault, mode: str
) -> None:
    """Nothing is looked up for it and nothing is left by it, so rules act all the same."""
    upstream.script(text_reply("A ", "FORBIDDEN"), text_reply("B"))
    async with agent_over(upstream, tmp_path, failMode=mode) as agent:
        await ready(agent)
        with fault(tmp_path / "state" / "ttsr.db"):
            body = {"model": "m", "prompt": "hi", "stream": True}
            got = await agent.http.post(f"{agent.proxy.url}/completions", json=body)
            assert answer(got.content).text == "A \n\nB"


@pytest.mark.parametrize("fault", UNREADABLE, ids=names)
async def test_unreadable_ledger_is_a_503_where_it_must_not_be_missed(
    upstream: ScriptedUpstream, tmp_path: Path, fault: Fault
) -> None:
    """With Retry-After, before anything is sent upstream; afterwards the request goes through."""
    upstream.script(chat_reply("A ", "FORBIDDEN"), chat_reply("B"), chat_reply("C"))
    async with agent_over(upstream, tmp_path, failMode="closed") as agent:
        await agent.ask("hi")
        await ready(agent)
        agent.messages.append({"role": "user", "content": "more"})
        with fault(tmp_path / "state" / "ttsr.db"):
            answer = await agent.post()
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            error = answer.json()["error"]
            assert (error["type"], error["code"]) == ("ttsr_error", "ledger_unavailable")
            assert "failMode" in error["message"]
            assert len(upstream.exchanges) == 2
        await ready(agent)
        assert (await agent.go())["content"] == "C"
        assert "Say it kindly." in str(sent(upstream))


@contextmanager
def full(db: Path) -> Iterator[None]:
    """Another file takes all the room of the disk."""
    room = shutil.disk_usage(db.parent).free
    filler = db.with_name("filler")
    filler.write_bytes(b"x" * (room - room % 4096))
    yield
    filler.unlink()


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk with hardly any room; skipped where it cannot be mounted."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    if not (mount and unmount) or subprocess.run([mount, *options], check=False).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run([unmount, "-l", str(folder)], check=True)


@contextmanager
def folder_for(fault: Fault, workspace: Path) -> Iterator[Path]:
    if fault is full:
        with small_disk(workspace / "disk") as disk:
            yield disk / "ttsr.db"
    else:
        yield workspace / "state" / "ttsr.db"


@pytest.mark.parametrize("fault", [locked, full], ids=names)
async def test_unwritable_ledger_never_holds_a_stream_up(
    upstream: ScriptedUpstream, tmp_path: Path, fault: Fault
) -> None:
    """The last event waits its 250 ms and goes out; what was told is forgotten, and audited so."""
    upstream.script(chat_reply("A ", "FORBIDDEN"), chat_reply("B"), chat_reply("C"))
    with folder_for(fault, tmp_path) as db:
        async with agent_over(upstream, tmp_path, db=str(db)) as agent:
            await ready(agent)
            with fault(db):
                begun = now()
                assert (await agent.ask("hi"))["content"] == "A \n\nB"
                assert now() - begun < WRITE + SLACK
                assert await readiness(agent) == 503
            await ready(agent)
            (turn,) = await rows(agent, 1)
            assert turn["unledgered"] is True
            assert (await agent.ask("more"))["content"] == "C"


@pytest.mark.parametrize("fault", [locked, full], ids=names)
async def test_unwritable_ledger_ends_the_stream_in_an_error_where_it_must_not_be_missed(
    upstream: ScriptedUpstream, tmp_path: Path, fault: Fault
) -> None:
    """An error event in place of the end mark, and the next turn is as usual."""
    upstream.script(chat_reply("A ", "FORBIDDEN"), chat_reply("B"), chat_reply("C"))
    with folder_for(fault, tmp_path) as db:
        async with agent_over(upstream, tmp_path, db=str(db), failMode="closed") as agent:
            await ready(agent)
            agent.messages = [{"role": "user", "content": "hi"}]
            with fault(db):
                answer = await agent.post()
            assert "ledger_unavailable" in answer.text
            assert "[DONE]" not in answer.text
            await ready(agent)
            assert (await agent.go())["content"] == "C"


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_locked_database_still_tells_what_was_told(
    upstream: ScriptedUpstream, tmp_path: Path, mode: str
) -> None:
    """Reading works, so splices are placed; a turn that leaves nothing does not notice."""
    upstream.script(chat_reply("A ", "FORBIDDEN"), chat_reply("B"), chat_reply("C"))
    db = tmp_path / "state" / "ttsr.db"
    async with agent_over(upstream, tmp_path, failMode=mode) as agent:
        await agent.ask("hi")
        told = sent(upstream)
        await ready(agent)
        with locked(db):
            assert (await agent.ask("more"))["content"] == "C"
            assert sent(upstream)[: len(told)] == told


async def test_deleted_database_is_made_again(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """What was told is forgotten with it; later turns are remembered."""
    upstream.script(chat_reply("A ", "FORBIDDEN"), chat_reply("B"),
                    chat_reply("C ", "FORBIDDEN"), chat_reply("D"), chat_reply("E"))  # fmt: skip
    async with agent_over(upstream, tmp_path) as agent:
        await agent.ask("hi")
        await ready(agent)
        (tmp_path / "state").rename(tmp_path / "gone")  # nothing is written into it any more
        shutil.rmtree(tmp_path / "gone")
        assert (await agent.ask("more"))["content"] == "C \n\nD"
        told = sent(upstream)
        await agent.ask("again")
        assert sent(upstream)[: len(told)] == told
        assert (tmp_path / "state" / "ttsr.db").stat().st_mode & 0o777 == 0o600


# ---- down when the proxy starts


async def test_proxy_starts_without_its_store(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """Not ready, nothing armed, and no turn waits; once the store can be opened all works."""
    upstream.script(chat_reply("A FORBIDDEN"), chat_reply("B ", "FORBIDDEN"), chat_reply("C"),
                    chat_reply("D"))  # fmt: skip
    (tmp_path / "state").write_bytes(b"in the way")
    async with agent_over(upstream, tmp_path) as agent:
        assert await readiness(agent) == 503
        begun = now()
        assert (await agent.ask("hi"))["content"] == "A FORBIDDEN"
        assert now() - begun < READ + SLACK
        assert (await agent.http.get(f"{agent.proxy.origin}/healthz")).status_code == 200
        (tmp_path / "state").unlink()
        await ready(agent)
        assert (await agent.ask("more"))["content"] == "B \n\nC"
        told = sent(upstream)
        await agent.ask("again")
        assert sent(upstream)[: len(told)] == told
        assert [row["unledgered"] for row in await rows(agent, 3)] == [False, False, True]


async def test_proxy_does_not_start_without_a_store_that_must_not_be_missed(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """`failMode: closed`: the reason names the file and what to do."""
    (tmp_path / "state").write_bytes(b"in the way")
    given = settings_for(
        upstream, workspace=str(tmp_path), db=str(tmp_path / "state" / "x.db"), failMode="closed"
    )
    drain = Drain(1)
    with (
        bound_socket(given.listen) as sock,
        pytest.raises(ConfigError, match=r"x\.db.*failMode is closed.*point `db` at another file"),
    ):
        await Server(assemble(given, drain, home=tmp_path), drain).serve([sock])
