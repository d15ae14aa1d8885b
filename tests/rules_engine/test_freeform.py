from __future__ import annotations

from rules_engine.families import PatchFormat, ToolFamily, shell_family
from rules_engine.tools import make_reader
from tests.support.tool_calls import Reading, read_call

FAMILIES = (
    ToolFamily(("apply_patch",), ("edit",), freeform=(PatchFormat.ENVELOPE, PatchFormat.HASHLINE)),
    shell_family(("exec",), ("command",)),
)


def read(name: str, raw: str) -> Reading:
    whole = read_call(name, raw, freeform=True, families=FAMILIES)
    cuts = range(1, len(raw))
    assert read_call(name, raw, cuts, freeform=True, families=FAMILIES) == whole
    return whole


def test_freeform_patch_is_read_as_patch() -> None:
    """The raw input of a patch tool gives a section per file, settled with its header."""
    raw = "*** Begin Patch\n*** Update File: a.py\n+x\n*** Add File: b.py\n+y"
    reading = read("apply_patch", raw)
    assert [(s.paths, s.text, s.settled) for s in reading.live] == [
        (("a.py",), "x", True),
        (("b.py",), "y", True),
    ]
    assert [raw[: s.settled_at].endswith(f": {s.paths[0]}\n") for s in reading.live] == [True, True]


def test_freeform_input_in_another_format_is_recognised_by_its_marks() -> None:
    """Where a tool has several formats the text shows which it is."""
    reading = read("apply_patch", "[a.py#1f]\nPUT 3\n+x\n")
    assert [(s.paths, s.text) for s in reading.sections] == [(("a.py",), "x")]


def test_freeform_text_that_is_no_patch_is_one_section() -> None:
    """What no format explains is matched whole when it is finished."""
    reading = read("apply_patch", "hello")
    assert reading.live == ()
    assert [(s.key, s.paths, s.text, s.settled_at) for s in reading.sections] == [
        ("input", (), "hello", 5)
    ]


def test_freeform_input_of_a_tool_without_formats_is_matched_as_it_streams() -> None:
    """Code for a tool that runs it is one section from the beginning."""
    reading = read("exec", "a\ud83d\ude00b\ud83d")
    assert [(s.text, s.settled, set(s.names)) for s in reading.live] == [
        ("a\U0001f600b", True, {"exec", "bash", "shell"})
    ]
    assert reading.sections[0].text == "a\U0001f600b\ufffd"


def test_freeform_input_of_an_unknown_tool_is_tried_as_patch() -> None:
    """An unknown tool's raw patch gives its files."""
    reading = read("other", "--- a/x.py\n+++ b/x.py\n@@\n-a\n+b\n")
    assert [(s.paths, s.text, s.names) for s in reading.sections] == [
        (("x.py",), "b", ("other", "edit"))
    ]


def test_freeform_blocks_name_no_file() -> None:
    """New text in SEARCH/REPLACE form has no path, and nothing to wait for."""
    reading = read("other", "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n")
    assert [(s.paths, s.text, s.settled, s.settled_at) for s in reading.live] == [
        ((), "new", True, 0)
    ]


def test_freeform_input_that_is_empty_gives_nothing() -> None:
    """A call without input has no sections."""
    reader = make_reader(FAMILIES, freeform=True)
    reader.close()
    assert (reader.names, reader.sections) == ((), ())


def test_unknown_input_whose_first_line_opens_no_patch_is_read_as_it_stands() -> None:
    """From its first line's end on it is one section, so that a hit need not wait for the end."""
    reader = make_reader((), freeform=True)
    reader.name("run_patch")
    reader.feed("*** Beg")
    assert reader.sections == ()
    reader.feed("in\n+ some te")
    (section,) = reader.sections
    assert section.text == "*** Begin\n+ some te"
    assert (section.settled, section.settled_at) == (True, len("*** Begin\n"))


def test_unknown_input_that_opens_a_patch_waits_for_its_sections() -> None:
    """An envelope's header keeps the input from being matched as plain text."""
    reader = make_reader((), freeform=True)
    reader.name("run_patch")
    reader.feed("*** Begin Patch\n*** Update File: a.py\n@@\n-old\n+new\n*** End Patch\n")
    reader.close()
    assert [section.text for section in reader.sections] == ["new"]
