from __future__ import annotations

from rules_engine.families import ProseFormat
from rules_engine.prose import openings
from tests.support.prose import STAND_IN, added, every_split

FORMAT = ProseFormat.ELEMENTS
WRITE = (
    "<write_to_file>\n<path>src/a.ts</path>\n<content>\nconst a = <b>1</b>;\n</content>\n"
    "</write_to_file>"
)


def test_element_is_a_call_with_its_children_as_arguments() -> None:
    """One line end on either side of a value is no part of it."""
    read = every_split(f"I <i>write</i>.\n{WRITE}\nThen", FORMAT)
    assert read.prose == f"I <i>write</i>.\n{STAND_IN}\nThen"
    (edit,) = read.edits
    assert (edit.tool, edit.paths) == ("write_to_file", ("src/a.ts",))
    assert edit.text == "const a = <b>1</b>;"
    assert edit.names == {"write_to_file", "write"}


def test_patch_inside_an_argument_is_read_as_one() -> None:
    """Old text of a SEARCH/REPLACE block is seen by nobody."""
    text = (
        "<replace_in_file><path>b.ts</path><diff>\n<<<<<<< SEARCH\nold\n=======\nnew\n"
        ">>>>>>> REPLACE\n</diff></replace_in_file>"
    )
    assert added(text, FORMAT) == [("b.ts", "new")]


def test_command_is_a_call_of_the_shell() -> None:
    """Every tool of the agent is recognised, wherever on its line it stands."""
    (edit,) = every_split(
        "Go <execute_command><command>ls</command></execute_command>.", FORMAT
    ).edits
    assert (edit.text, edit.names) == ("ls", {"execute_command", "bash", "shell"})


def test_unknown_and_unfinished_elements_are_prose() -> None:
    """Only the tools of the families are calls; none known: nothing opens."""
    text = "<ask_followup_question><question>x</question> <write_to_fil"
    assert every_split(text, FORMAT).prose == text
    assert openings((FORMAT,), ()) == ()


def test_element_that_never_ends_is_read_to_the_end() -> None:
    """What was added so far counts."""
    assert added(WRITE[: WRITE.index("1")], FORMAT) == [("src/a.ts", "const a = <b>")]


def test_file_may_hold_the_mark_that_ends_it() -> None:
    """What ends the file is followed by another argument, or by the end of the call."""
    source = "<entry>\n<content>x</content>\n<id>y</id>\n</entry>"
    for order in (
        f"<path>a.xml</path>\n<content>\n{source}\n</content>\n",
        f"<content>\n{source}\n</content>\n<path>a.xml</path>",
    ):
        text = f"<write_to_file>\n{order}</write_to_file> rest"
        assert added(text, FORMAT) == [("a.xml", source)]
