from __future__ import annotations

from pathlib import Path

import pytest

from proxy.errors import CannotRun
from proxy.snippet import Given, take
from proxy.trial import Output
from rules_engine.scope import Surface

TEXT, TOOL = Surface.TEXT, Surface.TOOL


def no_stdin() -> bytes:
    raise AssertionError("stdin was read")


@pytest.mark.parametrize(
    ("given", "output"),
    [
        (Given("hi"), Output("hi", TEXT)),
        (Given("hi", path="a.ts"), Output("hi", TOOL, "edit", "a.ts")),
        (Given("hi", path="A.TS"), Output("hi", TOOL, "edit", "A.TS")),
        (Given("hi", path="Makefile"), Output("hi", TEXT)),
        (Given("hi", tool="bash"), Output("hi", TOOL, "bash")),
        (Given("hi", surface=TOOL), Output("hi", TOOL, "edit")),
        (Given("hi", surface=TEXT, path="a.ts"), Output("hi", TEXT)),
        (Given("hi", surface=Surface.THINKING), Output("hi", Surface.THINKING)),
        (Given("x" * 5000), Output("x" * 5000, TEXT)),
        (Given("a\0b"), Output("a\0b", TEXT)),
    ],
)
def test_output_is_settled(given: Given, output: Output) -> None:
    """By the surface that is given, else by the tool, else by the path's extension."""
    taken = take(given, "/work", no_stdin)
    assert taken.output == output
    assert (taken.inferred is None) is (given.surface is not None)


def test_file_is_named_as_an_agent_would(tmp_path: Path) -> None:
    """Relative to the workspace; in full where it lies elsewhere; as given where that is given."""
    file = tmp_path / "src" / "a.ts"
    file.parent.mkdir()
    file.write_bytes(b"caf\xe9")
    here, name = str(tmp_path.resolve()), str(file)
    assert take(Given(name), here, no_stdin).output == Output("caf\ufffd", TOOL, "edit", "src/a.ts")
    assert take(Given(file=name), "/other", no_stdin).output.path == str(file.resolve())
    assert take(Given(name, path="b.rs"), here, no_stdin).output.path == "b.rs"
    assert take(Given(name, file=name), here, no_stdin).output.path == "src/a.ts"


@pytest.mark.parametrize("given", [Given("-"), Given(file="-"), Given()])
def test_stdin_is_read_where_it_is_meant(given: Given) -> None:
    """It has no path."""
    assert take(given, "/work", lambda: b"hi").output == Output("hi", TEXT)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (Given(), "there is no snippet"),
        (Given(""), "there is no snippet"),
        (Given(file="/missing/a.ts"), "/missing/a.ts cannot be read: No such file"),
        (Given("hi", file="a.ts"), "not both"),
    ],
)
def test_no_text_is_an_error(given: Given, sentence: str) -> None:
    """That says what to give."""
    with pytest.raises(CannotRun, match=sentence):
        take(given, "/work", lambda: b"")
