from __future__ import annotations

import pytest

from rules_engine.reader import Reader
from rules_engine.tools import make_reader


def test_reader_leaves_the_reading_to_its_kinds() -> None:
    """The shared part knows no format of its own."""
    with pytest.raises(NotImplementedError):
        Reader(()).name("write")


@pytest.mark.parametrize("freeform", [True, False])
def test_reader_keeps_what_came_before_the_name(freeform: bool) -> None:  # noqa: FBT001 - parameter
    """Text in front of the name is read when the name is known; the first name stands."""
    reader = make_reader((), freeform=freeform)
    reader.feed('{"path": "a", "content": "c"}')
    assert reader.take() == ()
    reader.name("Files__Save")
    reader.name("other")
    reader.close()
    assert reader.names[:2] == ("files__save", "save")
    assert [section.settled_at for section in reader.sections] == [29]
