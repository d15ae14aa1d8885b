"""Rules that begin alike, asked together."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.bunches import find_bunches
from rules_engine.dialect import compile_holds, compile_pattern
from rules_engine.matcher import Matcher
from rules_engine.policy import ReleaseMode
from rules_engine.windows import Watch, Window
from tests.support.plain_windows import PlainWindow
from tests.support.window_trials import Trial, live_rule

IMPORTS = [rf"import\s+{name}\b" for name in ("foo", "fob", "bar", "baz", "os")]
LONG = [*IMPORTS, r"import[\s\S]*?never", "import[^;]*;x", "import (?!foo)", r"import\b.*\bend\b"]


def _members(*sources: str) -> list[set[int]]:
    return [set(bunch.members) for bunch in find_bunches(list(map(compile_pattern, sources)))]


def test_patterns_with_the_same_beginning_are_a_bunch() -> None:
    """Case is no difference; few are no bunch, and neither is what may begin anyhow."""
    assert _members(*IMPORTS, "foo", r"(?i)IMPORT\s+x") == [{0, 1, 2, 3, 4, 6}]
    assert _members(*IMPORTS[:3], "export", "[^a]b", "[^a]c", "[^a]d", "[^a]e") == []


def test_large_bunches_are_split() -> None:
    """What is compiled at once has an end."""
    sizes = [len(each) for each in _members(*(rf"import\s+w{n}" for n in range(130)))]
    assert sizes == [64, 64]


def test_keys_are_no_numbers_of_patterns() -> None:
    """Both stand for positions in one mapping."""
    sources = [*IMPORTS, *(rf"as\s+{n}" for n in range(5))]
    bunches = find_bunches(list(map(compile_pattern, sources)))
    assert [bunch.key for bunch in bunches] == [-1, -2]


@pytest.mark.parametrize("odd", [r"import\s+(a)\1", r"import\s+(?:a+)+$", r"import\s+(?>a|ab)x"])
def test_what_cannot_be_put_together_stays_alone(odd: str) -> None:
    """Captures that are meant, what may take long, and foreign syntax."""
    assert compile_holds([odd]) is None
    assert _members(*IMPORTS[:2], odd, *IMPORTS[2:]) == [{0, 1, 3, 4, 5}]


@given(
    st.lists(st.sampled_from([*LONG, r"\bimport x", "(?i)import X", r"(?<=y)import|imp"])),
    st.text(alphabet="import fobarzsx;\n\U0001f600é", max_size=30),
    st.integers(0, 30),
)
def test_pattern_of_a_bunch_holds_where_the_first_of_them_does(
    sources: list[str], text: str, floor: int
) -> None:
    """No earlier and no later, whatever the text ends with."""
    together = compile_holds(sources)
    if together is None:
        assert not sources
        return
    assert len(together.taken) == len(sources)
    holds = [compile_pattern(source).hold for source in sources]
    found = [match.start() for hold in holds if (match := hold.search(text, floor))]
    begun = together.pattern.hold.search(text, floor)
    assert (begun.start() if begun else None) == min(found, default=None)


def _watches(sources: Sequence[str], rng: Random) -> tuple[Watch, ...]:
    return tuple(
        Watch(live_rule(f"r{n}", [source]), rng.random() < 0.8) for n, source in enumerate(sources)
    )


def _long_trial(rng: Random, sources: Sequence[str]) -> Trial:
    """Beginnings that stay pending for longer than a bunch is followed as one."""
    words = ("import ", "import  foox", "so much text, ", "fo", "ba", "; ", "\n", "x" * 90, "é")
    text = "".join(rng.choice(words) for _ in range(60))
    pieces: list[str] = []
    while text:
        length = rng.choice((3, 18, 18, 300))
        pieces.append(text[:length])
        text = text[length:]
    release = rng.choice((ReleaseMode.SAFE, ReleaseMode.SAFE, ReleaseMode.CUT))
    dropped_at = rng.choice((-1, -1, len(pieces) // 2))
    return Trial(
        _watches(sources, rng), tuple(pieces), rng.choice(("", "import ")), release, dropped_at
    )


@given(st.integers(0, 2**32))
def test_long_pending_matches_are_followed_as_if_there_were_no_bunch(seed: int) -> None:
    """Every answer is that of a window that asks every pattern everything."""
    trial = _long_trial(Random(seed), LONG)
    matcher = Matcher(map(compile_pattern, LONG))
    matcher.bunch()
    assert matcher.bunches
    assert trial.differences(matcher) == []


def test_bunch_that_is_made_later_serves_the_windows_to_come() -> None:
    """Windows that are open go on as they began."""
    watches = [Watch(live_rule(f"r{n}", [source]), holds=True) for n, source in enumerate(IMPORTS)]
    matcher = Matcher(map(compile_pattern, IMPORTS))
    before = Window(watches, matcher=matcher)
    matcher.bunch()
    windows = (before, Window(watches, matcher=matcher), PlainWindow(watches))
    for window in windows:
        window.feed("some import")
    assert [window.hold() for window in windows] == [5, 5, 5]
    for window in windows:
        window.feed("ant words")
    assert [window.hold() for window in windows] == [20, 20, 20]
