from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proxy.assembly import assemble
from proxy.config import Settings
from proxy.drain import Drain
from proxy.errors import ConfigError
from tests.support.agent import write_rules
from tests.support.rules import rule_text


def settings(folder: Path, **more: Any) -> Settings:
    given = {
        "upstream": {"url": "http://me:hunter2@127.0.0.1:1/v1"},
        "workspace": str(folder),
        "db": str(folder / "state" / "t.db"),
        "ttsr": {"builtinRules": False},
    }
    return Settings.model_validate(given | more)


def client(given: Settings, home: Path) -> TestClient:
    return TestClient(assemble(given, Drain(9), home=home), base_url="http://localhost")


def test_everything_is_ready_once_it_runs(tmp_path: Path) -> None:
    """Store and first rule set are there; the audit shows rules, and no login of the upstream."""
    write_rules(tmp_path, foo=rule_text("No.", condition="x"))
    with client(settings(tmp_path), tmp_path / "home") as proxy:
        assert proxy.get("/healthz").json() == {"status": "ok"}
        assert proxy.get("/readyz").json() == {"status": "ready"}
        shown = proxy.get("/audit").json()
        armed = [rule["name"] for rule in shown["rules"] if rule["state"] == "in_force"]
        assert armed == ["foo"]
        assert "hunter2" not in str(shown)
    assert (tmp_path / "state" / "t.db").exists()


def test_audit_shows_rule_files_as_they_are(tmp_path: Path) -> None:
    """Who edits a rule sees its faults without asking a model first."""
    write_rules(tmp_path, foo=rule_text("No.", condition="x"))
    with client(settings(tmp_path), tmp_path / "home") as proxy:
        assert proxy.get("/audit").json()["problems"] == []
        write_rules(tmp_path, foo=rule_text("No.", condition="("))
        until = time.monotonic() + 10
        while not (problems := proxy.get("/audit").json()["problems"]):
            assert time.monotonic() < until
        assert problems[0]["code"] == "bad-pattern"


def test_store_that_is_down_is_told_and_waited_for(tmp_path: Path) -> None:
    """The proxy runs without it and is not ready; the request is answered all the same."""
    (tmp_path / "state").write_bytes(b"in the way")
    with client(settings(tmp_path), tmp_path / "home") as proxy:
        assert proxy.get("/readyz").json() == {"status": "waiting", "waiting": ["store"]}
        body = {"messages": [{"role": "user", "content": "hi"}]}
        answer = proxy.post("/v1/chat/completions", json=body)
        assert answer.json()["error"]["code"] == "upstream_unreachable"


def test_store_that_must_not_be_missed_ends_the_start(tmp_path: Path) -> None:
    """With `failMode: closed`; the message names the file."""
    (tmp_path / "state").write_bytes(b"in the way")
    with (
        pytest.raises(ConfigError, match=r"t\.db cannot be used and failMode is closed"),
        client(settings(tmp_path, failMode="closed"), tmp_path / "home"),
    ):
        pass


def test_unknown_profile_is_refused(tmp_path: Path) -> None:
    """It names the setting."""
    upstream = {"url": "http://127.0.0.1:1/v1", "profile": "nonsense"}
    with pytest.raises(ConfigError, match=r"upstream\.profile cannot be used"):
        assemble(settings(tmp_path, upstream=upstream), Drain(9), home=tmp_path)


def test_tools_of_the_settings_are_families(tmp_path: Path) -> None:
    """A tool that nobody knows but the user needs nothing else to be served."""
    tools = {"put_file": {"family": "write", "paths": ["where"], "source": ["what"]}}
    with client(settings(tmp_path, tools=tools), tmp_path / "home") as proxy:
        assert proxy.get("/readyz").status_code == 200
