"""Random patterns and texts: one grammar for every test that compares by the thousand."""

# ruff: noqa: RUF001 - letters that look alike are the point

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What patterns and texts are made of."""

    units: tuple[str, ...]
    classes: tuple[str, ...]
    texts: tuple[str, ...]


SMALL = Vocabulary(
    units=("a", "b", "a", "b", "\\n", "."),
    classes=("[ab]", "[^a]", "[^]", "\\w", "\\W", "\\s", "[^\\n]", "[^b]", "[^ab]", "[a-z]", "[]"),
    texts=("a", "b", "\n"),
)
FOLDED = Vocabulary(
    units=("a", "A", "k", "\u212a", "[ak]", "."),
    classes=("[a-z]", "[^A]", "\\w", "\\W", "[^k]"),
    texts=("a", "K", "\u212a"),
)
HALVES = Vocabulary(
    units=("a", ".", "\U0001f600", "\\ud83d", "\\ude00", "[^a]"),
    classes=("[\U0001f600]", "[^\U0001f600]", "\\S", "[\\ud800-\\udbff]", "[^]"),
    texts=("a", "\ud83d", "\ude00"),
)
BROAD = Vocabulary(
    units=(
        *("a", "b", "k", "s", "A", "K", "S", "1", "_", " ", "-", ".", "\\.", "\\n", "\\t", "\\/"),
        *("é", "É", "ß", "ſ", "\u212a", "İ", "ı", "i", "I", "µ", "Μ", "Ω", "\u2126", "ǅ", "ͅ", "ι"),
        *("\u2028", "\u00a0", "\ufeff", "\U0001f600", "\U00010428", "\\ud83d", "\\ude00", "\ud83d"),
        *("\\x41", "\\u0041", "\\u{2}", "\\x4", "\\u12", "\\cA", "\\c", "\\0", "\\07", "\\101"),
        *("\\8", "\\9", "\\p{L}", "\\a", "\\z", "\\A", "\\-", "]", "}", "{", "{,2}", "{a}", "\\e"),
    ),
    classes=(
        *("[ab]", "[^a]", "[^]", "[]", "\\w", "\\W", "\\s", "\\S", "\\d", "\\D", "[a-k]", "[^A-Z]"),
        *("[\\w-a]", "[\\d-\\s]", "[\\b]", "[\\B]", "[\\cA]", "[\\c]", "[\\c_]", "[\\1]", "[\\8]"),
        *("[\\]]", "[^\\n]", "[-a]", "[a-]", "[\\-a]", "[é-ü]", "[\U0001f600]", "[^\U0001f600]"),
        *("[\\ud800-\\udbff]", "[\\s\\S]", "[\\W\\d]", "[ſ-ƀ]", "[\u2120-\u2130]", "[İ]", "[^ſ]"),
        *(
            "[\\0-\\x7f]",
            "[{}]",
            "[(]",
            "[\\k]",
            "[\\x4]",
            "[\\u00e9]",
            "[.]",
            "[^\\W]",
            "[^\\D\\s]",
        ),
    ),
    texts=(
        *("a", "b", "k", "s", "A", "K", "S", "1", "_", " ", "-", ".", "\n", "\r", "\t", "\x01"),
        *("é", "É", "ß", "ſ", "\u212a", "İ", "ı", "i", "I", "µ", "Μ", "Ω", "\u2126", "ǅ", "ͅ", "ι"),
        *(
            "\u2028",
            "\u00a0",
            "\ufeff",
            "\U0001f600",
            "\U00010428",
            "\U00010400",
            "\ud83d",
            "\ude00",
        ),
        *("u", "p", "{", "}", "]", "\\", "c", "8", "\x00", "\x07", "\x08", "z", "ab", "ab", "aa"),
    ),
)
_QUANTIFIERS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{1,3}?", "{0}", "{2,}")


@dataclass(slots=True)
class Grammar:
    """Writes patterns that are mostly valid. `odd`: share of slips that make errors."""

    rng: Random
    words: Vocabulary
    flags: str = "ims"
    odd: float = 0.0
    foreign: bool = False
    groups: int = 0
    names: list[str] = field(default_factory=list)

    def pattern(self, depth: int = 3) -> str:
        """Write one pattern."""
        self.groups = 0
        self.names = []
        text = self._choice(depth)
        if self.rng.random() < self.odd:
            at = self.rng.randrange(len(text) + 1)
            text = text[:at] + self.rng.choice("()[]{}*+?|^$\\-,k<>1:=!") + text[at:]
        return text

    def text(self, longest: int) -> str:
        """Write one text."""
        return "".join(self.rng.choices(self.words.texts, k=self.rng.randint(0, longest)))

    def _choice(self, depth: int) -> str:
        count = self.rng.choices((1, 2, 3), (6, 3, 1))[0]
        return "|".join(self._sequence(depth) for _ in range(count))

    def _sequence(self, depth: int) -> str:
        count = self.rng.choices((0, 1, 2, 3, 4), (1, 5, 6, 4, 2))[0]
        return "".join(self._term(depth) for _ in range(count))

    def _term(self, depth: int) -> str:
        kind = self.rng.random()
        if depth > 0 and kind < 0.30:
            return self._bracket(depth - 1)
        if kind < 0.42:
            return self.rng.choice(("\\b", "\\B", "^", "$"))
        if kind < 0.48:
            return self._reference() + self._quantifier(0.2)
        one = self.rng.choice(self.words.classes if kind < 0.64 else self.words.units)
        return one + self._quantifier(0.3)

    def _quantifier(self, share: float) -> str:
        if self.rng.random() >= share:
            return ""
        mark = self.rng.choice(_QUANTIFIERS)
        return mark + "+" if self.foreign and mark[-1] != "?" and self.rng.random() < 0.3 else mark

    def _reference(self) -> str:
        if self.names and self.rng.random() < 0.3:
            return f"\\k<{self.rng.choice(self.names)}>"
        return f"\\{self.rng.randint(1, max(1, self.groups + self.rng.randint(0, 1)))}"

    def _bracket(self, depth: int) -> str:
        kind = self.rng.random()
        if kind < 0.30:
            self.groups += 1
            return f"({self._choice(depth)}){self._quantifier(0.4)}"
        if kind < 0.36:
            return self._named(depth)
        if kind < 0.52:
            return f"(?:{self._choice(depth)}){self._quantifier(0.5)}"
        if kind < 0.60:
            return f"(?{self._modifier()}:{self._choice(depth)}){self._quantifier(0.2)}"
        if self.foreign and kind < 0.68:
            return f"(?>{self._choice(depth)}){self._quantifier(0.2)}"
        mark = self.rng.choice(("?=", "?!", "?<=", "?<!"))
        repeat = self._quantifier(0.1) if mark[1] != "<" else ""
        return f"({mark}{self._choice(depth)}){repeat}"

    def _named(self, depth: int) -> str:
        self.groups += 1
        name = f"n{len(self.names) + 1}"
        self.names.append(name)
        if self.rng.random() < 0.4:
            self.groups += 1
            first, second = self._sequence(0), self._sequence(0)
            return f"(?:(?<{name}>{first})|(?<{name}>{second})){self._quantifier(0.4)}"
        return f"(?<{name}>{self._choice(depth)}){self._quantifier(0.3)}"

    def _modifier(self) -> str:
        letters = [letter for letter in self.flags if self.rng.random() < 0.5] or [self.flags[0]]
        cut = self.rng.randint(0, len(letters))
        off = "".join(letters[cut:])
        return "".join(letters[:cut]) + (f"-{off}" if off else "")
