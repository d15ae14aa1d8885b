from __future__ import annotations

import regex

from rules_engine.growth import Growth
from rules_engine.patches import UnifiedReader
from rules_engine.prose.lines import LinesBlock


def block() -> LinesBlock:
    return LinesBlock(regex.compile("END"), lambda source: UnifiedReader(source, headless=True))


def test_block_ends_with_a_line_that_begins_so() -> None:
    """What may yet be its end is left; the rest of that line is no part of it."""
    taken = block()
    assert taken.take("a END\nE", 0, final=False) == (6, False)
    assert taken.take("ENx\nEND of it", 0, final=False) == (7, True)


def test_nothing_is_undecided_at_the_end() -> None:
    """The beginning of an end mark is text, where nothing more comes."""
    assert block().take("EN", 0, final=True) == (2, False)


def test_hunk_without_a_file_gets_the_one_that_is_given() -> None:
    """A file named before the block counts more than that of an earlier one."""
    named = LinesBlock(
        regex.compile("END"), lambda source: UnifiedReader(source, headless=True), ("own.py",)
    )
    for made, path in ((block(), "given.py"), (named, "own.py")):
        reader = made.reader((), ("given.py",))
        reader.name("edit")
        reader.feed("+x\n")
        (section,) = reader.sections
        assert (section.paths, section.settled, section.settled_at) == ((path,), True, 0)


def test_positions_are_those_of_the_block_with_halves_of_characters_joined() -> None:
    """A character that came in two halves is one, known with the second."""
    assert isinstance(UnifiedReader(Growth()), UnifiedReader)
    reader = block().reader((), ())
    reader.name("edit")
    reader.feed("+a\ud83d")
    reader.feed("\ude00b")
    (section,) = reader.sections
    assert section.text == "a\U0001f600b"
    assert [reader.arrival(section.key, n) for n in (1, 2, 3)] == [2, 4, 5]
