from __future__ import annotations

import pytest

from rules_engine.shell.joining import MORE, joined


@pytest.mark.parametrize(
    ("text", "end"),
    [("\\\n", 2), ("\\\r\n", 3), ("\\\rx", 0), ("\\x", 0), ("\\", MORE), ("\\\r", MORE)],
)
def test_escaped_line_end_is_found(text: str, end: int) -> None:
    """With or without a carriage return; what is not there yet is waited for."""
    assert joined(text, 0, final=False) == end
    assert joined(text, 0, final=True) == max(end, 0)
