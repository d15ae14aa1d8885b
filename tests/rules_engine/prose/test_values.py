from __future__ import annotations

import regex

from rules_engine.families import ToolFamily
from rules_engine.prose.values import Marks, ValuesBlock

FAMILY = ToolFamily(("put",), ("write",), paths=("path",), added=("text",))
MARKS = Marks(
    lambda name: regex.compile(rf"(?:\r?\n)?</{name}>"),
    over=regex.compile("</put>"),
    begin=regex.compile(r"<(\w+)>"),
)


def test_source_is_known_with_its_raw_character() -> None:
    """Offsets count from behind the mark that opened the block."""
    raw = "<path>a.py</path><text>\nxy</text></put>"
    reader = ValuesBlock("put", MARKS).reader((FAMILY,), ())
    reader.name("put")
    reader.feed(raw)
    (section,) = reader.sections
    assert (section.paths, section.text) == (("a.py",), "xy")
    assert reader.arrival(section.key, 2) == raw.index("xy") + 2
    assert section.settled_at == raw.index("</path>") + len("</path>")


def test_path_behind_the_source_settles_it() -> None:
    """The order of the values makes no difference but for when it is known."""
    reader = ValuesBlock("put", MARKS).reader((FAMILY,), ())
    reader.name("put")
    reader.feed("<text>x</text>")
    assert not reader.sections[0].settled
    reader.feed("<path>a.py</path>")
    assert reader.sections[0].settled


def test_given_path_is_known_from_the_beginning() -> None:
    """An edit that does not say its file gets the one that is given."""
    marks = Marks(lambda _: regex.compile("!"), value="text")
    reader = ValuesBlock("put", marks, own_path=False).reader((FAMILY,), ("g.py",))
    reader.name("put")
    reader.feed("x")
    (section,) = reader.sections
    assert (section.paths, section.settled_at, section.text) == (("g.py",), 0, "x")


def test_block_ends_behind_its_last_mark() -> None:
    """Marks inside a value are text; what may become a mark is left."""
    block = ValuesBlock("put", MARKS)
    text = "<text></put></tex"
    assert block.take(text, 0, final=False) == (len(text) - 5, False)
    assert block.take("</text> </put>rest", 0, final=False) == (14, True)
