"""Answers of an upstream without any connection."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeVar, cast

from proxy.errors import Fault
from proxy.headers import Field
from proxy.upstream import UpstreamResponse

_Result = TypeVar("_Result")


class Played:
    """An answer whose body comes in the given pieces; a fault among them is raised there."""

    decodable = True

    def __init__(
        self, pieces: Sequence[bytes | Fault], status: int = 200, headers: Sequence[Field] = ()
    ) -> None:
        self.status = status
        self.headers = tuple(headers)
        self.closed = 0
        self._pieces = iter([piece for piece in pieces if piece])

    async def read(self) -> bytes:
        piece = next(self._pieces, b"")
        if isinstance(piece, Fault):
            raise piece
        return piece

    async def until(self, take: Callable[[bytes], _Result | None]) -> _Result:
        while (result := take(await self.read())) is None:
            pass
        return result

    async def read_decoded(self) -> bytes:
        return await self.read()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self.read():
            yield piece

    def abort(self) -> None:
        self.closed += 1

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
