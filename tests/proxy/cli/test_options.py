from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import typer

from proxy.cli.options import reporting, settings_of
from proxy.errors import CannotRun, ConfigError
from proxy.workspace import RulesNotReady


@pytest.mark.parametrize(
    "problem", [CannotRun("no."), ConfigError("no."), RulesNotReady("no.")], ids=repr
)
def test_what_cannot_be_done_is_told_where_it_is_read(
    problem: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sentence on standard error, or JSON on standard output; status 2."""
    for as_json in (False, True):
        with pytest.raises(typer.Exit) as ended, reporting(as_json=as_json):
            raise problem
        assert ended.value.exit_code == 2
        out, err = capsys.readouterr()
        assert err == ("" if as_json else "no.\n")
        assert (json.loads(out) if as_json else out) == ({"error": "no."} if as_json else "")


def test_workspace_that_is_none_is_an_error(tmp_path: Path) -> None:
    """It names the flag."""
    with pytest.raises(CannotRun, match="--workspace"):
        settings_of(tmp_path / "missing", None)


def test_settings_need_no_upstream(tmp_path: Path) -> None:
    """Rules can be tried by whoever has no API."""
    assert settings_of(tmp_path, None).workspace == tmp_path
    assert os.environ.get("TTSR_UPSTREAM__URL") is None
