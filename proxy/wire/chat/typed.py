"""What most chunks are, one piece of one choice's text and nothing more, read by its type.

Only the fields below are looked at. Where one of them says more than null (a call, reasoning, a
finish reason, usage, an error), or is of another type, the chunk is none of these, and the
tolerant reader takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from proxy.wire import Texts
from proxy.wire.chat.reasoning import REASONING_FIELDS

_SAYS_MORE = ("tool_calls", "function_call", *sorted(REASONING_FIELDS))


def _nulls(*names: str) -> list[tuple[str, Any, Any]]:
    return [(name, None, None) for name in names]


_Delta = msgspec.defstruct("_Delta", [("content", str), *_nulls(*_SAYS_MORE)], gc=False)
_Choice = msgspec.defstruct(
    "_Choice",
    [("delta", _Delta), ("index", int, 0), *_nulls("finish_reason", "usage", "error")],
    gc=False,
)
_Chunk = msgspec.defstruct(
    "_Chunk",
    [("choices", tuple[_Choice]), ("object", str, ""), *_nulls("usage", "error", "x_groq")],  # type: ignore[valid-type]
    gc=False,
)
_decoder = msgspec.json.Decoder(_Chunk)


class Piece(NamedTuple):
    """A piece of a choice's text."""

    choice: int
    text: str


def read_piece(data: str) -> Piece | None:
    """Read the piece of text that is all a chunk says; None for any other chunk."""
    try:
        chunk: Any = _decoder.decode(data)
    except (ValueError, RecursionError):
        return None
    if chunk.object == "error":
        return None
    (choice,) = chunk.choices
    return Piece(choice.index, choice.delta.content)


def read_pieces(parts: Sequence[bytes]) -> Texts | None:
    """Read the pieces of one choice's text that are all that the first events say, if any.

    `parts`: what stands in front of their blank lines.
    """
    pieces: list[str] = []
    number: int | None = None
    decode = _decoder.decode
    try:
        for part in parts:
            if part[:6] != b"data: ":
                break
            chunk: Any = decode(part[6:])
            (choice,) = chunk.choices
            text = choice.delta.content
            if chunk.object == "error" or not text or number not in (None, choice.index):
                break
            number = choice.index
            pieces.append(text)
    except (ValueError, RecursionError):
        pass
    return None if number is None else (number, pieces)
