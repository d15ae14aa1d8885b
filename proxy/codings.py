"""Content codings that the proxy can undo: gzip and deflate, piece by piece; pure."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

_GZIP = 16 + zlib.MAX_WBITS
_KNOWN = frozenset({"gzip", "x-gzip", "deflate", "identity", ""})
_PIECE = 4096  # bytes decompressed at a time; each grows at most a thousandfold


class UndecodableBody(Exception):  # noqa: N818 - a state of the bytes, named as one
    """The bytes are not what their content coding says, or grow beyond the limit."""


class Gunzip:
    """Undoes gzip; several members in a row are one body, as RFC 1952 allows."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)

    def decode(self, piece: bytes) -> bytes:
        """Answer every byte that can be known by now."""
        out = []
        while piece:
            if self._member.eof:
                self._member = zlib.decompressobj(_GZIP)
            out.append(_inflated(self._member, piece))
            piece = self._member.unused_data
        return b"".join(out)


class Inflate:
    """Undoes deflate: zlib data as RFC 9110 says, or the raw kind that some servers send."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj()
        self._begun = False

    def decode(self, piece: bytes) -> bytes:
        """Answer every byte that can be known by now."""
        if not piece:
            return b""
        if self._begun:
            return _inflated(self._stream, piece)
        self._begun = True
        try:
            return self._stream.decompress(piece)
        except zlib.error:
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            return _inflated(self._stream, piece)


class Chain:
    """Undoes the codings of a Content-Encoding field, last applied first."""

    def __init__(self, codings: Iterable[str]) -> None:
        self._decoders = [
            Inflate() if coding == "deflate" else Gunzip()
            for coding in reversed(list(codings))
            if coding not in {"identity", ""}
        ]

    def decode(self, piece: bytes) -> bytes:
        """Answer every byte that can be known by now; raises UndecodableBody."""
        for decoder in self._decoders:
            piece = decoder.decode(piece)
        return piece


def codings(headers: Iterable[tuple[bytes, bytes]]) -> tuple[str, ...]:
    """Read the Content-Encoding fields, in the order in which they were applied."""
    fields = [
        value.decode("latin-1") for name, value in headers if name.lower() == b"content-encoding"
    ]
    return tuple(coding.strip().lower() for field in fields for coding in field.split(","))


def decodable(names: Iterable[str]) -> bool:
    """Whether every coding named can be undone here."""
    return all(name in _KNOWN for name in names)


def plain(body: bytes, names: Iterable[str], limit: int) -> bytes:
    """Undo the codings of a whole body; raises UndecodableBody, also beyond `limit` bytes.

    One after the other: what one coding made small enough, the next could blow up without bound.
    """
    applied = list(names)
    unknown = next((name for name in applied if name not in _KNOWN), None)
    if unknown is not None:
        raise UndecodableBody(
            f"the content coding {unknown!r} is not known here; send gzip, deflate or none"
        )
    for name in reversed(applied):
        body = _undone(body, name, limit)
    return body


def _undone(body: bytes, name: str, limit: int) -> bytes:
    chain = Chain((name,))
    out = bytearray()
    for start in range(0, len(body), _PIECE):
        out += chain.decode(body[start : start + _PIECE])
        if len(out) > limit:
            raise UndecodableBody(f"the body is larger than {limit} bytes once decompressed")
    return bytes(out)


def _inflated(stream: zlib._Decompress, piece: bytes) -> bytes:
    try:
        return stream.decompress(piece)
    except zlib.error as problem:
        raise UndecodableBody(str(problem)) from None
