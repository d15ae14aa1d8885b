from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest
from typer.testing import CliRunner

from proxy.cli import cli
from proxy.store.sqlite import SqliteStore
from tests.support.audit_rows import a_hit


async def _filled(path: Path) -> None:
    store = await SqliteStore.open(path)
    await store.record([a_hit(time=100.0)], [])
    await store.close()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "ttsr.db"
    anyio.run(_filled, path)
    return path


def test_purge_tells_how_much_it_deleted(database: Path) -> None:
    """In words for a person, as JSON for a program."""
    result = CliRunner().invoke(cli, ["purge", "--db", str(database), "--json"])
    assert json.loads(result.output) == {"database": str(database), "deleted": 1}
    result = CliRunner().invoke(cli, ["purge", "--db", str(database), "--older-than", "0"])
    assert result.output.strip() == f"0 rows deleted from {database}"


def test_purge_of_nothing_ends_with_status_two(tmp_path: Path) -> None:
    """A database that is not there, an age that is none: one sentence."""
    result = CliRunner().invoke(cli, ["purge", "--db", str(tmp_path / "none.db")])
    assert result.exit_code == 2
    assert "there is no database" in result.output
    result = CliRunner().invoke(cli, ["purge", "--older-than", "soon"])
    assert result.exit_code == 2
    assert "--older-than soon" in result.output
