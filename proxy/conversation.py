"""Neutral view of a request's conversation; fingerprints of its messages; pure.

The assistant messages are the spine: clients send them back almost as they got them, so a
message is known again by what is left once spacing and JSON style are taken away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b

RUN = 8  # spine messages remembered in front of an anchor
HEAD = 40  # normalised characters that stand for a message cut short
_LETS_GO = 2048  # bytes from which on hashlib lets other threads run

_TAGS = ("think", "thinking", "mm:think")
_OPENER = re.compile(r"<(think|thinking|mm:think)>")
_SURROGATES = re.compile("[\ud800-\udfff]")
_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_SEPARATORS = re.compile(r"[-_.:/#\s]+")
_COUNT_WORDS = frozenset(
    [
        "call",
        "calls",
        "tool",
        "tools",
        "toolcall",
        "toolcalls",
        "function",
        "functions",
        "func",
        "fn",
        "fc",
        "tc",
        "id",
        "index",
        "idx",
    ]
)
_MOST_COUNT_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of an assistant message; `arguments` as received."""

    id: str | None
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the client view, whatever the wire API.

    `text`: text parts joined; `reasoning`: plain reasoning where the client returned it;
    `call_id`: on a tool message, the call that it answers.
    """

    role: str
    text: str
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str | None = None

    @property
    def stamp(self) -> bytes:
        """What is equal for two messages only if text and calls are; empty: not known."""
        return b""


class KeyKind(StrEnum):
    """What a key of an assistant message is made of, strongest first."""

    CALL = "call"  # one tool-call id
    WHOLE = "whole"  # normalised text, call names and canonical arguments
    PART = "part"  # normalised text, or names and arguments, alone
    HEAD = "head"  # the first characters of the normalised text


@dataclass(frozen=True, slots=True)
class Key:
    """One way to find an assistant message again; `str()` of it is what a store keeps."""

    kind: KeyKind
    digest: str

    @staticmethod
    def named(name: str) -> Key:
        """Read what `str()` of a key has written."""
        kind, _, digest = name.partition(":")
        return Key(KeyKind(kind), digest)

    def __str__(self) -> str:
        return f"{self.kind}:{self.digest}"


@dataclass(frozen=True, slots=True)
class Marks:
    """What a message is known by. `names`: its keys as a store has them, strongest first."""

    names: tuple[str, ...]
    fingerprint: str

    @property
    def keys(self) -> tuple[Key, ...]:
        """Strongest first, `HEAD` last."""
        return tuple(map(Key.named, self.names))

    def packed(self) -> str:
        """Write them as one string: a third of the room, and nothing for the collector to visit."""
        return " ".join((*self.names, self.fingerprint))

    @classmethod
    def unpacked(cls, packed: str) -> Marks:
        """Read what `packed` wrote; no name has a blank in it."""
        *names, fingerprint = packed.split(" ")
        return cls(tuple(names), fingerprint)


class Memory:
    """Marks of messages met lately, by their stamps, so that none is read anew with each request.

    Two generations of `most`: when the younger one is full it becomes the older, which is
    forgotten. It saves work and decides nothing, so several threads may use it at a time.
    """

    def __init__(self, most: int = 8192) -> None:
        self._most = most
        self._young: dict[bytes, str] = {}
        self._old: dict[bytes, str] = {}
        self.read = 0  # messages whose marks had to be made

    def marks(self, message: Message) -> Marks:
        """Give a message's marks, made anew only where they are not known."""
        stamp = message.stamp
        packed = (self._young.get(stamp) or self._old.get(stamp)) if stamp else None
        if packed is not None:
            self._keep(stamp, packed)
            return Marks.unpacked(packed)
        self.read += 1
        made = marks(message)
        if stamp:
            self._keep(stamp, made.packed())
        return made

    def _keep(self, stamp: bytes, packed: str) -> None:
        if len(self._young) >= self._most:
            self._old, self._young = self._young, {}
        self._young[stamp] = packed


@dataclass(frozen=True, slots=True)
class Vertebra:
    """An assistant message of the spine with everything that it is known by.

    `at`: its place among the messages.
    """

    at: int
    message: Message = field(compare=False, repr=False)
    marks: Marks

    @property
    def text(self) -> str:
        """The normalised text."""
        return normalised(self.message.text)

    @property
    def keys(self) -> tuple[Key, ...]:
        """Strongest first, `HEAD` last."""
        return self.marks.keys

    @property
    def fingerprint(self) -> str:
        """What stands for the message in the runs of later ones."""
        return self.marks.fingerprint


@dataclass(frozen=True, slots=True)
class Spine:
    """The assistant messages of one conversation, in order; computed once a request."""

    vertebrae: tuple[Vertebra, ...]

    def run_before(self, position: int) -> tuple[str, ...]:
        """Fingerprints of up to `RUN` spine messages in front of vertebra `position`."""
        nearest = self.vertebrae[max(0, position - RUN) : position]
        return tuple(vertebra.fingerprint for vertebra in reversed(nearest))


def spine(messages: Sequence[Message], memory: Memory | None = None) -> Spine:
    """Read the spine; linear in the conversation's size, never raises on any text."""
    marks_of = memory.marks if memory else marks
    return Spine(
        tuple(
            Vertebra(at, message, marks_of(message))
            for at, message in enumerate(messages)
            if message.role == "assistant"
        )
    )


def vertebra(message: Message, at: int = 0) -> Vertebra:
    """Read everything that an assistant message is known by."""
    return Vertebra(at, message, marks(message))


def marks(message: Message) -> Marks:
    """Make a message's keys and its fingerprint."""
    text = normalised(message.text)
    calls = _calls_digest(message.calls)
    whole = _digest("whole", text, calls)
    names = ["call:" + _digest("call", call_id) for call_id in own_ids(message.calls)]
    if text or calls:
        names.append("whole:" + whole)
    if text:
        names.append("part:" + _digest("text", text))
    if calls:
        names.append("part:" + _digest("calls", calls))
    if len(text) >= HEAD:
        names.append("head:" + _digest("head", text[:HEAD]))
    return Marks(tuple(names), whole[:16])


def own_ids(calls: Sequence[Call]) -> tuple[str, ...]:
    """Pick the ids that tell these calls from all others: given, and not merely counted."""
    return tuple(
        dict.fromkeys(call.id for call in calls if call.id and not counted(call.id, call.name))
    )


def counted(call_id: str, name: str) -> bool:
    """Recognise an id that any conversation may hold again: `call_0`, `functions.read:3`, `7`.

    At most four digits, alone or behind fixed words or the call's own name.
    """
    whole, name = call_id.lower(), name.lower()
    without_name = whole.replace(name, "", 1) if name else whole
    return any(_is_a_count(form) for form in (whole, without_name))


def _is_a_count(form: str) -> bool:
    words = form.rstrip("0123456789")
    if len(form) - len(words) > _MOST_COUNT_DIGITS:
        return False
    return all(word in _COUNT_WORDS for word in _SEPARATORS.split(words) if word)


def canonical(arguments: str) -> str:
    """Print arguments in one JSON style, whatever theirs was; unparsable ones stay as received.

    Keys are sorted and numbers are the doubles that JavaScript reads, so `1.0` and `1` are one.
    No arguments at all are the empty object, which some clients write instead.
    """
    if not arguments.strip():
        return "{}"
    try:
        return _PRINTED.encode(_ARGUMENTS.decode(arguments))
    except (ValueError, RecursionError):
        return arguments


def _double(literal: str) -> float | int | None:
    value = float(literal)
    if value in (float("inf"), float("-inf")):
        return None  # what JavaScript prints for a number beyond its range
    return int(value) if value.is_integer() else value


def _refuse_constant(literal: str) -> None:
    raise ValueError(literal)


_ARGUMENTS = json.JSONDecoder(
    parse_int=_double, parse_float=_double, parse_constant=_refuse_constant, strict=False
)
_PRINTED = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def normalised(text: str) -> str:
    """Drop inline think blocks and all white space; lone surrogates replaced."""
    return "".join(blanked(well_formed(text)).split())


def blanked(text: str) -> str:
    """Turn think blocks into as many blanks, so that positions stay.

    A block that never closes counts only where it opens the text (a message cut in thought).
    """
    if "\ufeff" in text:
        text = text.replace("\ufeff", " ")
    if "<" not in text:
        return text
    pieces: list[str] = []
    done = 0
    for start, end in _think_blocks(text):
        pieces += (text[done:start], " " * (end - start))
        done = end
    return "".join((*pieces, text[done:]))


def _think_blocks(text: str) -> list[tuple[int, int]]:
    """Spans of think blocks; each tag's closer is searched on only while there is one."""
    blocks: list[tuple[int, int]] = []
    closing = dict.fromkeys(_TAGS, 0)
    front = len(text) - len(text.lstrip())
    position = 0
    while opener := _OPENER.search(text, position):
        closer = f"</{opener[1]}>"
        if 0 <= closing[opener[1]] < opener.end():
            closing[opener[1]] = text.find(closer, opener.end())
        found = closing[opener[1]]
        if found < 0 and opener.start() == front:
            return [(opener.start(), len(text))]
        position = opener.end() if found < 0 else found + len(closer)
        if found >= 0:
            blocks.append((opener.start(), position))
    return blocks


def well_formed(text: str) -> str:
    """Join surrogate halves; a lone one becomes the replacement character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        pass
    else:
        return text
    joined = _PAIR.sub(lambda pair: _join(pair[1], pair[2]), text)
    return _SURROGATES.sub("\ufffd", joined)


def _join(high: str, low: str) -> str:
    return chr(0x10000 + ((ord(high) - 0xD800) << 10) + (ord(low) - 0xDC00))


def _calls_digest(calls: Sequence[Call]) -> str:
    parts = [part for call in calls for part in (call.name, canonical(call.arguments))]
    return _digest("arguments", *parts) if parts else ""


def _digest(*parts: str) -> str:
    """Digest the parts so that none can run into the next."""
    encoded = map(_encoded, parts)
    data = b"".join([b"%d:%b" % (len(part), part) for part in encoded])
    return hashed(data).hex()


def hashed(data: bytes) -> bytes:
    """Hash to 16 bytes.

    In pieces: for longer ones hashlib lets go of the interpreter and takes it again at once.
    On a thread that hashes one message after the other, that makes the event loop wait for much
    longer than a switch takes, as it begins to wait anew each time.
    """
    if len(data) < _LETS_GO:
        return blake2b(data, digest_size=16).digest()
    state = blake2b(digest_size=16)
    for start in range(0, len(data), _LETS_GO - 1):
        state.update(data[start : start + _LETS_GO - 1])
    return state.digest()


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return well_formed(text).encode()
