from __future__ import annotations

from rules_engine.families import PatchFormat, ToolFamily
from rules_engine.formats import patch_reader
from rules_engine.growth import Growth
from rules_engine.sections import PatchText, Section, Window, Windows


def window(key: str, opened_at: int = 0) -> Window:
    return Window(key, Growth(), ("edit",), floor=3, opened_at=opened_at)


def test_window_settles_no_earlier_than_its_floor() -> None:
    """The tool may be known later than the path."""
    one = window("a")
    one.settle(("x",), 1)
    assert one.section("t") == Section(
        "a", "t", ("x",), settled=True, settled_at=3, names=("edit",)
    )


def test_window_takes_names_from_every_family() -> None:
    """A family that explains the text lends its names, each once."""
    one = window("a")
    one.lend(ToolFamily(("t",), ("edit", "write")), ("edit", "write"))
    assert one.names == ("edit", "write")


def test_windows_number_keys_that_come_again() -> None:
    """Every window has a key of its own."""
    windows = Windows()
    assert not windows
    for _ in range(3):
        windows.add(window("a"))
    assert [section.key for section in windows.sections] == ["a", "a~2", "a~3"]
    assert list(windows.names) == ["edit"]


def test_windows_of_one_text_are_added_as_they_stand_in_it() -> None:
    """Several readers of one text do not change the order."""
    windows = Windows()
    windows.add_in_order([window("b", 9), window("a", 4)])
    assert [one.key for one in windows] == ["a", "b"]


def test_patch_text_makes_a_window_for_each_section() -> None:
    """A window that the text names is settled, at the raw offset of the header's end."""
    windows, source = Windows(), Growth()
    text = "*** Update File: a\n+x\n*** Add File: b\n+y"
    source.append(text, 11)
    reader = patch_reader(PatchFormat.ENVELOPE, source)
    patch = PatchText(reader, source, "p", ("edit",), 0, (), (), [])
    new = windows.add_in_order(patch.feed(text, 0, windows))
    assert [(w.key, w.paths, w.settled_at, w.names) for w in new] == [
        ("p/0", ("a",), 29, ("edit",)),
        ("p/1", ("b",), 48, ("edit", "write")),
    ]
    assert windows.arrival("p/0", 1) == 31
    assert patch.close(windows, 60) == []
    assert patch.close(windows, 60) == []
