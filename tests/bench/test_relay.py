"""The relay's bench runs, against the real server; no figure of it is looked at."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench import relay, under_rules
from bench.native import Programs
from bench.peers import Peer, Place, collected, nothing_missing
from bench.processes import Launch, NotStartedError
from bench.rig import FaultyRunError, Load, rig

ROOT = Path(__file__).parents[2]


def test_everything_is_measured(programs: Programs) -> None:
    """Every figure of our own proxy is there, and every target but those of absent peers."""
    lines: list[str] = []
    found = relay.section(relay.QUICK, ["pipe"], lines.append, programs)
    assert not found.faults
    unmeasured = {finding.what for finding in found.findings if finding.met is None}
    assert all("LiteLLM" in what or "no delay" in what for what in unmeasured), unmeasured
    text = "\n".join(found.lines)
    for variant in under_rules.variants():
        assert f"| {variant.name} |" in text
    assert "- litellm: not asked for" in text


def test_an_unknown_peer_is_named() -> None:
    """A mistyped name stops the bench, with the names that there are."""
    with pytest.raises(SystemExit, match=r"nginy.*'nginx'"):
        relay.refuse_unknown(["pipe", "nginy"])


def test_peers_have_what_is_needed(tmp_path: Path) -> None:
    """One name each, and files only in the folder that is theirs."""
    peers = collected()
    assert len({peer.name for peer in peers}) == len(peers) >= 4
    for peer in peers:
        folder = tmp_path / peer.name
        folder.mkdir()
        launch = peer.launch(Place(folder, 1, 2))
        assert launch.argv
        assert peer.missing() is None or peer.missing()
    assert {path.name for path in tmp_path.iterdir()} == {peer.name for peer in peers}


def test_a_proxy_that_does_not_start_is_told_with_its_last_words(
    programs: Programs, tmp_path: Path
) -> None:
    """What it said stands in the error, for the report."""
    broken = Peer("broken", nothing_missing, lambda _: Launch(("sh", "-c", "echo no; exit 3"), {}))
    with (
        rig(programs, tmp_path) as running,
        pytest.raises(NotStartedError, match="ended with 3: no"),
        running.proxy(broken),
    ):
        pass


@pytest.mark.parametrize("events", [0, 40])
def test_a_peer_that_fails_stops_nothing(
    programs: Programs, monkeypatch: pytest.MonkeyPatch, events: int
) -> None:
    """Whether it never serves or ends in the middle: it is told, and the others are measured."""
    port_and_upstream = (
        "import sys; from bench.peers.plain_httpx import make_app; import uvicorn, os"
    )
    failing = f"""{port_and_upstream}
app, left = make_app(int(sys.argv[2])), {events}
async def served(scope, receive, send):
    async def counted(message):
        global left
        left -= message["type"] == "http.response.body"
        os._exit(3) if left < 0 else await send(message)
    await app(scope, receive, counted)
uvicorn.run(served, port=int(sys.argv[1]), log_level="warning")
"""

    def launch(place: Place) -> Launch:
        argv = (sys.executable, "-c", failing, str(place.port), str(place.upstream))
        return Launch(argv, {"PYTHONPATH": str(ROOT)})

    peer = Peer("failing", nothing_missing, launch)
    monkeypatch.setattr(relay, "collected", lambda: (peer,))
    monkeypatch.setattr(under_rules, "variants", lambda: (under_rules.OFF,))
    found = relay.section(relay.QUICK, None, lambda _: None, programs)
    text = "\n".join(found.lines)
    assert "- failing: " in text
    assert f"| {under_rules.OFF.name} |" in text
    assert not found.faults


def test_streams_that_fail_are_no_figures(programs: Programs, tmp_path: Path) -> None:
    """A server that refuses is not quick but faulty."""
    peer = next(peer for peer in collected() if peer.name == "plain-httpx")
    with rig(programs, tmp_path) as running, running.proxy(peer) as target:
        lost = replace(target, peer=replace(peer, path="/nowhere"))
        with pytest.raises(FaultyRunError, match="1 failed"):
            running.run(lost, Load(streams=1))


def test_clean_text_breaks_no_rule(tmp_path: Path) -> None:
    """What the upstream says first is the one violation."""
    under_rules.write_deltas(tmp_path / "deltas.tsv")
    first, *rest = (tmp_path / "deltas.tsv").read_text(encoding="utf-8").split("\n")
    assert first.endswith("(")
    assert len(rest) > 1000
