from __future__ import annotations

import pytest

from rules_engine.shell.commands import Target
from rules_engine.shell.frames import Command, Flow, Frame
from rules_engine.shell.parts import Kind


def test_flow_is_written_below_the_directory() -> None:
    """To each file once; it is appended to if one of the targets says so."""
    flow = Flow(["x"])
    for path, appends in [("a", False), ("a", True), ("/b", False)]:
        flow.write(Target(path, appends), "src")
    assert flow.targets == {"src/a": True, "/b": False}


@pytest.mark.parametrize("path", ["", "/dev/null", "/dev/stderr", "/dev/fd/3"])
def test_devices_are_no_files(path: str) -> None:
    """What goes there is not kept."""
    flow = Flow(["x"])
    flow.write(Target(path, appends=False), "")
    assert not flow.targets


def test_directories_are_remembered() -> None:
    """`-` is the one before, and nowhere if there is none."""
    frame = Frame(Kind.TOP, "")
    frame.go("-")
    assert frame.directory == ""
    frame.go("a")
    frame.go("../b")
    assert frame.directory == "b"
    frame.go("-")
    assert frame.directory == "a"


def test_command_is_empty_until_something_of_it_was_read() -> None:
    """A redirection alone is a command, and so is a group."""
    assert Command().empty
    assert not Command(words=["a"]).empty
    assert not Command(target=Target("a", appends=False)).empty
    assert not Command(prints=[]).empty
