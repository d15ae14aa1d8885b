from __future__ import annotations

from rules_engine.growth import Growth
from rules_engine.shell.bodies import Bodies
from rules_engine.shell.documents import Document
from rules_engine.shell.joining import MORE
from tests.rules_engine.shell.test_lexer import Told


def bodies(*delimiters: str) -> tuple[Bodies, list[Document], Told]:
    told = Told()
    documents = [Document(each, Growth(), tabbed=False, expands=True) for each in delimiters]
    waiting = Bodies(told)
    for each in documents:
        waiting.add(each)
    return waiting, documents, told


def test_bodies_follow_each_other() -> None:
    """The second begins where the first has ended; what is behind them is left."""
    waiting, (one, two), told = bodies("A", "B")
    assert waiting.begin()
    text, at = "x\nA\ny\nB\nrest", 0
    while waiting.open:
        at = waiting.read(text, at, 100, final=False)
    assert (one.growth.text, two.growth.text, text[at:]) == ("x", "y", "rest")
    assert one.read
    assert told.events == ["[body]101", "{x}", "[body]105", "{y}"]
    assert not waiting.begin()


def test_backslash_waits_for_what_it_escapes() -> None:
    """At the end of the text it stands for itself."""
    waiting, (one,), _ = bodies("A")
    waiting.begin()
    text = "a\\"
    assert waiting.read(text, 0, 0, final=False) == 0
    assert waiting.read(text, 0, 0, final=False) == 1
    assert waiting.read(text, 1, 0, final=False) == MORE
    assert waiting.read(text, 1, 0, final=True) == 2
    assert one.growth.text == "a\\"


def test_text_may_end_inside_a_body() -> None:
    """What begins like its end is text then; the end itself is none."""
    for text, expected in [("x\nE", "x\nE"), ("x\nEOF", "x"), ("x", "x")]:
        waiting, (one,), _ = bodies("EOF")
        waiting.begin()
        at = 0
        while at < len(text):
            at = waiting.read(text, at, 0, final=True)
        waiting.close(len(text))
        assert (one.growth.text, one.read) == (expected, True)
