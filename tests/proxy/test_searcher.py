from __future__ import annotations

import io
import pickle

import pytest

from proxy.searcher import LENGTH, message, serve
from rules_engine.structures import StructureSearch
from rules_engine.triggers.structure import compile_structure


def search(text: str) -> StructureSearch:
    return StructureSearch(text, "python", (("rule", (compile_structure("print($A)"),)),))


def contents(written: bytes) -> list[object]:
    """What stands in some messages."""
    found: list[object] = []
    stream = io.BytesIO(written)
    while head := stream.read(LENGTH):
        found.append(pickle.loads(stream.read(int.from_bytes(head, "big"))))  # noqa: S301 - ours
    return found


def test_searches_are_answered_in_turn_to_the_end_of_input() -> None:
    """Each with what it finds, the empty ones too."""
    answered = io.BytesIO()
    asked = b"".join(message(search(text)) for text in ("x = 1\nprint(x)\n", "y = 2\n"))
    serve(io.BytesIO(asked), answered)
    (((name, span),), nothing) = contents(answered.getvalue())
    assert name == "rule"
    assert span.start == len("x = 1\n")
    assert nothing == ()


def test_a_fault_is_answered_by_its_name_and_the_next_search_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its words may hold what a model wrote, so they stay here."""

    def fail(self: StructureSearch) -> object:
        if "secret" in self.text:
            raise ValueError(self.text)
        return ()

    monkeypatch.setattr(StructureSearch, "run", fail)
    answered = io.BytesIO()
    serve(io.BytesIO(message(search("secret")) + message(search("x"))), answered)
    assert contents(answered.getvalue()) == ["ValueError", ()]
    assert b"secret" not in answered.getvalue()
