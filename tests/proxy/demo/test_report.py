from __future__ import annotations

from proxy.demo import report
from proxy.demo.script import Said


def test_long_lines_are_wrapped_under_their_label() -> None:
    """No line of the demo is wider than a terminal; names are not broken at hyphens."""
    shown = report.wanted(Said("word " * 60 + "a-hyphenated-name"))
    lines = shown.split("\n")
    assert max(map(len, lines)) <= 96
    assert all(line.startswith(" " * 17) for line in lines[1:])
    assert "a-hyphenated-name" in shown


def test_call_is_shown_as_tool_file_and_source() -> None:
    """JSON is for machines."""
    shown = report.wanted(Said("", "write", '{"path": "a.ts", "content": "x\\ny\\n"}'))
    assert "write a.ts: x\n" in shown


def test_audit_rows_stand_in_columns() -> None:
    """Absent values are shown as such."""
    row = {
        "rule": "foo",
        "action": "interrupt",
        "surface": "text",
        "tool": None,
        "target_path": None,
        "attempt": 1,
    }
    head, line = report.audit([row]).split("\n")[2:]
    assert head.index("action") == line.index("interrupt")
    assert line.split() == ["foo", "interrupt", "text", "-", "-", "1"]
