from __future__ import annotations

import pytest

from proxy.quantities import duration, how_many, size


@pytest.mark.parametrize(
    ("text", "count"),
    [("64MiB", 64 * 2**20), ("16 kb", 16000), ("1.5KiB", 1536), ("12", 12), ("7B", 7)],
)
def test_size_reads_units(text: str, count: int) -> None:
    """Binary and decimal units in any case; a bare number is bytes."""
    assert size(text) == count


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30d", 2592000), ("10m", 600), ("500ms", 0.5), ("2", 2), ("1.5 h", 5400), ("1w", 604800)],
)
def test_duration_reads_units(text: str, seconds: float) -> None:
    """A bare number is seconds."""
    assert duration(text) == seconds


@pytest.mark.parametrize("read", [size, duration])
def test_numbers_pass_unchanged(read: object) -> None:
    """What is no text is left to the model's own validation."""
    assert callable(read)
    assert read(5) == 5


@pytest.mark.parametrize("text", ["", "-1s", "ten", "1.2.3", "5 5"])
@pytest.mark.parametrize("read", [size, duration])
def test_what_is_no_quantity_is_refused(read: object, text: str) -> None:
    """The error gives examples of what would do."""
    assert callable(read)
    with pytest.raises(ValueError, match="should be a"):
        read(text)


@pytest.mark.parametrize(("read", "text"), [(size, "5s"), (duration, "5MiB")])
def test_an_unknown_unit_is_refused(read: object, text: str) -> None:
    """The error lists the units."""
    assert callable(read)
    with pytest.raises(ValueError, match=" or "):
        read(text)


@pytest.mark.parametrize(("number", "said"), [(0, "0 rules"), (1, "1 rule"), (2, "2 rules")])
def test_a_count_is_said_with_its_noun(number: int, said: str) -> None:
    """One is singular, none is not."""
    assert how_many(number, "rule") == said
