from __future__ import annotations

import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.growth import Growth
from rules_engine.shell import ShellReader
from tests.support.shell_commands import COMMANDS, Written, every_read, read, written

# What commands are made of, and what takes them apart.
FRAGMENTS = [
    *("cat", "echo ", "tee ", "sed -i ", "printf ", "bash -c ", "cd a", "apply_patch", "{ ", "}"),
    *("<<E", "<<-'E'", "<<<", "\nE\n", "\n\tE", "E", " > f", ">>f", " 2>&1", "&>", ">(", "<("),
    *("|", "&&", "||", ";", "&", "(", ")", "\n", "\r\n", " ", "\t", "\\", "\\\n", "# "),
    *("'", '"', "$'", "\\x4", "\\u00e9", "$(", "${", "$((", "))", "`", "$", "1", "12>", "x", "é"),
    *("s/a/b/", "-e ", "a\\", "*** Begin Patch\n*** Add File: p\n", "\n+added", "*** End Patch\n"),
    *("if ", "then ", "f() ", "xargs ", "find . -exec ", "eval ", "\U0001f600"),
]


@pytest.mark.parametrize(
    ("command", "expected"), [pytest.param(*each, id=what) for what, each in COMMANDS.items()]
)
def test_command_writes_what_it_would(command: str, expected: list[Written]) -> None:
    """Files, texts and names of everything that a command writes, however it is cut."""
    assert written(command) == expected


@pytest.mark.parametrize("command", [command for command, _ in COMMANDS.values()])
def test_longer_command_takes_nothing_back(command: str) -> None:
    """What was told of a command's beginning begins what is told of the whole."""
    whole = read(command)
    for length in range(len(command)):
        told = _live(command[:length])
        assert len(told) <= len(whole.written)
        for early, late in zip(told, whole.written, strict=False):
            assert (early.paths, early.names) == (late.paths, late.names)
            assert late.text.startswith(early.text)


def _live(command: str) -> list[Written]:
    """What is told before the command is known to be over."""
    source = Growth()
    reader = ShellReader(source)
    source.append(command, 1)
    reader.feed(command, 0)
    return [Written(s.paths, s.growth.text, s.names or ()) for s in reader.sections]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join), st.data())
def test_any_text_reads_the_same_for_every_cutting(text: str, data: st.DataObject) -> None:
    """Whatever signs follow each other: nothing raises, and no text, name or offset differs."""
    whole = read(text)
    cuts = data.draw(st.sets(st.integers(0, len(text)), max_size=8).map(sorted))
    assert read(text, cuts) == whole
    assert read(text, range(1, len(text))) == whole


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))
def test_offsets_lie_inside_the_command(text: str) -> None:
    """Nothing is known before it was read, nor after the end."""
    for offsets in read(text).offsets:
        assert all(0 <= offset <= len(text) for offset in offsets)


def test_here_document_is_told_line_by_line() -> None:
    """Its file is known with the line of its command, each character with itself."""
    command = "cat > a.py <<'EOF'\nxy\nEO!\nEOF\n"
    ((named, opened, *arrivals),) = every_read(command).offsets
    assert (named, opened) == (19, 20)
    assert arrivals[1:3] == [20, 21]
    assert arrivals[3:] == [25, 25, 25, 25]  # a line that begins like the end waits


def test_printed_text_is_told_where_its_pipeline_ends() -> None:
    """Further words or targets could come until then."""
    assert [each[0] for each in every_read("echo x > a ; echo y > b\necho z > c").offsets] == [
        12,
        24,
        34,
    ]


def test_command_runs_below_the_directory_that_is_told() -> None:
    """Paths are seen from where the command's own directory is."""
    assert written("echo x > a; cd b; echo y > c", "src") == [
        Written(("src/a",), "x"),
        Written(("src/b/c",), "y"),
    ]


def test_scripts_are_read_three_deep() -> None:
    """Deeper ones are text."""
    command = "echo x > a"
    for depth in range(5):
        assert [w.paths for w in written(command)] == ([("a",)] if depth < 4 else [])
        quoted = command.replace("\\", "\\\\").replace('"', '\\"')
        command = f'bash -c "{quoted}"'


HOSTILE = [
    *("'", "''", '"a" ', "(", "$(", '"$(', "{ ", "sudo ", "a ", "echo a > f; ", "cat <<E\n"),
    *("cat > f <<E\nx\nE\n", "\\\n", "*** Begin Patch\n", "$", "# x\n", "echo a | tee f | "),
    *("cd aaaa; ", "{ echo a; ", 'bash -c "', "printf %s%s a b > f; ", "$'\\x41' ", "1", '"\n" '),
    *("A=b ", "&& ", "find . -exec ", "${", "`", "sed -i 's/a/b/' f; ", "<<'a", "echo $(echo "),
]


@pytest.mark.parametrize("unit", [*HOSTILE, "x"])
def test_work_grows_with_the_text_alone(unit: str) -> None:
    """Four times the text costs about four times the calls: no look at what came before."""
    small, large = (unit * (size // len(unit)) for size in (2_000, 8_000))
    assert _calls(large) < 6 * _calls(small) + 2_000


def test_work_on_arguments_grows_with_them_alone() -> None:
    """A format that is used again and again, and long scripts of sed."""
    shapes = ["printf '{}%s' {}> f", "sed -i '{}' {}f"]
    for shape, long, many in [(shapes[0], "x", "a "), (shapes[1], "s/a/b/;", "f ")]:
        small, large = (shape.format(long * n, many * n) for n in (500, 2_000))
        assert _calls(large) < 6 * _calls(small) + 2_000
        assert sum(len(each.text) for each in read(large).written) < 12 * len(large)


def _calls(text: str) -> int:
    """How many functions are called to read the text in small pieces."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        read(text, range(5, len(text), 5))
    finally:
        sys.setprofile(before)
    return count
