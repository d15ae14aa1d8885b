"""Which header fields travel through the proxy, in both directions; pure.

Fields are raw `(name, value)` pairs, kept in order, case and number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

Field = tuple[bytes, bytes]

# RFC 9110 section 7.6.1, and the two old fields that it replaced.
HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
# Said anew on the way up: where it goes, how long it is, what coding is welcome. uvicorn has
# answered `expect` already.
_SAID_ANEW = frozenset({b"host", b"content-length", b"expect", b"accept-encoding"})
_OURS = b"x-ttsr-"


def to_upstream(fields: Iterable[Field], host: bytes) -> list[Field]:
    """Fields of a client's request as the upstream gets them, without any body framing."""
    kept = [
        (name, value)
        for name, value in _end_to_end(fields)
        if (lower := name.lower()) not in _SAID_ANEW and not lower.startswith(_OURS)
    ]
    return [(b"Host", host), *kept, (b"Accept-Encoding", b"identity")]


def to_client(fields: Iterable[Field]) -> list[Field]:
    """Fields of an upstream's answer as the client gets them."""
    return _end_to_end(fields)


def without_framing(fields: Iterable[Field]) -> list[Field]:
    """Fields that stay true when the body is no longer the one that the upstream sent."""
    dropped = {b"content-length", b"content-encoding", b"content-md5", b"digest", b"etag"}
    return [(name, value) for name, value in fields if name.lower() not in dropped]


def first(fields: Iterable[Field], name: bytes) -> bytes | None:
    """Value of the first field called `name` (lower case), or None."""
    for key, value in fields:
        if key.lower() == name:
            return value
    return None


def by_name(fields: Sequence[Field]) -> Mapping[bytes, bytes]:
    """Values of fields by their names in lower case; of several of one name the first."""
    return {name.lower(): value for name, value in reversed(fields)}


def _end_to_end(fields: Iterable[Field]) -> list[Field]:
    pairs = list(fields)
    dropped = HOP_BY_HOP
    for name, value in pairs:
        if name.lower() == b"connection":
            dropped |= {token.strip().lower() for token in value.split(b",")}
    return [pair for pair in pairs if pair[0].lower() not in dropped]
