from __future__ import annotations

import pytest

from rules_engine.families import ProseFormat
from rules_engine.prose import openings
from tests.support.tool_calls import FAMILIES


@pytest.mark.parametrize("format_", ProseFormat)
def test_marks_inside_a_line_begin_as_the_splitter_looks_for_them(format_: ProseFormat) -> None:
    """The splitter tries them at `<` alone."""
    for opening in openings((format_,), FAMILIES):
        if opening.inline:
            assert opening.pattern.pattern.startswith("<")
