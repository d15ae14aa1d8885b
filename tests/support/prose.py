"""Reads a text that holds edits, in pieces of any size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from rules_engine.families import EditsInProse, ProseFormat
from rules_engine.prose import Closed, Inside, Opened, Part, Plain, Splitter, openings
from rules_engine.tools import CallReader
from tests.support.tool_calls import FAMILIES

STAND_IN = "\ufffc"

# One edit of each format, that adds the word `new` to the file `a.py`.
EXAMPLES = {
    ProseFormat.SEARCH_REPLACE: "a.py\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n",
    ProseFormat.WHOLE_FILE: "a.py\n```\nnew\n```",
    ProseFormat.UNIFIED: "```diff\n--- a.py\n+++ a.py\n@@ @@\n-old\n+new\n```",
    ProseFormat.ENVELOPE: "*** Begin Patch\n*** Update File: a.py\n-old\n+new\n*** End Patch",
    ProseFormat.ELEMENTS: "<write_to_file><path>a.py</path><content>new</content></write_to_file>",
    ProseFormat.FUNCTIONS: (
        "<function=edit><parameter=file_path>a.py</parameter><parameter=old_string>old</parameter>"
        "<parameter=new_string>new</parameter></function>"
    ),
    ProseFormat.ARGUMENT_LINES: (
        "TOOL_NAME: single_find_and_replace\nBEGIN_ARG: filepath\na.py\nEND_ARG\n"
        "BEGIN_ARG: old_string\nold\nEND_ARG\nBEGIN_ARG: new_string\nnew\nEND_ARG\n```"
    ),
    ProseFormat.OLD_NEW: "<old_text line=1>old</old_text><new_text>new</new_text>",
    ProseFormat.SHELL: "```bash\ncat > a.py <<E\nnew\nE\n```",
}


@dataclass(frozen=True, slots=True)
class Edit:
    """What one section of an edit says: the tool, what else it is called, files, added text."""

    tool: str
    names: frozenset[str]
    paths: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Split:
    """A text, read: its prose (with a stand-in for each edit), and what the edits add."""

    prose: str
    edits: tuple[Edit, ...]


def split(text: str, *formats: ProseFormat, cuts: Iterable[int] = (), path: str = "") -> Split:
    """Feed `text` cut at `cuts`. All parts together must be the text."""
    edits = EditsInProse(formats, path)
    splitter = Splitter(openings(edits.formats, FAMILIES))
    bounds = [0, *cuts, len(text)]
    parts: list[Part] = []
    for start, end in pairwise(bounds):
        parts += splitter.feed(text[start:end])
    parts += splitter.close()
    assert "".join(_text_of(part) for part in parts) == text
    return _gathered(parts, (path,) if path else ())


def _text_of(part: Part) -> str:
    match part:
        case Plain(text) | Inside(text):
            return text
        case Opened(_, mark):
            return mark
        case Closed():
            return ""


def _gathered(parts: Iterable[Part], paths: tuple[str, ...]) -> Split:
    prose, found, reader, tool = "", list[Edit](), None, ""
    for part in parts:
        match part:
            case Plain(text):
                prose += text
            case Opened(block, _):
                prose += STAND_IN
                reader, tool = block.reader(FAMILIES, paths), block.tool
                reader.name(tool)
            case Inside(text):
                assert reader is not None
                reader.feed(text)
            case Closed():
                assert reader is not None
                found += _edits(reader, tool)
                paths = found[-1].paths if found else paths
    return Split(prose, tuple(found))


def _edits(reader: CallReader, tool: str) -> list[Edit]:
    reader.close()
    return [
        Edit(tool, frozenset(section.names), section.paths, section.text)
        for section in reader.sections
    ]


def every_split(text: str, *formats: ProseFormat, path: str = "") -> Split:
    """Read it whole, in single characters and in two pieces at every place; all must agree."""
    whole = split(text, *formats, path=path)
    assert split(text, *formats, cuts=range(1, len(text)), path=path) == whole
    for cut in range(1, len(text)):
        assert split(text, *formats, cuts=(cut,), path=path) == whole, f"cut at {cut}"
    return whole


def added(text: str, *formats: ProseFormat, path: str = "") -> list[tuple[str, str]]:
    """Give file and added text of each edit, the same for every cutting."""
    return [
        (" ".join(each.paths), each.text) for each in every_split(text, *formats, path=path).edits
    ]
