from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.families import PatchFormat
from rules_engine.formats import patch_reader
from rules_engine.growth import Growth
from rules_engine.patches import PatchReader

Hunks = list[tuple[tuple[str, ...], str]]

ENVELOPE = """*** Begin Patch
*** Add File: docs/new.md
+# Title
+
+text
*** Update File: src/a.rs
*** Move to: src/b.rs
@@ fn main
 context
-old line
+new line
 more context
+second line
@@
+third line
*** Delete File: gone.py
*** End Patch
"""

UNIFIED = """diff --git a/src/a.ts b/src/a.ts
--- a/src/a.ts\t2026-01-01
+++ b/src/a.ts\t2026-01-02
@@ -1,2 +1,2 @@
 context
-old
+new
+++i;
@@ -9 +9 @@
+far
--- /dev/null
+++ b/made.ts
@@ -0,0 +1 @@
+made
"""

BLOCKS = """<<<<<<< SEARCH
:start_line:3
-------
old
=======
new
>>>> not the end
=======
>>>>>>> REPLACE
noise
------- SEARCH
old
=======
+++ plain
++++++++++ also plain

+++++++ REPLACE
"""

HASHLINE = """[src/a.rs#1f3a]
PUT 3
+let a = 1;
+let b = 2;
CUT 9
[b.rs]
MV c.rs
+moved
 context
"""


def hunks(shape: PatchFormat, text: str, step: int) -> tuple[Hunks, list[list[int]], bool]:
    source = Growth()
    reader = patch_reader(shape, source)
    for start in range(0, len(text), step):
        piece = text[start : start + step]
        source.append(piece, start + 1)
        reader.feed(piece, start)
    reader.close()
    arrivals = [
        [s.growth.arrival(n) for n in range(s.growth.length + 1)] + [s.named_at, s.opened_at]
        for s in reader.sections
    ]
    return [(s.paths, s.growth.text) for s in reader.sections], arrivals, reader.recognised


def check(shape: PatchFormat, text: str) -> Hunks:
    whole = hunks(shape, text, max(len(text), 1))
    for step in (1, 2, 3, 7):
        assert hunks(shape, text, step) == whole
    return whole[0]


def test_envelope_gives_added_lines_per_hunk() -> None:
    """Each hunk is a section of its own under its file, a moved file under both names."""
    assert check(PatchFormat.ENVELOPE, ENVELOPE) == [
        (("docs/new.md",), "# Title\n\ntext"),
        (("src/a.rs", "src/b.rs"), "new line\nsecond line"),
        (("src/a.rs", "src/b.rs"), "third line"),
    ]


def test_envelope_without_its_opening_line_is_read() -> None:
    """A model that leaves the first line out, or ends its lines with CR LF, is understood."""
    assert check(PatchFormat.ENVELOPE, "*** Update File: a.py\r\n+x\r\n") == [(("a.py",), "x\r")]


def test_envelope_that_only_deletes_is_recognised() -> None:
    """Deleting a file adds nothing, but it is a patch."""
    result = hunks(PatchFormat.ENVELOPE, "*** Begin Patch\n*** Delete File: a.py", 5)
    assert result == ([], [], True)


def test_envelope_marks_files_that_it_creates() -> None:
    """Only the sections of an added file count as creating it."""
    source = Growth()
    reader = patch_reader(PatchFormat.ENVELOPE, source)
    source.append(ENVELOPE, 1)
    reader.feed(ENVELOPE, 0)
    assert [section.created for section in reader.sections] == [True, False, False]


def test_unified_diff_gives_added_lines_per_hunk() -> None:
    """A new-side line is a header only behind an old-side one; missing sides are no paths."""
    assert check(PatchFormat.UNIFIED, UNIFIED) == [
        (("src/a.ts",), "new\n++i;"),
        (("src/a.ts",), "far"),
        (("made.ts",), "made"),
    ]


def test_unified_diff_ignores_its_own_line_counts() -> None:
    """Added lines beyond what the header promised count too."""
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n"
    assert check(PatchFormat.UNIFIED, text) == [(("x",), "b\nc")]


def test_unified_diff_that_deletes_a_file_names_the_old_path() -> None:
    """Where the new side is /dev/null the old one is the file."""
    text = "--- a/x\n+++ /dev/null\n+y\n--- \n+ z\nrename to q\n+w"
    assert check(PatchFormat.UNIFIED, text) == [(("x",), "y\n z"), (("q",), "w")]


def test_hunks_need_no_header() -> None:
    """Marked lines count although the text names no file."""
    assert check(PatchFormat.HUNKS, "@@\n ctx\n-a\n+b\n@@\n+c\n--- x\n++") == [
        ((), "b"),
        ((), "c\n+"),
    ]


def test_unified_without_header_gives_nothing() -> None:
    """Marked lines alone are no unified diff."""
    assert check(PatchFormat.UNIFIED, "+b\n-c\n") == []


def test_search_replace_gives_the_new_side() -> None:
    """Old text, dividers and markers are left out; what only resembles a marker is text."""
    assert check(PatchFormat.SEARCH_REPLACE, BLOCKS) == [
        ((), "new\n>>>> not the end\n======="),
        ((), "+++ plain\n++++++++++ also plain\n"),
    ]


def test_search_replace_that_ends_in_a_marker_is_closed() -> None:
    """A last line without line end is read as any other."""
    assert check(PatchFormat.SEARCH_REPLACE, "<<<<< SEARCH\n=====\nx\n>>>>>") == [((), "x\n>>>>>")]
    assert check(PatchFormat.SEARCH_REPLACE, "<<<<< SEARCH\n=====\nx\n>>>>> REPLACE") == [((), "x")]


@pytest.mark.case(96)
def test_hashline_gives_rows_that_are_added() -> None:
    """Rows of context and operations are never given out."""
    assert check(PatchFormat.HASHLINE, HASHLINE) == [
        (("src/a.rs",), "let a = 1;\nlet b = 2;"),
        (("b.rs", "c.rs"), "moved"),
    ]


@given(
    st.sampled_from(list(PatchFormat)),
    st.lists(
        st.sampled_from(
            [
                *ENVELOPE.split("\n"),
                *UNIFIED.split("\n"),
                *BLOCKS.split("\n"),
                *HASHLINE.split("\n"),
                "cat > b.sh <<EOF",
                "EOF",
            ]
        ),
        max_size=12,
    ),
)
def test_any_mixture_of_lines_reads_the_same_for_every_cutting(
    shape: PatchFormat, lines: list[str]
) -> None:
    """Whatever lines follow each other, texts, paths and offsets do not depend on the pieces."""
    check(shape, "\n".join(lines))


@given(
    st.sampled_from(list(PatchFormat)),
    st.text(st.sampled_from("+-*@<>= \nSEARCHPL[]#:"), max_size=60),
)
def test_any_text_is_read_without_error(shape: PatchFormat, text: str) -> None:
    """Text that is no patch raises nothing."""
    check(shape, text)


def test_reader_leaves_the_lines_to_its_formats() -> None:
    """The shared part knows no kind of line of its own."""
    with pytest.raises(NotImplementedError):
        PatchReader(Growth()).feed("x", 0)
    with pytest.raises(NotImplementedError):
        PatchReader(Growth()).line("x", 1)
