from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proxy.cli.serving import listening
from proxy.config import Settings

TTSR = (sys.executable, "-c", "from proxy.cli import main; main()")


@contextmanager
def started(*arguments: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """Run `ttsr` as a user would, in a directory of its own."""
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd), "PYTHONPATH": str(Path.cwd())}
    with subprocess.Popen(
        [*TTSR, *arguments],
        cwd=cwd,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_serve_says_where_it_listens_and_stops_on_a_signal(tmp_path: Path) -> None:
    """The real port, the upstream without credentials, the audit; status 0 behind SIGTERM."""
    upstream = "http://key:hunter2@127.0.0.1:9/v1"
    with started("serve", "--upstream", upstream, "--port", "0", cwd=tmp_path) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(
            r"ttsr listens on (http://127\.0\.0\.1:\d+)/v1 for http://127\.0\.0\.1:9/v1; "
            r"audit: \1/audit \(no token needed\)\n",
            line,
        )
        assert found, line
        with urllib.request.urlopen(f"{found[1]}/healthz", timeout=5) as answer:  # noqa: S310 - loopback
            assert answer.status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["serve"], "upstream.url is not set"),
        (["serve", "--upstream", "nonsense"], "upstream.url in the flag --upstream cannot be used"),
        (["serve", "--upstream", "http://a", "--port", "70000"], "listen.port in the flag --port"),
        (["serve", "--config", "none.yaml"], "none.yaml cannot be read"),
        (
            ["serve", "--upstream", "http://a", "--workspace", "none"],
            "none is no directory; name one that exists",
        ),
    ],
)
def test_settings_that_cannot_be_used_end_with_one_sentence(
    tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    """On standard error alone, with status 2."""
    with started(*arguments, cwd=tmp_path) as process:
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_notes_on_the_settings_are_printed(tmp_path: Path) -> None:
    """A pasted block may have keys that mean nothing here; the server starts all the same."""
    (tmp_path / "ttsr.yaml").write_text("ttsr: {settingsNamespace: x}\nlisten: {port: 0}\n")
    with started("serve", "--upstream", "http://127.0.0.1:9", cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        assert process.stderr.readline().startswith("note: ttsr.settingsNamespace")


def test_settings_file_made_after_the_start_is_followed(tmp_path: Path) -> None:
    """Its rules' settings are in force without a restart; the log names the one that needs it."""
    arguments = ("serve", "--upstream", "http://127.0.0.1:9", "--port", "0")
    with started(*arguments, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        audit = process.stdout.readline().partition("audit: ")[2].split()[0]
        assert _states(audit) == {"in_force"}
        (tmp_path / "ttsr.yaml").write_text("ttsr: {builtinRules: false}\nrelease: cut\n")
        while _states(audit) != {"off"}:
            pass  # the file is looked for again after half a second
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        assert "WARNING proxy.workspace: a restart is needed for what is new in release\n" in (
            process.stderr.read()
        )


def _states(audit: str) -> set[str]:
    request = urllib.request.Request(audit, headers={"accept": "application/json"})  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310 - loopback
        return {rule["state"] for rule in json.load(answer)["rules"]}


@pytest.mark.parametrize(
    ("listen", "words"),
    [
        ({}, "(no token needed)"),
        ({"token": "hunter2"}, "(token needed)"),
        ({"host": "0.0.0.0", "token": "hunter2"}, "(token needed)"),
        ({"host": "::"}, "closed until listen.token is set"),
    ],
)
def test_listening_says_who_may_see_the_audit(listen: dict[str, str], words: str) -> None:
    """And never the token itself."""
    settings = Settings.model_validate({"upstream": {"url": "http://a"}, "listen": listen})
    line = listening(settings, 1234)
    assert words in line
    assert "hunter2" not in line
    assert ":1234/audit" in line


def test_demo_ends_quietly_when_its_reader_has_left(tmp_path: Path) -> None:
    """`ttsr demo | head -1` prints one line and no traceback."""
    with started("demo", cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(10) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_demo_that_stays_up_stops_on_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    """It says how to stop it, and that is true."""
    with started("demo", "--keep", cwd=tmp_path) as process:
        assert process.stdout is not None
        while "Stop with" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(number)
        assert process.wait(10) == 0
