"""The settings' file while the proxy runs: whether it says something new, and what counts of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.config import Settings, TtsrBlock
from proxy.settings_file import SettingsFile
from proxy.workspace import rule_options


def settings_of(**values: object) -> Settings:
    return Settings.model_validate(values)


def a_file(*places: Path) -> SettingsFile:
    return SettingsFile(places, settings_of(), settings_of)


def test_marks_change_with_the_file_that_counts_and_no_other(tmp_path: Path) -> None:
    """One that appears nearer is the one, one that appears behind it is none; a folder is none."""
    places = [tmp_path / name for name in ("near", "middle", "far")]
    near, middle, far = places
    file = a_file(*places)
    marks = [file.marks()]
    assert file.marks() == marks[0]
    middle.write_text("a")
    marks.append(file.marks())
    far.write_text("a")
    assert file.marks() == marks[1]
    middle.write_text("more")
    marks.append(file.marks())
    near.mkdir()
    marks.append(file.marks())
    middle.unlink()
    marks.append(file.marks())
    assert len(set(marks)) == len(marks)


@pytest.mark.parametrize(
    ("values", "keys"),
    [
        ({}, ()),
        ({"enabled": False, "trust": "user-only", "ttsr": {"repeatGap": 3}}, ()),
        ({"release": "cut", "listen": {"port": 1}}, ("listen.port", "release")),
        (
            {"tools": {"put": {"family": "write"}}},
            ("tools.put.family", "tools.put.paths", "tools.put.source"),
        ),
        ({"workspace": str(Path.cwd())}, ()),
        ({"listen": {"token": "hunter2"}}, ("listen.token",)),
    ],
)
def test_waiting_names_what_is_read_at_the_start_alone(
    values: dict[str, object], keys: tuple[str, ...]
) -> None:
    """By the keys of the file; one directory is the same however it is written."""
    assert a_file().waiting(settings_of(**values)) == keys


def test_whatever_is_followed_reaches_the_rules() -> None:
    """A key that needs no restart is one that rule sets are built from, or has no effect at all."""
    others: dict[str, object] = {
        "enabled": False,
        "interruptMode": "never",
        "contextMode": "discard",
        "repeatMode": "after-gap",
        "repeatGap": 3,
        "builtinRules": False,
        "disabledRules": ["a"],
        "modeOverrides": ["a=never"],
    }
    keys = {str(field.alias) for field in TtsrBlock.model_fields.values()}
    assert keys - others.keys() == {"judge", "judgeProvider", "judgeModel"}
    usual = rule_options(settings_of())
    for key, value in others.items():
        assert rule_options(settings_of(ttsr={key: value})) != usual
    for key, value in {"enabled": False, "trust": "user-only"}.items():
        assert rule_options(settings_of(**{key: value})) != usual
