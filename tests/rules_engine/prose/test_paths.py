from __future__ import annotations

import pytest

from rules_engine.prose.paths import named_by


@pytest.mark.parametrize(
    "line",
    ["src/a.py", " src/a.py ", "**src/a.py**", "`src/a.py`:", "## src/a.py", "**src/a.py:**"],
)
def test_decorations_are_taken_off(line: str) -> None:
    """Models dress a path up in every way that Markdown has."""
    assert named_by((line,)) == ("src/a.py",)


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        (("a.py", "```python"), ("a.py",)),
        (("a.py", "```", "<source>"), ("a.py",)),
        (("a.py", ""), ()),
        (("a.py", "Some words"), ()),
        (("```src/a.py",), ("src/a.py",)),
        (("```python",), ()),
        (("Makefile", "```"), ("Makefile",)),
        (("Next:", "```"), ()),
        (("...",), ()),
        (("my docs/read me.md", "```"), ("my docs/read me.md", "me.md")),
        (("Here is a.py:", "```"), ("Here is a.py", "a.py")),
        ((), ()),
    ],
)
def test_nearest_line_counts_but_for_fences(lines: tuple[str, ...], named: tuple[str, ...]) -> None:
    """A line that names no file ends the search; a sentence may end with one."""
    assert named_by(lines) == named
