from __future__ import annotations

from proxy.step import Step, place_of


def test_step_is_over_when_nothing_more_of_the_attempt_counts() -> None:
    """An attempt ends with the turn or with the wish for another one."""
    assert not Step(send=bytearray(b"x")).over
    assert Step(reissue=True).over
    assert Step(complete=True).over


def test_place_of_a_fault_names_it_without_its_words() -> None:
    """What a fault says may quote a conversation; where it lies is enough to find it."""
    try:
        _fails("secret")
    except ValueError as problem:
        place = place_of(problem)
    assert place.startswith("ValueError in _fails, line ")
    assert "secret" not in place
    assert place_of(KeyError("secret")) == "KeyError"


def _fails(word: str) -> None:
    raise ValueError(word)
