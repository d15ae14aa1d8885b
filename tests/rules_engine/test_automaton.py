"""Many strings in one pass."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rules_engine.automaton import State, build, fold, gather

WORDS = st.text(alphabet="abAB\u0130", min_size=1, max_size=5)
TEXTS = st.text(alphabet="abABc\u0130\n", max_size=30)


def _machine(words: list[str]) -> State:
    return build(gather((word, number) for number, word in enumerate(words)))


def test_fold_changes_ascii_letters_alone() -> None:
    """Neither the length nor any other letter changes."""
    assert fold("AbC 1") == "abc 1"
    assert fold("\u0130AÉ\U0001f600Z") == "\u0130aÉ\U0001f600z"


@given(st.lists(WORDS, max_size=6), TEXTS)
def test_machine_finds_every_string_wherever_it_ends(words: list[str], text: str) -> None:
    """After each character it knows what ends there, whatever came before."""
    state = _machine(words)
    for length, char in enumerate(fold(text), 1):
        state = state[char]
        ending = {n for n, word in enumerate(words) if fold(text[:length]).endswith(fold(word))}
        assert state.complete == ending


@given(st.lists(WORDS, max_size=6), TEXTS)
def test_state_tells_what_the_text_is_the_beginning_of(words: list[str], text: str) -> None:
    """Every proper beginning at the text's end is listed, the longest first."""
    state = _machine(words)
    for char in fold(text):
        state = state[char]
    told = [(len(part.text), n) for part in state.endings() for n in part.open()]
    wanted = {
        (length, n)
        for n, word in enumerate(words)
        for length in range(1, len(word))
        if fold(text).endswith(fold(word[:length]))
    }
    assert set(told) == wanted
    assert [length for length, _ in told] == sorted((length for length, _ in told), reverse=True)


def test_moves_that_are_remembered_stay_few() -> None:
    """A text of ever new characters does not fill the memory."""
    state = _machine(["ab"])
    for code in range(0x4E00, 0x4E00 + 2_000):
        state = state[chr(code)]
    assert len(state) <= 256
    assert state["a"]["b"].complete == {0}
