"""Content codings that the proxy can undo, piece by piece, in steps of bounded size; pure."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_GZIP = 16 + zlib.MAX_WBITS
_NONE = frozenset({"identity", ""})
_PIECE = 4096  # bytes of a whole body that are undone at a time
_STEP = 64 * 1024  # bytes that come out at once, whatever a few bytes stand for
# RFC 9659: nobody may ask for a larger window than 8 MiB.
_ZSTD_OPTIONS = {int(zstd.DecompressionParameter.window_log_max): 23}


class UndecodableBody(Exception):  # noqa: N818 - a state of the bytes, named as one
    """The bytes are not what their content coding says, or grow beyond the limit."""


class Decoder(Protocol):
    """Undoes one coding. `complete`: whether the data so far could be all of it."""

    @property
    def complete(self) -> bool: ...  # noqa: D102 - see above

    def decode(self, piece: bytes) -> Iterator[bytes]:
        """Give, step by step, every byte that can be known by now; raises UndecodableBody."""


class Gunzip:
    """Undoes gzip; several members in a row are one body, as RFC 1952 allows."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)

    @property
    def complete(self) -> bool:
        """Whether the last member has come to its end."""
        return self._member.eof

    def decode(self, piece: bytes) -> Iterator[bytes]:
        """Give, step by step, every byte that can be known by now; raises UndecodableBody."""
        while piece:
            if self._member.eof:
                self._member = zlib.decompressobj(_GZIP)
            yield from _inflated(self._member, piece)
            piece = self._member.unused_data


class Inflate:
    """Undoes deflate: zlib data as RFC 9110 says, or the raw kind that some servers send."""

    def __init__(self) -> None:
        self._head = b""
        self._stream: zlib._Decompress | None = None

    @property
    def complete(self) -> bool:
        """Whether the data has come to its end."""
        return self._stream is not None and self._stream.eof

    def decode(self, piece: bytes) -> Iterator[bytes]:
        """Give, step by step, every byte that can be known by now; raises UndecodableBody."""
        if self._stream is None:
            piece = self._head = self._head + piece
            if len(piece) < len(b"\x78\x9c"):
                return
            self._stream = zlib.decompressobj(_window_bits(piece))
        yield from _inflated(self._stream, piece)


class Unbrotli:
    """Undoes brotli."""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    @property
    def complete(self) -> bool:
        """Whether the data has come to its end."""
        return bool(self._stream.is_finished())

    def decode(self, piece: bytes) -> Iterator[bytes]:
        """Give, step by step, every byte that can be known by now; raises UndecodableBody."""
        while out := self._step(piece):
            yield out
            if self.complete:
                return
            piece = b""

    def _step(self, piece: bytes) -> bytes:
        try:
            return bytes(self._stream.process(piece, output_buffer_limit=_STEP))
        except brotli.error as problem:
            raise UndecodableBody(str(problem)) from None


class Unzstd:
    """Undoes zstd; several frames in a row are one body, as RFC 8878 allows."""

    def __init__(self) -> None:
        self._frame = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)

    @property
    def complete(self) -> bool:
        """Whether the last frame has come to its end."""
        return self._frame.eof

    def decode(self, piece: bytes) -> Iterator[bytes]:
        """Give, step by step, every byte that can be known by now; raises UndecodableBody."""
        while piece or not (self._frame.needs_input or self._frame.eof):
            if self._frame.eof:
                self._frame = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)
            try:
                out = self._frame.decompress(piece, max_length=_STEP)
            except zstd.ZstdError as problem:
                raise UndecodableBody(str(problem)) from None
            piece = self._frame.unused_data if self._frame.eof else b""
            if out:
                yield out


_DECODERS: Mapping[str, Callable[[], Decoder]] = {
    "gzip": Gunzip,
    "x-gzip": Gunzip,
    "deflate": Inflate,
    "br": Unbrotli,
    "zstd": Unzstd,
}


class Chain:
    """Undoes the codings of a Content-Encoding field, last applied first."""

    def __init__(self, names: Sequence[str]) -> None:
        self._decoders = [_DECODERS[name]() for name in reversed(names) if name not in _NONE]

    def decode(self, piece: bytes) -> Iterator[bytes]:
        """Give, step by step, every byte that can be known by now; raises UndecodableBody."""
        return _through(self._decoders, piece)

    @property
    def complete(self) -> bool:
        """Whether every coding has come to its end."""
        return all(decoder.complete for decoder in self._decoders)


def codings(headers: Iterable[tuple[bytes, bytes]]) -> tuple[str, ...]:
    """Read the Content-Encoding fields, in the order in which they were applied."""
    fields = [
        value.decode("latin-1") for name, value in headers if name.lower() == b"content-encoding"
    ]
    return tuple(coding.strip().lower() for field in fields for coding in field.split(","))


def decodable(names: Iterable[str]) -> bool:
    """Whether every coding named can be undone here."""
    return all(name in _DECODERS or name in _NONE for name in names)


def plain(body: bytes, names: Iterable[str], limit: int) -> bytes:
    """Undo the codings of a whole body; raises UndecodableBody, also beyond `limit` bytes.

    No body at all is none, whatever its coding is said to be.

    One after the other: what one coding made small enough, the next could blow up without bound.
    """
    applied = list(names)
    unknown = next((name for name in applied if not decodable([name])), None)
    if unknown is not None:
        raise UndecodableBody(
            f"the content coding {unknown!r} is not known here; "
            "send gzip, deflate, br, zstd or none"
        )
    for name in reversed(applied):
        body = _undone(body, name, limit)
    return body


def _undone(body: bytes, name: str, limit: int) -> bytes:
    chain = Chain((name,))
    out = bytearray()
    for start in range(0, len(body), _PIECE):
        for step in chain.decode(body[start : start + _PIECE]):
            out += step
            if len(out) > limit:
                raise UndecodableBody(f"the body is larger than {limit} bytes once decompressed")
    if body and not chain.complete:
        raise UndecodableBody(f"the {name} data ends too early")
    return bytes(out)


def _through(decoders: Sequence[Decoder], piece: bytes) -> Iterator[bytes]:
    if not decoders:
        if piece:
            yield piece
        return
    for step in decoders[0].decode(piece):
        yield from _through(decoders[1:], step)


def _window_bits(head: bytes) -> int:
    """Tell zlib data by its header, which no encoder of the raw kind writes."""
    is_zlib = head[0] & 0x0F == zlib.DEFLATED and int.from_bytes(head[:2]) % 31 == 0
    return zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS


def _inflated(stream: zlib._Decompress, piece: bytes) -> Iterator[bytes]:
    more = True
    while more:
        try:
            out = stream.decompress(piece, _STEP)
        except zlib.error as problem:
            raise UndecodableBody(str(problem)) from None
        piece = stream.unconsumed_tail
        # A full step may have left something behind without any input.
        more = not stream.eof and (bool(piece) or len(out) == _STEP)
        if out:
            yield out
