"""Edits in prose: the formats in which an answer's text edits files or calls tools.

One file a format; each says what opens a block, and the block knows where it ends and what it
adds. `Splitter` cuts the text by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from rules_engine.families import ProseFormat, ToolFamily
from rules_engine.prose import (
    argument_lines,
    elements,
    envelope,
    functions,
    old_new,
    search_replace,
    shell,
    unified,
    whole_file,
)
from rules_engine.prose.block import Block, Opening
from rules_engine.prose.splitter import Closed, Inside, Opened, Part, Plain, Splitter

__all__ = ["Block", "Closed", "Inside", "Opened", "Part", "Plain", "Splitter", "openings"]

_FORMATS: Mapping[ProseFormat, Callable[[tuple[ToolFamily, ...]], tuple[Opening, ...]]] = {
    ProseFormat.SEARCH_REPLACE: search_replace.openings,
    ProseFormat.UNIFIED: unified.openings,
    ProseFormat.ENVELOPE: envelope.openings,
    ProseFormat.ELEMENTS: elements.openings,
    ProseFormat.FUNCTIONS: functions.openings,
    ProseFormat.ARGUMENT_LINES: argument_lines.openings,
    ProseFormat.OLD_NEW: old_new.openings,
    ProseFormat.SHELL: shell.openings,
    # Any fence is one of these, so that it is asked last.
    ProseFormat.WHOLE_FILE: whole_file.openings,
}


def openings(
    formats: Iterable[ProseFormat], families: tuple[ToolFamily, ...]
) -> tuple[Opening, ...]:
    """What opens a block in these formats, where tools are what `families` say."""
    wanted = frozenset(formats)
    return tuple(
        opening
        for format_, make in _FORMATS.items()
        if format_ in wanted
        for opening in make(families)
    )
