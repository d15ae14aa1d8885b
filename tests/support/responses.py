"""Answers of an upstream without any connection."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import cast

from proxy.errors import Fault
from proxy.headers import Field
from proxy.upstream import UpstreamResponse


class Played:
    """An answer whose body comes in the given pieces; a fault among them is raised there."""

    decodable = True

    def __init__(
        self, pieces: Sequence[bytes | Fault], status: int = 200, headers: Sequence[Field] = ()
    ) -> None:
        self.status = status
        self.headers = tuple(headers)
        self.closed = 0
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, Fault):
                raise piece
            yield piece

    def decoded(self) -> AsyncIterator[bytes]:
        return aiter(self)

    async def aclose(self) -> None:
        self.closed += 1


def as_response(played: Played) -> UpstreamResponse:
    """The same, for code that is typed for the real one."""
    return cast("UpstreamResponse", played)


def response(
    *pieces: bytes | Fault, status: int = 200, headers: Sequence[Field] = ()
) -> UpstreamResponse:
    """An answer that is played."""
    return as_response(Played(pieces, status, headers))
