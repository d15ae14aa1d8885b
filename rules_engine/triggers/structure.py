"""Structure triggers: ast-grep patterns and rule objects, searched in finished source.

Source that an edit adds is a fragment and is parsed as it stands, errors tolerated: statements and
expressions of a body are found, constructs whose surroundings are missing are not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from ast_grep_py import Config, SgNode, SgRoot

LARGEST = 1024 * 1024  # characters; larger source is left unchecked by whoever asks
LONGEST_PATTERN = 4096  # characters; nesting that needs more could exhaust the native stack
LONGEST_OBJECT = 16 * 1024  # characters of a rule object's JSON

_EXTENSIONS: Mapping[str, str] = MappingProxyType(
    {
        extension: language
        for language, extensions in (
            ("bash", "sh bash zsh ksh bats"),
            ("c", "c h"),
            ("cpp", "cc cpp cxx c++ hpp hh hxx ino cu"),
            ("csharp", "cs"),
            ("css", "css"),
            ("dart", "dart"),
            ("elixir", "ex exs"),
            ("go", "go"),
            ("haskell", "hs"),
            ("hcl", "hcl tf tfvars"),
            ("html", "html htm xhtml"),
            ("java", "java"),
            ("javascript", "js jsx mjs cjs"),
            ("json", "json"),
            ("kotlin", "kt kts ktm"),
            ("lua", "lua"),
            ("markdown", "md markdown"),
            ("nix", "nix"),
            ("php", "php"),
            ("python", "py pyi py3 bzl"),
            ("ruby", "rb rbw gemspec"),
            ("rust", "rs"),
            ("scala", "scala sc sbt"),
            ("solidity", "sol"),
            ("swift", "swift"),
            ("tsx", "tsx"),
            ("typescript", "ts mts cts"),
            ("yaml", "yaml yml"),
            ("zig", "zig"),
        )
        for extension in extensions.split()
    }
)

# A pattern of code could fit a sentence about code, so prose is for rules that name it.
_PROSE = frozenset({"markdown"})
CODE = frozenset(_EXTENSIONS.values()) - _PROSE
# The order in which a structure of no named language is tried; what fits first ends the search.
_LIKELY = ("typescript", *sorted(CODE - {"typescript"}))

# These read any words as text or a scalar, so without a node of these kinds nothing was understood.
_LAX: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "hcl": ("block", "attribute"),
        "html": ("element", "script_element", "style_element"),
        "yaml": ("block_mapping_pair", "block_sequence_item", "flow_mapping", "flow_sequence"),
    }
)
_CLOSERS = frozenset({")", "]", "}", ">", '"', "'", "`", "end"})
_META_VARIABLE = re.compile(r"\$+[A-Z0-9_]*")

_CORE = frozenset({"rule", "constraints", "utils", "transform"})
# What a whole ast-grep rule file holds besides; it says nothing about what matches.
_AROUND = frozenset(
    {"id", "language", "severity", "message", "note", "fix", "url", "metadata", "labels"}
)
_SURROGATES = re.compile("[\ud800-\udfff]")


class Span(NamedTuple):
    """A match: from `start` to before `end`, in elements of the text as given."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StructureError:
    """Why a structure cannot be used."""

    reason: str


class SourceTree:
    """One parsed text, to be searched for any number of structures."""

    __slots__ = ("language", "root")

    def __init__(self, text: str, language: str) -> None:
        """Parse at once; `language` is one that `language_of` gives."""
        self.language = language
        self.root: SgNode = SgRoot(_encodable(text), language).root()


@dataclass(frozen=True, slots=True)
class StructureTrigger:
    """One pattern or rule object. It can be pickled, so a search may run in another process.

    `languages`: where it is looked for at all. `config`: what ast-grep is asked.
    """

    source: str
    languages: frozenset[str]
    config: Mapping[str, Any] = field(repr=False, compare=False)

    def find(self, tree: SourceTree) -> Span | None:
        """Find the first match; None too where the language does not know what is asked for."""
        if tree.language not in self.languages:
            return None
        try:
            node = tree.root.find(cast("Config", dict(self.config)))
        except RuntimeError:
            return None
        return None if node is None else Span(node.range().start.index, node.range().end.index)

    def matches(self, text: str, language: str | None) -> Span | None:
        """Parse and find. A text in no known language has no match."""
        if language not in self.languages:
            return None
        return self.find(SourceTree(text, language))


def language_of(path: str) -> str | None:
    """Name the language that a path's extension stands for, in any case; None if unknown."""
    extension = _extension(path)
    return _EXTENSIONS.get(extension) if extension else None


def language_among(paths: tuple[str, ...]) -> str | None:
    """Name the language of a section: that of its first path with an extension (oh-my-pi)."""
    first = next((path for path in paths if _extension(path)), "")
    return language_of(first)


def _extension(path: str) -> str:
    stem, _, extension = re.split(r"[/\\]", path)[-1].rpartition(".")
    return extension.lower() if stem else ""


def languages_named(glob: str) -> frozenset[str]:
    """Name the languages whose extensions a path glob spells out."""
    suffix = glob.rpartition("/")[2].partition(".")[2].lower()
    words = re.findall(r"[\w+]+", suffix)
    return frozenset(_EXTENSIONS[word] for word in words if word in _EXTENSIONS)


def compile_structure(
    source: str, named: frozenset[str] = frozenset()
) -> StructureTrigger | StructureError:
    """Compile a pattern, or the JSON of a rule object with its `rule` key.

    `named`: languages that the rule is about, empty for any. A structure that is broken in all
    of them is an error; one that some other language cannot read just has no match there.
    Strictness is ast-grep's default, `smart`, where an object does not say otherwise.
    """
    text = _encodable(source)
    core = _core(text)
    if len(source) > (LONGEST_PATTERN if core is None else LONGEST_OBJECT):
        return StructureError("too long")
    if core is None:
        return _compile(source, {"rule": {"pattern": text}}, named, CODE | named)
    unknown = sorted(core.keys() - _CORE - _AROUND)
    if unknown:
        return StructureError(f"unknown key `{unknown[0]}` beside `rule`")
    config = {key: value for key, value in core.items() if key in _CORE}
    if "language" not in core:
        return _compile(source, config, named, CODE | named)
    spoken = _language_named(core["language"])
    if spoken is None:
        return StructureError(f"unknown language `{core['language']}`")
    return _compile(source, config, frozenset({spoken}), frozenset({spoken}))


def _compile(
    source: str, config: dict[str, Any], named: frozenset[str], languages: frozenset[str]
) -> StructureTrigger | StructureError:
    reason = ""
    for language in sorted(named) or _LIKELY:
        fault = _fault(config, language)
        if fault is None and not named and language in _LAX:
            fault = _unread(config, language)
        if fault is None:
            return StructureTrigger(source, languages, config)
        reason = reason or f"{language}: {fault}"
    return StructureError(reason)


def _core(text: str) -> dict[str, Any] | None:
    """Read a rule object; anything else is a pattern, JSON without a `rule` object too."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_core = isinstance(value, dict) and isinstance(value.get("rule"), dict)
    return value if is_core else None


def _language_named(written: object) -> str | None:
    name = str(written).lower()
    name = {"c#": "csharp", "c++": "cpp", "cs": "csharp", "golang": "go"}.get(name, name)
    return name if name in CODE | _PROSE else _EXTENSIONS.get(name)


def _fault(config: dict[str, Any], language: str) -> str | None:
    """Say what ast-grep has against a structure in this language."""
    try:
        SgRoot("", language).root().find(cast("Config", dict(config)))
    except Exception as error:  # noqa: BLE001 - ast-grep raises bare exceptions for bad objects
        return _reason(error)
    broken = next((p for p in _patterns(config) if _has_error(language, p)), None)
    return None if broken is None else f"`{broken}` does not parse"


def _reason(error: Exception) -> str:
    """Take the cause out of a chain of them, without the native stack."""
    told = str(error).partition("\n\nStack backtrace")[0]
    causes = [line.partition(": ")[2] for line in told.split("\n") if re.match(r"\s+\d+: ", line)]
    return causes[-1] if causes else told


def _patterns(value: object) -> Iterator[str]:
    """Go through every pattern of a rule object that is a string."""
    if isinstance(value, list):
        for item in value:
            yield from _patterns(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "pattern" and isinstance(item, str):
                yield item
            else:
                yield from _patterns(item)


def _has_error(language: str, pattern: str) -> bool:
    """Whether what a pattern asks for is broken, so that it could fit broken code at most."""
    pending = [_asked(SgRoot(_META_VARIABLE.sub("M", pattern), language).root())]
    while pending:
        node = pending.pop()
        if node.kind() in _CLOSERS and not node.text():
            return True
        if node.kind() == "ERROR":
            # Meta variables are spelt otherwise by ast-grep, which may make all the difference.
            return _holds(language, pattern, "ERROR")
        pending += node.children()
    return False


def _asked(node: SgNode) -> SgNode:
    """Unwrap as ast-grep does: an expression is asked for, not the statement or file around it.

    Where an expression cannot stand alone, the wrapping is an error and of no consequence.
    """
    while children := node.children():
        if any(child.text() for child in children[1:]):
            return node
        node = children[0]
    return node


def _unread(config: dict[str, Any], language: str) -> str | None:
    """Say which pattern a language took for mere words."""
    plain = (
        pattern
        for pattern in _patterns(config)
        if not any(_holds(language, pattern, kind) for kind in _LAX[language])
    )
    words = next(plain, None)
    return None if words is None else f"`{words}` is plain text"


def _holds(language: str, pattern: str, kind: str) -> bool:
    """Whether a pattern, as ast-grep parses it, has a node of this kind."""
    probe = {"pattern": {"context": pattern, "selector": kind}}
    try:
        SgRoot("", language).root().find(cast("Config", {"rule": probe}))
    except RuntimeError:
        return False
    return True


def _encodable(text: str) -> str:
    """Put something of the same length where UTF-8 has no spelling, so that positions stay."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)
