"""What a command does with its words: what it prints, which files it writes, where it goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rules_engine.shell.documents import Document
from rules_engine.shell.escapes import echoed, printed
from rules_engine.shell.sed import Edit, edit_of

Piece = str | Document | None
"""What a command prints: text, the text of a here-document, or something unknown."""

SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "ash", "mksh"))
RESERVED = frozenset(
    ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "!", "time")
)
_SILENT = frozenset(("", "true", ":", "mkdir", "touch", "export", "set", "rm", "mv", "cp", "chmod"))
LOOKED_AT = 24  # words of a command that may stand in front of a script

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=[\s\S]*")


@dataclass(frozen=True, slots=True)
class _Prefix:
    """A command that runs another. valued: options that take a word; operands: words of its own.

    unnamed: it adds files that the text does not name.
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0
    unnamed: bool = False


def _prefix(valued: str = "", operands: int = 0, *, unnamed: bool = False) -> _Prefix:
    return _Prefix(frozenset(valued.split()), operands, unnamed)


_PREFIXES = {
    "sudo": _prefix("-u -g -h -p -C -D -R -T -U -r -t --user --group --chdir"),
    "doas": _prefix("-u -C"),
    "env": _prefix("-u -C --unset --chdir"),
    "command": _prefix(),
    "builtin": _prefix(),
    "exec": _prefix("-a"),
    "nohup": _prefix(),
    "setsid": _prefix(),
    "busybox": _prefix(),
    "time": _prefix("-f -o"),
    "nice": _prefix("-n"),
    "ionice": _prefix("-c -n -p"),
    "stdbuf": _prefix("-i -o -e"),
    "timeout": _prefix("-k -s --kill-after --signal", 1),
    "xargs": _prefix("-I -i -n -P -L -d -E -s -a --max-args --max-procs", unnamed=True),
}


@dataclass(frozen=True, slots=True)
class Bare:
    """A command without what only runs it. `unnamed`: it gets more files than are written."""

    words: Sequence[str]
    unnamed: bool = False

    @property
    def name(self) -> str:
        """The command's name without its directory."""
        return self.words[0].rpartition("/")[2] if self.words else ""


@dataclass(frozen=True, slots=True)
class Target:
    """A file that gets what a command prints."""

    path: str
    appends: bool


@dataclass(frozen=True, slots=True)
class Effect:
    """What a command does. `passes`: it prints what it reads.

    targets: the files to which it also writes that. go: the directory that it changes to; None:
    it stays.
    """

    prints: tuple[Piece, ...] = (None,)
    passes: bool = False
    targets: tuple[Target, ...] = ()
    edit: Edit | None = None
    go: str | None = None


def bare(words: Sequence[str]) -> Bare:
    """Leave out assignments, and commands that only run the one behind them."""
    at, unnamed = 0, False
    while at < len(words):
        prefix = _PREFIXES.get(words[at].rpartition("/")[2])
        if prefix is not None:
            at = _behind(words, at + 1, prefix)
            unnamed = unnamed or prefix.unnamed
        elif _ASSIGNMENT.fullmatch(words[at]):
            at += 1
        else:
            break
    inner = Bare(words[at:], unnamed)
    return _found_by(inner) if inner.name == "find" else inner


def _behind(words: Sequence[str], at: int, prefix: _Prefix) -> int:
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        option = words[at]
        at += 2 if option in prefix.valued else 1
        if option == "--":
            break
    return at + prefix.operands


def _found_by(find: Bare) -> Bare:
    """Give what `find` runs for each file that it finds."""
    starts = [at for at, word in enumerate(find.words) if word in ("-exec", "-execdir", "-ok")]
    if not starts:
        return find
    run = find.words[starts[0] + 1 :]
    ends = next((at for at, word in enumerate(run) if word in (";", "+")), len(run))
    return Bare(run[:ends], unnamed=True)


def script_follows(words: Sequence[str]) -> bool:
    """Say whether the next word of the command is the text of a script."""
    if not words or len(words) > LOOKED_AT:
        return False
    inner = bare(words)
    if inner.name == "eval":
        return len(inner.words) == 1
    if inner.name not in SHELLS and inner.name != "su":
        return False
    return _is_option(inner.words[-1], "c") and all(
        word[:1] in ("-", "+") or before in ("-o", "+o", "-O") or inner.name == "su"
        for before, word in zip(inner.words, inner.words[1:], strict=False)
    )


def _is_option(word: str, letter: str) -> bool:
    return re.fullmatch(r"-[A-Za-z]+", word) is not None and letter in word


def takes_patch(words: Sequence[str]) -> bool:
    """Say whether the next word of the command is a patch to apply."""
    return len(words) <= LOOKED_AT and bare(words).name in ("apply_patch", "applypatch")


def reads_script(words: Sequence[str]) -> bool:
    """Say whether the command runs what it reads as a script."""
    inner = bare(words[:LOOKED_AT])
    return inner.name in SHELLS and all(word[:1] in ("-", "+") for word in inner.words[1:])


def reads_diff(words: Sequence[str]) -> bool:
    """Say whether the command applies the diff that it reads."""
    inner = bare(words[:LOOKED_AT])
    return inner.name == "patch" or (inner.name == "git" and "apply" in inner.words)


def effect(words: Sequence[str], reads: Sequence[Piece]) -> Effect:
    """Say what a command does that reads these pieces from its standard input."""
    inner = bare(words)
    arguments = list(inner.words[1:])
    match inner.name:
        case "echo":
            done = Effect((echoed(arguments),))
        case "printf":
            done = Effect((printed(arguments),))
        case "cat":
            done = _cat(arguments, reads)
        case "tee":
            done = Effect(passes=True, targets=_tee(arguments))
        case "sed" | "gsed":
            done = _sed(arguments, unnamed=inner.unnamed)
        case "cd" | "pushd":
            done = Effect((), go=_directory(arguments))
        case "popd":
            done = Effect((), go="-")
        case name:
            done = Effect(() if name in _SILENT else (None,))
    return done


def _cat(arguments: Sequence[str], reads: Sequence[Piece]) -> Effect:
    files = [word for word in arguments if word == "-" or not word.startswith("-")]
    if all(word in ("-", "/dev/stdin") for word in files):
        return Effect(passes=True)
    pieces: list[Piece] = []
    for word in files:
        pieces += reads if word == "-" else (None,)
    return Effect(tuple(pieces))


def _tee(arguments: Sequence[str]) -> tuple[Target, ...]:
    options = [word for word in arguments if word.startswith("-") and word != "-"]
    appends = any(word == "--append" or _is_option(word, "a") for word in options)
    files = (word for word in arguments if not word.startswith("-"))
    return tuple(Target(word, appends) for word in files)


def _sed(arguments: Sequence[str], *, unnamed: bool) -> Effect:
    edit = edit_of(arguments)
    if edit is not None and unnamed:
        edit = Edit(edit.texts, ())
    return Effect((None,) if edit is None else (), edit=edit)


def _directory(arguments: Sequence[str]) -> str:
    operands = [word for word in arguments if word == "-" or word[:1] not in ("-", "+")]
    return operands[0] if operands else "~"
