from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.families import PatchArgument, PatchFormat, ToolFamily, shell_family
from rules_engine.tools import Section, make_reader
from tests.support.tool_calls import Reading, read_call

FAMILIES = (
    ToolFamily(("write",), ("write",), paths=("filePath",), added=("content",)),
    ToolFamily(
        ("edit",), ("edit",), paths=("filePath",), added=("newString",), removed=("oldString",)
    ),
    ToolFamily(("edit",), ("edit",), paths=("path",), added=("newString",)),
    ToolFamily(
        ("edit_file",),
        ("edit",),
        paths=("path",),
        added=("edits[].new_text",),
        removed=("edits[].old_text",),
    ),
    ToolFamily(
        ("multi",),
        ("edit",),
        paths=("all[].file",),
        added=("all[].new",),
        removed=("all[].old",),
    ),
    ToolFamily(("many",), ("edit",), paths=("paths[]", "paths"), added=("ops[].out",)),
    ToolFamily(
        ("editor",),
        ("edit", "write"),
        paths=("path",),
        added=("file_text",),
        where=(("command", ("create",)),),
    ),
    ToolFamily(
        ("editor",),
        ("edit",),
        paths=("path",),
        added=("new_str",),
        where=(("command", ("str_replace",)),),
    ),
    ToolFamily(("dual",), ("edit",), paths=("path",), added=("new",), removed=("old",)),
    ToolFamily(("dual",), ("write",), paths=("path",), added=("new",), without=("old", "line")),
    ToolFamily(
        ("mode",),
        ("write",),
        paths=("path",),
        added=("edits[].diff",),
        renamed=("edits[].rename",),
        where=(("edits[].op", ("create",)),),
    ),
    ToolFamily(
        ("mode",),
        ("edit",),
        paths=("path",),
        patches=(PatchArgument("edits[].diff", PatchFormat.HUNKS),),
        renamed=("edits[].rename",),
        unless=(("edits[].op", ("create",)),),
    ),
    ToolFamily(
        ("patch",),
        ("edit",),
        patches=(
            PatchArgument("text", PatchFormat.ENVELOPE),
            PatchArgument("", PatchFormat.ENVELOPE),
            PatchArgument("", PatchFormat.HASHLINE),
        ),
        freeform=(PatchFormat.ENVELOPE,),
    ),
    ToolFamily(
        ("patch",), ("apply_patch",), patches=(PatchArgument("text", PatchFormat.ENVELOPE),)
    ),
    ToolFamily(
        ("blocks",),
        ("edit",),
        paths=("path",),
        patches=(PatchArgument("diff", PatchFormat.SEARCH_REPLACE),),
    ),
    shell_family(("bash",), ("command",), directory=("workdir",), words=("command[]",)),
)

ENVELOPE = (
    "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** Add File: b.md\n+text\n*** End Patch"
)
REMOVAL = "*** Begin Patch\n*** Update File: a.rs\n same\n-old\n*** End Patch"
BLOCKS = "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n"


def read(name: str, arguments: Any, *, cut: bool = False) -> Reading:
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    cuts = range(1, len(raw)) if cut else ()
    return read_call(name, raw, cuts, families=FAMILIES)


def texts(name: str, arguments: Any) -> list[tuple[tuple[str, ...], str]]:
    whole = read(name, arguments)
    assert read(name, arguments, cut=True) == whole
    return [(section.paths, section.text) for section in whole.sections]


CALLS: list[tuple[str, Any, list[tuple[tuple[str, ...], str]]]] = [
    ("write", {"content": "a\n\u00e9", "filePath": "x.py"}, [(("x.py",), "a\n\u00e9")]),
    ("Write", {"filePath": "x.py", "content": ""}, [(("x.py",), "")]),
    ("edit", {"filePath": "x", "oldString": "bad", "newString": "good"}, [(("x",), "good")]),
    ("edit", {"path": "y", "newString": "good"}, [(("y",), "good")]),
    (
        "edit_file",
        {"path": "p", "edits": [{"old_text": "o", "new_text": "n1"}, {"new_text": "n2"}]},
        [(("p",), "n1"), (("p",), "n2")],
    ),
    (
        "edit_file",
        {"path": "p", "edits": json.dumps([{"old_text": "o", "new_text": 'n"1'}])},
        [(("p",), 'n"1')],
    ),
    (
        "multi",
        {"all": [{"new": "1", "old": "0", "file": "a"}, {"file": "b", "new": "2"}]},
        [(("a",), "1"), (("b",), "2")],
    ),
    ("many", {"ops": [{"out": "x"}], "paths": ["a", "b"]}, [(("a", "b"), "x")]),
    ("many", {"paths": "a", "ops": [{"out": "x"}]}, [(("a",), "x")]),
    ("editor", {"file_text": "t", "path": "a", "command": "create"}, [(("a",), "t")]),
    ("editor", {"command": "str_replace", "path": "a", "new_str": "n"}, [(("a",), "n")]),
    ("editor", {"command": "undo", "new_str": "n"}, [((), "n"), ((), "undo")]),
    ("dual", {"path": "a", "new": "n"}, [(("a",), "n")]),
    ("mode", {"path": "a", "edits": [{"op": "create", "diff": "-x"}]}, [(("a",), "-x")]),
    ("mode", {"path": "a", "edits": [{"diff": "-x\n+y", "op": "update"}]}, [(("a",), "y")]),
    (
        "mode",
        {"path": "a", "edits": [{"diff": "-x\n+y\n z", "rename": "b"}]},
        [(("a", "b"), "y")],
    ),
    (
        "mode",
        {"path": "a", "edits": [{"op": "update", "diff": "+y", "rename": "b"}]},
        [(("a",), "y"), (("b",), "y")],
    ),
    ("patch", {"text": ENVELOPE}, [(("a.rs",), "new"), (("b.md",), "text")]),
    ("patch", json.dumps(ENVELOPE), [(("a.rs",), "new"), (("b.md",), "text")]),
    ("patch", json.dumps("[a.rs#1f]\nPUT 4\n old\n+new\n"), [(("a.rs",), "new")]),
    ("patch", json.dumps("[no path\n+new\n"), [((), "[no path\n+new\n")]),
    ("patch", ENVELOPE, [(("a.rs",), "new"), (("b.md",), "text")]),
    ("patch", {"text": "*** Begin Patch\n*** Delete File: a\n"}, []),
    ("blocks", {"diff": BLOCKS, "path": "a"}, [(("a",), "new")]),
    ("bash", {"command": ["bash", "-lc", "ls"]}, [((), "bash"), ((), "-lc"), ((), "ls")]),
    (
        "bash",
        {"command": "sed -i s/OLD/NEW/ b; echo x > a", "workdir": "w"},
        [((), "sed -i s/OLD/NEW/ b; echo x > a"), (("w/b",), "NEW"), (("w/a",), "x")],
    ),
    (
        "bash",
        {"command": "cat > a.py <<E\nx = 1\nE\n"},
        [((), "cat > a.py <<E\nx = 1\nE\n"), (("a.py",), "x = 1")],
    ),
    ("strange", {"path": "a.py", "content": "c", "q": "x"}, [(("a.py",), "c")]),
    ("strange", {"file": "a.py", "old_string": "o", "new_string": "n"}, [(("a.py",), "n")]),
    ("strange", {"patch": ENVELOPE}, [(("a.rs",), "new"), (("b.md",), "text")]),
    ("strange", {"patch": REMOVAL}, []),
    ("strange", {"input": BLOCKS}, [((), "new")]),
    ("strange", {"content": "c", "q": "x"}, [((), "c"), ((), "x")]),
    ("strange", {"query": "q", "deep": ["", "r"]}, [((), "q"), ((), "r")]),
    ("strange", {"n": 1}, []),
    ("strange", "not json", [((), "not json")]),
    ("strange", "", []),
    ("write", {"path": "a.py", "contents": "c"}, [(("a.py",), "c")]),
    ("write", {"file_path": "a.py", "body": "c"}, [(("a.py",), "a.py"), (("a.py",), "c")]),
    ("edit", '{"filePath": "a", "oldString": "bad', [(("a",), "a")]),
    ("write", '{"filePath": "a", "content": "cut \\u00', [(("a",), "cut ")]),
    ("write", '{"filePath": "a", "content": "x"} trailing', [(("a",), "x")]),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), CALLS)
def test_call_gives_its_added_source(
    name: str, arguments: Any, expected: list[tuple[tuple[str, ...], str]]
) -> None:
    """File and added text of each section, the same whole and in single characters."""
    assert texts(name, arguments) == expected


@pytest.mark.parametrize(
    ("name", "arguments"), [(n, a) for n, a, _ in CALLS if isinstance(a, dict)]
)
def test_arguments_encoded_twice_give_the_same(name: str, arguments: dict[str, Any]) -> None:
    """A JSON string that holds the arguments reads like the arguments."""
    assert texts(name, json.dumps(json.dumps(arguments))) == texts(name, arguments)


@pytest.mark.parametrize(
    ("name", "arguments"), [(n, a) for n, a, _ in CALLS if isinstance(a, dict)]
)
def test_keys_in_any_order_give_the_same(name: str, arguments: dict[str, Any]) -> None:
    """What is told does not depend on the order in which the keys came."""
    turned = dict(reversed(arguments.items()))
    assert sorted(texts(name, turned)) == sorted(texts(name, arguments))


@pytest.mark.parametrize(("name", "arguments", "expected"), CALLS)
def test_truncated_call_never_shows_what_the_whole_would_not(
    name: str, arguments: Any, expected: list[tuple[tuple[str, ...], str]]
) -> None:
    """However short a call is cut, while it streams its sections begin those of the whole call."""
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    whole = {section.key: section.text for section in read(name, raw).sections}
    for length in range(len(raw)):
        for section in read(name, raw[:length]).live:
            assert whole[section.key].startswith(section.text)
    assert len(whole) == len(expected)


@given(st.sampled_from(CALLS), st.data())
def test_any_cutting_gives_the_same(call: tuple[str, Any, Any], data: st.DataObject) -> None:
    """Sections, offsets, names and what settled when are the same for any pieces."""
    name, arguments, _ = call
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    cuts = data.draw(st.sets(st.integers(0, len(raw)), max_size=6).map(sorted))
    assert read_call(name, raw, cuts, families=FAMILIES) == read(name, raw)


def written(pairs: list[tuple[str, str]]) -> str:
    """Write an object, duplicate keys included."""
    return "{" + ", ".join(f'"{key}": {value}' for key, value in pairs) + "}"


KEYS = [
    "path",
    "filePath",
    "file",
    "content",
    "newString",
    "oldString",
    "edits",
    "new_text",
    "old_text",
    "all",
    "new",
    "command",
    "paths",
    "ops",
    "out",
    "file_text",
    "new_str",
    "op",
    "diff",
    "rename",
    "text",
    "patch",
    "line",
    "old",
    "workdir",
]
STRINGS = st.sampled_from(
    [
        "a.py",
        "b",
        "create",
        "str_replace",
        "",
        ENVELOPE,
        BLOCKS,
        "cat > z <<E\nx\nE\n",
        "cd v; echo y > z; sed -i s/o/n/ /q",
        "+x\n-y",
        '["n"]',
    ]
)
PAIRS = st.recursive(
    STRINGS.map(json.dumps)
    | st.sampled_from(["null", "3", json.dumps(json.dumps([{"new": "x"}]))]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(st.sampled_from(KEYS), inner), max_size=4).map(written)
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(sorted({tool for family in FAMILIES for tool in family.tools} | {"other"})),
    st.lists(st.tuples(st.sampled_from(KEYS), PAIRS), max_size=6).map(written),
    st.data(),
)
def test_any_arguments_read_the_same_for_every_cutting(
    name: str, raw: str, data: st.DataObject
) -> None:
    """Whatever the arguments are: whole, in single characters, cut anywhere, cut short."""
    raw = raw[: data.draw(st.integers(len(raw) // 2, len(raw)))]
    whole = read(name, raw)
    assert read(name, raw, cut=True) == whole
    cuts = data.draw(st.sets(st.integers(0, len(raw)), max_size=4).map(sorted))
    assert read_call(name, raw, cuts, families=FAMILIES) == whole


@given(st.lists(st.tuples(st.sampled_from(KEYS), PAIRS), max_size=6).map(written), st.data())
def test_settled_section_stays_as_it_is(raw: str, data: st.DataObject) -> None:
    """Once settled, a section keeps its files, its names and the offset that settled it."""
    tools = sorted({tool for family in FAMILIES for tool in family.tools})
    reader = make_reader(FAMILIES, freeform=False)
    reader.name(data.draw(st.sampled_from(tools)))
    known: dict[str, tuple[Any, ...]] = {}
    for at, character in enumerate(raw, 1):
        reader.feed(character)
        for section in reader.take():
            if section.settled:
                told = (section.paths, section.names, section.settled_at)
                assert known.setdefault(section.key, told) == told
                assert section.settled_at <= at
    reader.close()
    for section in reader.sections:
        assert section.settled
        told = (section.paths, section.names, section.settled_at)
        assert known.get(section.key, told) == told


def settled(name: str, arguments: Any) -> list[tuple[bool, str]]:
    """Give of each live section whether it is settled, and the raw text that settled it."""
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return [(s.settled, raw[: s.settled_at]) for s in read(name, raw).live]


def test_section_settles_with_the_path_that_comes_after_it() -> None:
    """Content in front of its path waits for the path's last character."""
    assert settled("write", {"content": "a", "filePath": "x"}) == [
        (True, '{"content": "a", "filePath": "x"')
    ]


def test_section_settles_with_the_path_that_comes_before_it() -> None:
    """A path in front settles the section before its first character."""
    assert settled("write", {"filePath": "x", "content": "a"}) == [(True, '{"filePath": "x"')]


def test_section_settles_with_what_selects_its_family() -> None:
    """A command that decides what an argument means settles it too."""
    assert settled("editor", {"path": "a", "file_text": "t", "command": "create"}) == [
        (True, '{"path": "a", "file_text": "t", "command": "create"')
    ]


def test_section_settles_when_no_argument_can_change_the_tool() -> None:
    """Whether a tool writes or edits may depend on an argument that is not there yet."""
    assert settled("dual", {"path": "a", "new": "n"}) == [(False, "")]
    assert settled("dual", {"new": "n", "path": "a", "old": "o"}) == [
        (True, '{"new": "n", "path": "a", "old": "')
    ]
    assert settled("dual", {"line": 3, "new": "n", "path": "a"}) == [
        (True, '{"line": 3, "new": "n", "path": "a"')
    ]
    finished = read("dual", {"path": "a", "new": "n"}).sections
    assert [(s.settled_at, s.names) for s in finished] == [(25, ("dual", "edit", "write"))]


def test_section_without_path_settles_at_the_end() -> None:
    """While a path may still come the section is open; the end settles it without one."""
    reading = read("write", {"content": "a"})
    assert [(s.settled, s.settled_at) for s in reading.live] == [(False, 0)]
    assert [(s.settled, s.settled_at, s.paths) for s in reading.sections] == [(True, 16, ())]


def test_section_of_a_shell_settles_at_once() -> None:
    """A tool without paths has nothing to wait for."""
    assert settled("bash", {"command": "ls"}) == [(True, "")]


def test_file_of_a_command_settles_with_its_directory() -> None:
    """In front of it with the line that names the file, behind it with the directory's value."""
    line = "cat > a <<E\\n"
    behind = settled("bash", {"command": "cat > a <<E\nx\nE", "workdir": "w"})
    assert [text.endswith('"workdir": "w"') for _, text in behind] == [False, True]
    before = settled("bash", {"workdir": "w", "command": "cat > a <<E\nx\nE"})
    assert [text.endswith(line) for _, text in before] == [False, True]
    absolute = settled("bash", {"command": "cat > /a <<E\nx\nE"})
    assert [text.endswith("> /a <<E\\n") for _, text in absolute] == [False, True]


def test_file_of_a_command_without_directory_settles_at_the_end() -> None:
    """One may come until then; an empty one or null is none."""
    for more in ({}, {"workdir": None}, {"workdir": ""}):
        reading = read("bash", {"command": "echo x > a", **more})
        assert [s.settled for s in reading.live] == [True, False]
        assert [s.paths for s in reading.sections] == [(), ("a",)]


def test_directory_that_comes_twice_counts_twice() -> None:
    """The first is taken while the call streams, the last when it is finished."""
    raw = '{"workdir": "v", "command": "echo x > a", "workdir": "w"}'
    assert read("bash", raw, cut=True) == read("bash", raw)
    assert [s.paths for s in read("bash", raw).sections] == [(), ("v/a",), ("w/a",)]


def test_printed_text_settles_with_the_end_of_its_argument() -> None:
    """Not only with that of the call."""
    found = settled("bash", {"workdir": "w", "command": "echo x > a", "more": "x"})
    assert found[-1][1].endswith('echo x > a"')


def test_command_word_by_word_is_read_when_it_is_whole() -> None:
    """Its words alone, the line that they come to, and what that writes."""
    call = {"command": ["sed", "-i", "s/OLD/so NEW/", "f"], "workdir": "w"}
    line = "sed -i 's/OLD/so NEW/' f"
    words = [((), word) for word in call["command"]]
    assert texts("bash", call) == [*words, ((), line), (("w/f",), "so NEW")]
    assert texts("bash", {"command": ["echo x > a"]}) == [((), "echo x > a"), (("a",), "x")]


def test_script_among_words_streams() -> None:
    """It is known to be one from the words in front of it."""
    raw = json.dumps({"workdir": "w", "command": ["bash", "-lc", "cat > a <<E\nx\ny"]})[:-6]
    assert [(s.paths, s.text) for s in read("bash", raw).live][-1] == (("w/a",), "x")


def test_section_of_a_patch_settles_with_its_header() -> None:
    """The file is known when the header's line has ended."""
    assert [text.rpartition("*** ")[2] for _, text in settled("patch", {"text": ENVELOPE})] == [
        "Update File: a.rs\\n",
        "Add File: b.md\\n",
    ]


def test_duplicate_path_counts_first_while_streaming_and_last_when_finished() -> None:
    """A hit that was found stands; the finished call is judged by what a parser would see."""
    reading = read("write", '{"filePath": "a.py", "content": "c", "filePath": "b.py"}')
    assert [section.paths for section in reading.live] == [("a.py",)]
    assert [(section.key, section.paths) for section in reading.sections] == [
        ("content", ("a.py",)),
        ("content~2", ("b.py",)),
    ]


def test_duplicate_content_gives_a_section_each() -> None:
    """Both values were written by the model, so both are looked at, under keys of their own."""
    reading = read("write", '{"filePath": "a", "content": "1", "content": "2"}')
    assert [(s.key, s.text) for s in reading.sections] == [("content", "1"), ("content~2", "2")]


def test_name_that_comes_after_the_arguments_settles_them() -> None:
    """Arguments that came before the name are read then, and settled no earlier."""
    raw = '{"filePath": "a", "content": "c"}'
    reader = make_reader(FAMILIES, freeform=False)
    reader.feed(raw)
    assert (reader.names, reader.sections) == ((), ())
    reader.name("Write")
    reader.name("edit")
    assert reader.names == ("write",)
    section = Section("content", "c", ("a",), settled=True, settled_at=len(raw), names=("write",))
    assert reader.sections == (section,)
    assert raw[: reader.arrival("content", 1)].endswith('"c')


def test_call_that_is_never_named_is_read_when_it_ends() -> None:
    """Without a name only what fits any tool is tried."""
    reader = make_reader(FAMILIES, freeform=False)
    reader.feed('{"path": "a", "content": "c"}')
    reader.close()
    reader.close()
    reader.feed("more")
    assert reader.names == ("write",)
    assert [(s.paths, s.text, s.names) for s in reader.sections] == [(("a",), "c", ("write",))]


def test_names_follow_what_the_arguments_show() -> None:
    """A tool that does both is a write only where nothing is replaced."""
    assert read("dual", {"path": "a", "new": "n"}).names == ("dual", "edit", "write")
    assert read("dual", {"path": "a", "old": None, "new": "n"}).names == ("dual", "edit", "write")
    assert read("dual", {"path": "a", "new": "n", "old": "o"}).names == ("dual", "edit")
    assert read("dual", {"path": "a", "new": "n", "line": 3}).names == ("dual", "edit")
    assert read("editor", {"command": "create", "path": "a", "file_text": "t"}).names == (
        "editor",
        "edit",
        "write",
    )


def test_names_of_a_section_are_its_own() -> None:
    """A file that a shell command writes is a write; the command itself is none."""
    sections = read("bash", {"command": "cat > a <<E\nx\nE\n"}).sections
    assert [set(s.names) for s in sections] == [{"bash", "shell"}, {"bash", "write"}]


def test_file_that_a_patch_creates_is_also_written() -> None:
    """An added file counts as an edit and as a write."""
    sections = read("mcp__x__patch", {"text": ENVELOPE}).sections
    own = {"mcp__x__patch", "patch", "edit", "apply_patch"}
    assert [set(s.names) for s in sections] == [own, {*own, "write"}]


@pytest.mark.case(95)
def test_edit_that_removes_the_bad_construct_shows_none_of_it() -> None:
    """Old text is never given out, not even when nothing else is there."""
    assert texts("edit", {"filePath": "a", "oldString": "bad", "newString": ""}) == [(("a",), "")]
    assert texts("edit", {"filePath": "a", "oldString": "bad"}) == [(("a",), "a")]


@pytest.mark.case(49)
def test_patch_of_two_files_keeps_them_apart() -> None:
    """Each file of a patch is a section under its own path only."""
    assert texts("patch", {"text": ENVELOPE}) == [(("a.rs",), "new"), (("b.md",), "text")]


@pytest.mark.case(91)
def test_call_without_any_delta_is_read_when_it_ends() -> None:
    """Arguments that come in one piece give the same sections."""
    reading = read("write", {"filePath": "a", "content": "c"})
    assert [section.text for section in reading.sections] == ["c"]


def test_reader_takes_only_what_is_new() -> None:
    """Each `take` gives the sections that changed, with the text that is new."""
    reader = make_reader(FAMILIES, freeform=False)
    reader.name("write")
    reader.feed('{"content": "ab')
    assert [(s.text, s.settled) for s in reader.take()] == [("ab", False)]
    assert reader.take() == ()
    reader.feed('c", "filePath": "x')
    assert [(s.text, s.settled) for s in reader.take()] == [("c", False)]
    reader.feed('"')
    assert [(s.text, s.settled) for s in reader.take()] == [("", True)]


def test_argument_that_no_family_of_the_name_has_is_read_while_it_streams() -> None:
    """Another agent's tool may be called so: what carries source in most tools is matched."""
    reader = make_reader(
        (ToolFamily(("edit_file",), ("edit",), ("path",), ("content",)),), freeform=False
    )
    reader.name("edit_file")
    reader.feed('{"path":"a.txt","text":"new so')
    (section,) = reader.sections
    assert (section.text, section.paths, section.settled) == ("new so", ("a.txt",), True)
    assert section.names == ("edit_file",)
