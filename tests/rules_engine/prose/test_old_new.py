from __future__ import annotations

from rules_engine.families import ProseFormat
from tests.support.prose import STAND_IN, added, every_split

FORMAT = ProseFormat.OLD_NEW
PAIR = "<old_text line=3>\nold\n</old_text>\n<new_text>\nnew\n</new_text>"


def test_new_text_is_added_to_the_file_of_the_request() -> None:
    """Its path may begin with the workspace's folder, and is given without it too."""
    read = every_split(f"<edits>\n{PAIR}\n</edits>", FORMAT, path="app/src/a.rs")
    assert read.prose == f"<edits>\n{STAND_IN}\n{STAND_IN}\n</edits>"
    (edit,) = read.edits
    assert (edit.tool, edit.paths, edit.text) == ("edit", ("app/src/a.rs", "src/a.rs"), "new")


def test_element_closed_with_the_other_name_ends_all_the_same() -> None:
    """The agent takes any of its closing marks."""
    text = "<old_text>\nold\n</new_text><new_text>\nnew\n</old_text> rest"
    assert added(text, FORMAT, path="a.rs") == [("a.rs", "new")]
