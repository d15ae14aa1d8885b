from __future__ import annotations

from rules_engine.held import Extent, HeldEvents


def _held(*extents: tuple[int, int]) -> HeldEvents:
    held = HeldEvents()
    held.extend(
        Extent(ordinal, text, thinking, calls=False, locked=False)
        for ordinal, (text, thinking) in enumerate(extents)
    )
    return held


def test_release_takes_whole_events_up_to_the_hold_position() -> None:
    """An event goes out when all of its text lies before the hold position."""
    held = _held((3, 0), (6, 0), (9, 0))
    assert held.release(6, 0, calls=True) == 1
    assert held.text_out == 6
    assert held.release(8, 0, calls=True) is None
    assert len(held) == 1


def test_release_is_first_in_first_out_over_surfaces() -> None:
    """An event whose thinking is held keeps back the text behind it."""
    held = _held((0, 5), (4, 5))
    assert held.release(4, 4, calls=True) is None
    assert held.release(4, 5, calls=True) == 1


def test_release_stops_at_held_calls_and_locked_events() -> None:
    """A held call keeps back what follows it; a locked event waits whatever is asked."""
    held = HeldEvents()
    held.append(Extent(0, 1, 0, calls=True, locked=False))
    held.append(Extent(1, 2, 0, calls=False, locked=True))
    assert held.release(9, 9, calls=False) is None
    assert held.release(9, 9, calls=True) == 0
    assert held.calls_out
    assert held.release(9, 9, calls=True) is None
    assert held.release_all() == 1


def test_release_oldest_leaves_at_most_the_limit() -> None:
    """Beyond the limit the oldest events go, whatever could still match in them."""
    held = _held((4, 0), (8, 0), (12, 0))
    assert held.release_oldest(5, calls=True) == 1
    assert [extent.ordinal for extent in held] == [2]
    assert held.release_oldest(5, calls=True) is None


def test_release_oldest_never_lets_calls_or_locked_events_go() -> None:
    """The hold limit is about prose; calls and the message's end have no limit in characters."""
    held = HeldEvents()
    held.append(Extent(0, 0, 0, calls=True, locked=False))
    held.append(Extent(1, 100, 0, calls=False, locked=False))
    assert held.release_oldest(5, calls=False) is None
    locked = HeldEvents()
    locked.append(Extent(0, 100, 0, calls=False, locked=True))
    assert locked.release_oldest(5, calls=True) is None


def test_an_event_that_ends_within_a_character_goes_with_the_next_or_not_at_all() -> None:
    """Half of it would be left where the next is withheld."""
    held = HeldEvents()
    held.append(Extent(0, 1, 0, calls=False, locked=False))
    held.append(Extent(1, 2, 0, calls=False, locked=False, open=True))
    assert held.release(9, 9, calls=True) == 0
    held.append(Extent(2, 3, 0, calls=False, locked=False))
    assert held.release(2, 9, calls=True) is None
    assert held.release(3, 9, calls=True) == 2
