"""Which reader reads which format of patch text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from rules_engine.families import PatchFormat
from rules_engine.growth import Growth
from rules_engine.patches import (
    EnvelopeReader,
    HashlineReader,
    SearchReplaceReader,
    SectionReader,
    UnifiedReader,
)
from rules_engine.shell import ShellReader

_READERS: Mapping[PatchFormat, Callable[[Growth], SectionReader]] = {
    PatchFormat.ENVELOPE: EnvelopeReader,
    PatchFormat.UNIFIED: UnifiedReader,
    PatchFormat.HUNKS: partial(UnifiedReader, headless=True),
    PatchFormat.SEARCH_REPLACE: SearchReplaceReader,
    PatchFormat.HASHLINE: HashlineReader,
    PatchFormat.SHELL: ShellReader,
}


def patch_reader(shape: PatchFormat, source: Growth) -> SectionReader:
    """Make a reader of the format; `source` is the patch text that it will be fed with."""
    return _READERS[shape](source)
