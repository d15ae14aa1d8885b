"""Random windows: the fast one against the plain one, piece by piece.

`python -m tests.support.window_trials 100000` compares that many (pattern, text, cut) triples
with each scanner, and each finished text with one search of the whole.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from rules_engine.dialect import DialectError, compile_pattern
from rules_engine.matcher import Matcher
from rules_engine.policy import ReleaseMode
from rules_engine.rule import ContextMode, InterruptMode, RepeatMode
from rules_engine.ruleset import LiveRule
from rules_engine.triggers.pattern import OverBudget, PatternTrigger
from rules_engine.windows import Found, Watch, Window
from tests.rules_engine.dialect.grammar import BROAD, HALVES, SMALL, Grammar, Vocabulary
from tests.support.plain_windows import PlainWindow
from tests.support.rules import rule_text, ruleset

# What real rules are made of, and texts that nearly match them.
_LITERALS = ("foo", "fo", "bar", "any", "a:", "é", "b\U0001f600", "f", "(?:foo|ba)", "Ba")
_BEGINNINGS = ("foo", "f", "a", "b\\s*", "fo[^;]*", "a:", "Ba", "ba", "fo+")
_HEADS = ("", "", "\\b", "(?<!x)", "(?<=ba)", "(?<![^a])", "^", "\\s*", "\\B", "(?<=[^x]x)", "(x)?")
_MIDDLES = (
    *("", "\\s+", ".", ".*", "[^;]*", "\\w{0,3}", "(?:x|foo)?", "[\\s\\S]*?", "[^a]", "\\b", "."),
    *("\\B", "\\1", ".{2}", "(?=.)", "(?!x)", "[^x]{1,40}"),
)
_TAILS = (
    "",
    "",
    "\\b",
    "(?!x)",
    "(?!\\()",
    "(?=;)",
    "(?!\\s*x)",
    "$",
    ".",
    ".*",
    "x?",
    "(?!.*;)",
    "+",
)
RULES = Vocabulary(
    units=(),
    classes=(),
    texts=(
        *("foo", "fo", "f", "bar", "ba", "b", "any", "an", "a", "a:", "é", "Foo", "BAR", "foobar"),
        *(
            " ",
            ";",
            "x",
            "\n",
            "(",
            "\U0001f600",
            "b\U0001f600",
            "\ud83d",
            "\ude00",
            "\u0130",
            "\u2028",
        ),
    ),
)
VOCABULARIES = (SMALL, BROAD, HALVES, RULES, RULES, RULES)
_BORDERS = 6  # how far back from the end of a piece every hold position is compared
_FLAGS = ("", "", "(?i)", "(?m)", "(?s)")


def live_rule(name: str, sources: Sequence[str]) -> LiveRule:
    """A rule in force with these conditions, whatever is to be said of them."""
    (plain,) = ruleset(**{name: rule_text(condition="x")}).live
    triggers = tuple(PatternTrigger(compile_pattern(source)) for source in sources)
    return LiveRule(
        plain.rule,
        InterruptMode.ALWAYS,
        ContextMode.KEEP,
        RepeatMode.ONCE,
        10,
        triggers,
    )


@dataclass(frozen=True, slots=True)
class Trial:
    """Rules, one text in pieces, and how it is watched."""

    watches: tuple[Watch, ...]
    pieces: tuple[str, ...]
    prefix: str
    release: ReleaseMode
    dropped_at: int

    def __str__(self) -> str:
        rules = [
            (each.holds, [p.pattern.source for p in each.live.patterns]) for each in self.watches
        ]
        return f"{rules} {self.prefix!r} {self.pieces} {self.release} {self.dropped_at}"

    def steps(self, window: Window | PlainWindow) -> Iterator[object]:
        """Everything that the window answers, in order."""
        yield window.hold()
        for at, piece in enumerate(self.pieces):
            if at == self.dropped_at:
                window.drop_holds()
            found = window.feed(piece)
            yield _told(found), window.hold(), window.holds_back()
            for each in found:
                yield window.hold_at(each.decided)
            known = len(window.text)
            for cut in range(known - min(len(piece), _BORDERS), known + 1):
                yield window.hold_at(cut)
        yield _told(window.close())
        yield window.hold_at(len(window.text))

    def differences(self, matcher: Matcher) -> list[tuple[object, object]]:
        """What the fast window answers otherwise than the plain one."""
        window = Window(self.watches, self.release, self.prefix, matcher)
        fast = list(self.steps(window))
        plain = list(self.steps(PlainWindow(self.watches, self.release, self.prefix)))
        if window.quarantined:
            raise OverBudget
        return [(got, wanted) for got, wanted in zip(fast, plain, strict=True) if got != wanted]

    def faults_of_the_whole(self, matcher: Matcher) -> list[str]:
        """How the hits differ from one search of the finished text, rule by rule."""
        window = Window(self.watches, self.release, self.prefix, matcher)
        found = [each for piece in self.pieces for each in window.feed(piece)]
        names = {each.live.rule.name for each in (*found, *window.close())}
        return [
            watch.live.rule.name
            for watch in self.watches
            if (watch.live.rule.name in names) != self._matches(watch.live)
        ]

    def _matches(self, live: LiveRule) -> bool:
        text, beyond = self.prefix + "".join(self.pieces), len(self.prefix)
        return any(each.final(text, 0, beyond=beyond) is not None for each in live.patterns)


def _told(found: Sequence[Found]) -> list[tuple[str, int, int, int, bool]]:
    return [(f.live.rule.name, f.start, f.end, f.decided, f.at_end) for f in found]


def random_watches(rng: Random, words: Vocabulary) -> tuple[Watch, ...]:
    """One to four rules with one or two random conditions; or up to eight that begin alike."""
    if rng.random() < 0.4:
        head = rng.choice(("", "", "\\b", "(?<!x)", "(?<=ba)")) + rng.choice(_BEGINNINGS)
        return _watches(rng, words, rng.randint(2, 8), head)
    return _watches(rng, words, rng.randint(1, 4), "")


def _watches(rng: Random, words: Vocabulary, count: int, head: str) -> tuple[Watch, ...]:
    return tuple(
        Watch(live_rule(f"r{number}", _sources(rng, words, head)), rng.random() < 0.6)
        for number in range(count)
    )


def _sources(rng: Random, words: Vocabulary, head: str) -> list[str]:
    sources: list[str] = []
    wanted = rng.choice((1, 1, 2))
    while len(sources) < wanted:
        source = rng.choice(_FLAGS) + head + _source(rng, words)
        try:
            pattern = compile_pattern(source)
        except DialectError:
            continue
        if not pattern.matches_empty:
            sources.append(source)
    return sources


def _source(rng: Random, words: Vocabulary) -> str:
    if words is not RULES:
        return Grammar(rng, words, foreign=rng.random() < 0.1).pattern(rng.choice((0, 1, 2)))
    parts = [rng.choice(_HEADS), rng.choice(_LITERALS)]
    for _ in range(rng.choice((0, 1, 1, 2))):
        parts += [rng.choice(_MIDDLES), rng.choice(_LITERALS)]
    return "".join([*parts, rng.choice(_TAILS)])


def random_trial(rng: Random, words: Vocabulary, watches: tuple[Watch, ...]) -> Trial:
    """A random text in random pieces under these rules."""
    units = [rng.choice(words.texts) for _ in range(rng.randint(1, 24))]
    text = "".join(units)
    size = rng.choice((1, 2, 5, len(text)))
    pieces: list[str] = []
    while text:
        length = rng.randint(1, size)
        pieces.append(text[:length])
        text = text[length:]
    prefix = "".join(rng.choice(words.texts) for _ in range(rng.choice((0, 0, 0, 4))))
    release = rng.choice((ReleaseMode.SAFE, ReleaseMode.SAFE, ReleaseMode.CUT))
    dropped_at = rng.randint(0, 12) if rng.random() < 0.1 else -1
    return Trial(watches, tuple(pieces), prefix, release, dropped_at)


def matchers(watches: Sequence[Watch]) -> Iterator[tuple[str, Matcher]]:
    """The rules' matcher with literals alone, and with the compiled database if there is one.

    Each with what begins alike asked together, and without.
    """
    patterns = [each.pattern for watch in watches for each in watch.live.patterns]
    for bunched in (False, True):
        literals, compiled = Matcher(patterns), Matcher(patterns)
        compiled.adopt(compiled.compile())
        if bunched:
            literals.bunch(fewest=2)
            compiled.bunches = literals.bunches
            if not literals.bunches:
                break
        yield f"literals {bunched}", literals
        if compiled.compiled:
            yield f"hyperscan {bunched}", compiled


def run(rng: Random, triples: int, texts: int = 12) -> int:
    """Compare at least so many triples with each scanner; returns how many were compared."""
    compared = 0
    while compared < triples:
        words = rng.choice(VOCABULARIES)
        watches = random_watches(rng, words)
        both = list(matchers(watches))
        count = sum(len(watch.live.patterns) for watch in watches)
        for _ in range(texts):
            trial = random_trial(rng, words, watches)
            try:
                for name, matcher in both:
                    differences = trial.differences(matcher)
                    assert not differences, f"{differences} with {name} in {trial}"
                    faults = trial.faults_of_the_whole(matcher)
                    assert not faults, f"{faults} with {name} in {trial}"
            except OverBudget:  # hostile patterns are not what is compared here
                break
            compared += count
    return compared


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    sys.stdout.write(f"{run(Random(seed), wanted)} triples, no difference (seed {seed})\n")
