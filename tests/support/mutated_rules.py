"""Rule files that are damaged or hostile: the same ones for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random

from proxy.workspace import BUILTINS

BASES = tuple(sorted(path.read_bytes() for path in BUILTINS.glob("*.md")))


def _truncated(rng: Random, base: bytes) -> bytes:
    return base[: rng.randrange(len(base))]


def _flipped(rng: Random, base: bytes) -> bytes:
    flipped = bytearray(base)
    for _ in range(rng.randint(1, 20)):
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def _spliced(rng: Random, base: bytes) -> bytes:
    other, at = rng.choice(BASES), rng.randrange(len(base))
    return base[:at] + other[rng.randrange(len(other)) :] + base[at:]


def _with_nul(rng: Random, base: bytes) -> bytes:
    at = rng.randrange(len(base))
    return base[:at] + b"\0" * rng.randint(1, 9) + base[at:]


def _not_utf8(rng: Random, base: bytes) -> bytes:
    at = rng.randrange(len(base))
    return base[:at] + rng.choice((b"\xff", b"\xed\xa0\x80", b"\xc3", b"\xf5\x80")) + base[at:]


def _bomb(rng: Random, _base: bytes) -> bytes:
    """Anchors that refer to each other, each ten times."""
    depth = rng.randint(3, 30)
    rows = ["a0: &a0 [x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, depth)]
    return _file("\n".join([*rows, f"globs: *a{depth - 1}"]))


def _deep(rng: Random, _base: bytes) -> bytes:
    depth = rng.choice((40, 400, 4000))
    opening, closing = rng.choice((("[", "]"), ("{a: ", "}"), ("- ", "")))
    return _file(f"astCondition: {opening * depth}x{closing * depth}")


def _large(rng: Random, base: bytes) -> bytes:
    return base + b"word " * (2_000_000 + rng.randrange(100))


def _long_frontmatter(rng: Random, _base: bytes) -> bytes:
    return _file("\n".join(f"key{n}: {rng.random()}" for n in range(rng.choice((1000, 9000)))))


def _pattern(rng: Random, _base: bytes) -> bytes:
    """Patterns that are huge, nested, or slow."""
    size = rng.choice((30, 300, 3000, 30_000))
    shapes = ("(" * size, "(a|" * size + "b" + ")" * size, f"(?:a{{1,{size}}}){{1,{size}}}",
              "a?" * size + "a" * size, "(a+)+" * size + "$", "[" + "a-z" * size, "x" * size,
              "(?=" * size + "a" + ")" * size, f"(.*)\\1{{{size}}}", "\\u{" + "f" * size + "}",
              "(?<=" + "a" * size + ")b", "|".join(f"w{n}" for n in range(size)))  # fmt: skip
    return _file(f"condition: '{rng.choice(shapes)}'")


def _globs(rng: Random, _base: bytes) -> bytes:
    size = rng.choice((5, 50, 500))
    shapes = ("{a,b}" * size, "**/" * size + "*", "[" * size, "{" * size + "}" * size,
              "*a" * size, "{1..99999999}" * 3)  # fmt: skip
    return _file(f"condition: a\nscope: tool\nglobs: '{rng.choice(shapes)}'")


def _values(rng: Random, _base: bytes) -> bytes:
    """Every field with a value that it does not expect."""
    values = ("1e999", "9" * 5000, ".nan", "!!python/object:os.system x", "[1, {a: b}, null]",
              "|", '"\\ud800"', "2001-01-01", "? x", "*x", "&x", "%", "@", "`", "{}",
              "[[]]")  # fmt: skip
    fields = ("condition", "scope", "globs", "agents", "interruptMode", "repeatGap", "reminder",
              "enabled", "description", "astCondition", "question", "alwaysApply")  # fmt: skip
    return _file("\n".join(f"{field}: {rng.choice(values)}" for field in fields))


def _ends(rng: Random, base: bytes) -> bytes:
    """Other line ends, marks and blanks."""
    ends = (b"\r", b"\r\n", b"\x0b", b"\xc2\x85", b"\xe2\x80\xa8", b"\t\n")
    return rng.choice((b"", b"\xef\xbb\xbf", b" \n")) + base.replace(b"\n", rng.choice(ends))


def _empty(rng: Random, _base: bytes) -> bytes:
    return rng.choice((b"", b" \n\n", b"---", b"---\n---", b"---\ncondition: a\n---\n", b"\x0c"))


def _file(frontmatter: str) -> bytes:
    return f"---\n{frontmatter}\n---\nDo not.\n".encode("utf-8", "surrogatepass")


MUTATIONS: Mapping[str, tuple[int, Callable[[Random, bytes], bytes]]] = {
    "truncated": (24, _truncated),
    "flipped": (24, _flipped),
    "spliced": (12, _spliced),
    "nul": (8, _with_nul),
    "not-utf8": (12, _not_utf8),
    "bomb": (8, _bomb),
    "deep": (12, _deep),
    "large": (2, _large),
    "frontmatter": (6, _long_frontmatter),
    "pattern": (32, _pattern),
    "globs": (16, _globs),
    "values": (24, _values),
    "ends": (8, _ends),
    "empty": (6, _empty),
}


def mutated(seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """Give file names without ending, and contents."""
    for name, (count, mutate) in MUTATIONS.items():
        for number in range(count):
            rng = Random(f"{seed} {name} {number}")
            yield f"{name}-{number:02}", mutate(rng, rng.choice(BASES))


def looped_links(folder: Path) -> list[str]:
    """Make links that lead nowhere: to themselves, to each other, outside, to what is not there."""
    made = {
        "loop-self": "loop-self.md",
        "loop-there": "loop-back.md",
        "loop-back": "loop-there.md",
        "link-outside": "/etc/passwd",
        "link-nowhere": "gone.md",
        "link-up": "../../../../../../etc/hostname",
    }
    for name, target in made.items():
        (folder / f"{name}.md").symlink_to(target)
    return list(made)
