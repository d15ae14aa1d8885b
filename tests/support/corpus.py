"""The corpus of hostile answers as values; `tests/corpus/README.md` explains the files."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proxy.quirks import Profile
from tests.support.chunks import at_offsets, byte_by_byte
from tests.support.upstream import Reply

FOLDER = Path(__file__).parent.parent / "corpus"


@dataclass(frozen=True)
class Case:
    """One answer: `body` as on the wire, `sidecar` as in the file beside it."""

    name: str
    body: bytes
    sidecar: dict[str, Any]

    @property
    def kind(self) -> str:
        """`stream`, `json` or `error`."""
        return str(self.expected["kind"])

    @property
    def expected(self) -> dict[str, Any]:
        """What a reader must get out of it."""
        return dict(self.sidecar["expected"])

    @property
    def response(self) -> dict[str, Any]:
        """Status, headers, framing and timing."""
        return dict(self.sidecar["response"])

    @property
    def rule(self) -> dict[str, Any] | None:
        """Pattern, hits by surface and the places of the first hits."""
        rule = self.sidecar.get("rule")
        return dict(rule) if rule else None

    @property
    def profile(self) -> Profile:
        """The upstream options that the case assumes."""
        return Profile(**self.sidecar.get("profile") or {})

    def reads(self) -> list[bytes]:
        """Cut the body where the sidecar says that the reads end."""
        splits = self.sidecar.get("splits") or []
        return byte_by_byte(self.body) if splits == "every_byte" else at_offsets(self.body, splits)


def scripted(played: Case, longest_wait: float = math.inf) -> Reply:
    """Script a case; a single wait lasts `longest_wait` seconds at most."""
    response = played.response
    splits = played.sidecar.get("splits") or ()

    def seconds(milliseconds: float) -> float:
        return min(milliseconds / 1000, longest_wait)

    packed = response.get("content_encoding") == "gzip"
    framing = response.get("framing", "chunked")
    return Reply(
        played.body,
        response["status"],
        tuple(response.get("headers", {}).items()),
        framing="chunked" if packed and framing == "content-length" else framing,
        splits=splits if splits == "every_byte" else tuple(splits),
        delay=0.0 if splits == "every_byte" else seconds(response.get("delay_ms", 0)),
        pauses={offset: seconds(pause) for offset, pause in response.get("pauses", [])},
        header_delay=seconds(response.get("header_delay_ms", 0)),
        first_byte_delay=seconds(response.get("first_byte_delay_ms", 0)),
        gzip=packed,
        trailers=tuple(response.get("trailers", {}).items()),
        terminate=response.get("terminate", "clean"),
        stall=seconds(response.get("stall_ms", 0)),
    )


def case(name: str) -> Case:
    """Load one case."""
    sidecar = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return Case(name, (FOLDER / f"{name}.body").read_bytes(), sidecar)


def cases(*kinds: str) -> list[Case]:
    """Load all cases of these kinds (all kinds without one), by name."""
    names = sorted(path.stem for path in FOLDER.glob("*.body"))
    loaded = [case(name) for name in names]
    return [one for one in loaded if not kinds or one.kind in kinds]
