"""Random sources that are cut: what follows must not read their closed statements anew.

`python -m tests.support.closed_trials 20000 DIRECTORY…` tries that many for each language with
the sources of this folder and those found below the directories.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from ast_grep_py import SgNode

from rules_engine.closed import LANGUAGES, ClosedStatements
from rules_engine.triggers.structure import SourceTree, language_of
from tests.support.sources import LINES, SOURCES

# What could make another thing of what came before it.
BREAKERS = (
    *"}{)(][;,.:?=<>@$&|+-*!~\\#%/^\"'`\n\x00\u2028é",
    *("else {", "else:\n", "elif x:\n", "elseif", "except:\n", "catch (e) {", "finally {"),
    *(
        "/*",
        "/*",
        " /* x",
        "*/",
        "//",
        '"""',
        "'''",
        "<<EOF\n",
        "<!--",
        "-->",
        "${",
        "=>",
        "->",
        "::",
        "::<",
    ),
    *("== 1", "in x", "instanceof Y", "as Z", "of", "if x", "where T", ".bar()\n", "[0]", "(x)"),
    *("++", "\n\n", "\n    ", "\n\t", "\\\n", "#endif\n", "#if X\n", "#else\n", "?>", "<?php"),
    *("}\n}\n", "))", "while (1)", 'R"(', 'r#"', "async", "await", "function", "class", "?."),
)
_SIZES = (150, 300, 600, 1200, 2500)  # characters of a beginning
_REST = 2500  # of what truly follows
_LONGEST_LINE = 2000  # of a file that is tried
Shape = tuple[str, int, int, tuple["Shape", ...]]


@dataclass(frozen=True)
class Trial:
    """The beginning of a source, and what follows it."""

    language: str
    before: str
    after: str

    @cached_property
    def closed(self) -> ClosedStatements:
        """The closed statements of the beginning."""
        return ClosedStatements(self.before, SourceTree(self.before, self.language))

    def lost(self) -> list[str]:
        """Closed statements that do not stand in the whole with every node that is in them."""
        spans = {(span.start, span.end) for span in self.closed.spans}
        if not spans:
            return []
        whole = SourceTree(self.before + self.after, self.language)
        finished = _shapes(whole.root, spans)
        kept = {each for each in _shapes(self.closed.tree.root, spans) if not _surrounds(each)}
        return [self.before[start:end] for _, start, end, _ in sorted(kept - finished)]


def random_trial(rng: Random, language: str, sources: Sequence[str]) -> Trial:
    """A trial of a language whose `sources` these are."""
    if rng.random() < 0.3:
        sources = [_doubtful(rng, language, rng.choice(sources)) for _ in range(2)]
    source = rng.choice(sources)
    start = 0 if rng.random() < 0.5 else rng.randrange(len(source))
    if rng.random() < 0.85:  # at the beginning of a line
        start = source.rfind("\n", 0, start) + 1
    size = rng.choice(_SIZES)
    text = source[start : start + size + _REST]
    cut = _line_end(text, rng.randint(size // 2, size))
    if rng.random() < 0.25:
        at = rng.randrange(cut + 1)
        text = text[:at] + rng.choice(BREAKERS) + text[at + rng.choice((0, 0, 3)) :]
        cut = _line_end(text, cut)
    before = text[:cut] if text[:cut].endswith("\n") else f"{text[:cut]}\n"
    return Trial(language, before, _after(rng, text[cut:], sources))


def _doubtful(rng: Random, language: str, source: str) -> str:
    """Make a source of lines that could mean many things, and a few that are certain."""
    certain = source.split("\n")
    lines = [
        rng.choice(LINES[language] if rng.random() < 0.8 else certain)
        for _ in range(rng.randint(4, 60))
    ]
    return "\n".join(("<?php" if language == "php" else "", *lines))


def _line_end(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _after(rng: Random, rest: str, sources: Sequence[str]) -> str:
    """What truly follows, something else, or nonsense, in every order."""
    true = rest[: rng.choice((0, 1, 5, 20, 60, 200, 600, _REST))]
    source = rng.choice(sources)
    at = rng.randrange(len(source))
    other = source[at : at + rng.choice((10, 50, 300, 1000))]
    wild = "".join(
        rng.choice(BREAKERS) + rng.choice(("", " ", "", "\n")) for _ in range(rng.randint(1, 8))
    )
    gap = rng.randrange(len(true) + 1)
    patched = true[:gap] + wild + true[gap + rng.randint(0, 20) :]
    return rng.choice((true, wild, wild + true, true + wild, other, wild + other, patched))


def _shape(node: SgNode) -> Shape:
    place = node.range()
    children = tuple(_shape(child) for child in node.children())
    return node.kind(), place.start.index, place.end.index, children


def _shapes(node: SgNode, spans: set[tuple[int, int]]) -> set[Shape]:
    """Every node with one of these spans, with all that it holds."""
    place = node.range()
    start, end = place.start.index, place.end.index
    own = {_shape(node)} if (start, end) in spans else set[Shape]()
    if not any(start <= first and last <= end for first, last in spans):
        return own
    return own.union(*(_shapes(child, spans) for child in node.children()))


def _surrounds(each: Shape) -> bool:
    """Whether a node is what stands around a statement, a block of one for example."""
    kind, start, end, children = each
    alone = len(children) == 1 and children[0][1:3] == (start, end)
    return alone and not kind.endswith(("_statement", "_declaration", "_definition", "_item"))


def _sources(directories: Sequence[Path]) -> Mapping[str, list[str]]:
    found = {language: [source] for language, source in SOURCES.items()}
    for path in (path for directory in directories for path in sorted(directory.rglob("*.*"))):
        language = language_of(path.name)
        if language not in LANGUAGES or not path.is_file():
            continue
        text = path.read_text("utf-8", errors="replace")
        if text and max(map(len, text.split("\n"))) < _LONGEST_LINE:
            found[language].append(text)
    return found


def run(count: int, language: str, sources: Sequence[str], seed: int = 0) -> tuple[int, int]:
    """Try `count` beginnings that close something; how many were tried, and how many failed."""
    rng, tried, failed = Random(seed), 0, 0
    while tried < count:
        trial = random_trial(rng, language, sources)
        if trial.closed.spans:
            tried += 1
            lost = trial.lost()
            if lost:
                failed += 1
                sys.stdout.write(f"{trial}: {lost}\n")
    return tried, failed


def main() -> int:
    """Try every language."""
    total = 0
    for language, sources in sorted(_sources([Path(each) for each in sys.argv[2:]]).items()):
        tried, failed = run(int(sys.argv[1]), language, sources)
        sys.stdout.write(f"{language}: {len(sources)} sources, {tried} tried, {failed} differ\n")
        total += failed
    return 1 if total else 0


if __name__ == "__main__":
    raise SystemExit(main())
