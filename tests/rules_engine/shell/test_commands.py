from __future__ import annotations

import pytest

from rules_engine.shell.commands import (
    Bare,
    Effect,
    Target,
    bare,
    effect,
    reads_diff,
    reads_script,
    script_follows,
    takes_patch,
)
from rules_engine.shell.sed import Edit

KEPT = Target("f", appends=False)


@pytest.mark.parametrize(
    ("line", "words", "unnamed"),
    [
        ("sed x", "sed x", False),
        ("A=1 B+=2 sed x", "sed x", False),
        ("sudo -u me -E sed x", "sed x", False),
        ("/usr/bin/env -i A=1 sed x", "sed x", False),
        ("timeout -k 5 10 nice -n 3 sed x", "sed x", False),
        ("sudo -- sed x", "sed x", False),
        ("sudo -u", "", False),
        ("xargs -0 -n 1 sed x", "sed x", True),
        ("find . -name x -exec sed x {} +", "sed x {}", True),
        ("find . -exec sed x", "sed x", True),
        ("find . -delete", "find . -delete", False),
        ("", "", False),
    ],
)
def test_what_only_runs_a_command_is_left_out(line: str, words: str, *, unnamed: bool) -> None:
    """Assignments, `sudo` and the like; some of them add files that are not named."""
    found = bare(line.split())
    assert (list(found.words), found.unnamed) == (words.split(), unnamed)


def test_name_is_that_of_the_program() -> None:
    """Wherever it lies."""
    assert (Bare(["/bin/sed", "x"]).name, Bare([]).name) == ("sed", "")


@pytest.mark.parametrize(
    "line",
    [
        "bash -c",
        "sh -lc",
        "sudo /bin/bash -l -c",
        "bash -o pipefail -euc",
        "bash --norc -c",
        "su - me -c",
        "eval",
    ],
)
def test_script_follows_some_commands(line: str) -> None:
    """A shell with `-c`, and what runs its words."""
    assert script_follows(line.split())


@pytest.mark.parametrize(
    "line",
    ["", "bash", "bash -l", "bash x -c", "echo -c", "eval x", "bash -c x", "sudo" + " a" * 30],
)
def test_script_follows_no_other(line: str) -> None:
    """Not where it is the script's own arguments that come, or a file's name."""
    assert not script_follows(line.split())


def test_some_commands_run_what_they_read() -> None:
    """Scripts, diffs and patches."""
    assert reads_script(["bash"])
    assert reads_script(["sudo", "sh", "-s"])
    assert not reads_script(["bash", "x.sh"])
    assert not reads_script(["cat"])
    assert reads_diff(["patch", "-p1"])
    assert reads_diff(["git", "-C", "x", "apply"])
    assert not reads_diff(["git", "commit"])
    assert takes_patch(["apply_patch"])
    assert not takes_patch(["echo"])


@pytest.mark.parametrize(
    ("words", "done"),
    [
        (["echo", "a"], Effect(("a\n",))),
        (["printf", "a"], Effect(("a",))),
        (["cat"], Effect(passes=True)),
        (["cat", "-", "-n"], Effect(passes=True)),
        (["cat", "f"], Effect((None,))),
        (["cat", "f", "-"], Effect((None, "read"))),
        (["tee", "-a", "f"], Effect(passes=True, targets=(Target("f", appends=True),))),
        (["tee", "f", "g"], Effect(passes=True, targets=(KEPT, Target("g", appends=False)))),
        (["sed", "-i", "s/a/b/", "f"], Effect((), edit=Edit(("b",), ("f",)))),
        (["xargs", "sed", "-i", "s/a/b/", "f"], Effect((), edit=Edit(("b",), ()))),
        (["sed", "s/a/b/"], Effect()),
        (["cd", "-P", "d"], Effect((), go="d")),
        (["cd"], Effect((), go="~")),
        (["pushd", "d"], Effect((), go="d")),
        (["popd"], Effect((), go="-")),
        (["mkdir", "-p", "d"], Effect(())),
        (["make"], Effect()),
    ],
)  # fmt: skip
def test_command_has_its_effect(words: list[str], done: Effect) -> None:
    """What it prints, writes, edits, and where it goes."""
    assert effect(words, ["read"]) == done
