from __future__ import annotations

import pytest

from rules_engine.families import PatchFormat
from rules_engine.formats import patch_reader
from rules_engine.growth import Growth


@pytest.mark.parametrize("shape", list(PatchFormat))
def test_every_format_has_a_reader_of_its_own(shape: PatchFormat) -> None:
    """Each call makes a new one, which has read nothing."""
    one, other = patch_reader(shape, Growth()), patch_reader(shape, Growth())
    assert one is not other
    assert one.sections == []
    one.close()
