from __future__ import annotations

import pytest

from rules_engine.families import ProseFormat
from tests.support.prose import STAND_IN, every_split

FORMAT = ProseFormat.SHELL


@pytest.mark.parametrize("tag", ["bash", "mswea_bash_command"])
def test_fenced_command_is_a_call_of_the_shell(tag: str) -> None:
    """The file that a here-document writes is a write of its own."""
    read = every_split(f"THOUGHT: x\n```{tag}\ncat > a.py <<'EOF'\nimport x\nEOF\n```\nend", FORMAT)
    assert read.prose == f"THOUGHT: x\n{STAND_IN}\nend"
    command, written = read.edits
    assert command.text == "cat > a.py <<'EOF'\nimport x\nEOF"
    assert command.names == {"bash", "shell"}
    assert (written.paths, written.text, "write" in written.names) == (("a.py",), "import x", True)


def test_command_may_stand_in_an_element() -> None:
    """The agent's other template uses one of its own."""
    text = "x <mswea_bash_command>\nls\n</mswea_bash_command>."
    (edit,) = every_split(text, FORMAT).edits
    assert edit.text == "ls"


def test_other_fences_are_prose() -> None:
    """Code that is shown is run by nobody."""
    text = "```python\nimport x\n```\n"
    assert every_split(text, FORMAT).prose == text
