"""Another process's side of searches for structures: reads searches, answers what they find.

Run as a program. On both pipes a message is its length in four bytes and then a pickle. It ends
with its input; a search that outlives even that is ended by an alarm, where there is one.
"""

from __future__ import annotations

import pickle
import signal
import sys
from typing import BinaryIO

from rules_engine.structures import StructureSearch
from rules_engine.triggers.structure import Span

LENGTH = 4  # bytes of a message's length
_LONGEST_SEARCH = 60  # seconds; who asked has given it up long before

Answer = tuple[tuple[str, Span], ...] | str  # what was found, or the name of a fault


def message(content: object) -> bytes:
    """Write one message."""
    pickled = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return len(pickled).to_bytes(LENGTH, "big") + pickled


def serve(asked: BinaryIO, answered: BinaryIO) -> None:
    """Run searches until there are no more."""
    while head := asked.read(LENGTH):
        search: StructureSearch = pickle.loads(asked.read(int.from_bytes(head, "big")))  # noqa: S301 - our parent wrote it
        _alarm(_LONGEST_SEARCH)
        answered.write(message(_answer(search)))
        answered.flush()
        _alarm(0)


def _answer(search: StructureSearch) -> Answer:
    try:
        return search.run()
    except Exception as problem:  # noqa: BLE001 - a parser's fault leaves one text unchecked
        return type(problem).__name__


def _alarm(seconds: int) -> None:
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


if __name__ == "__main__":
    # An interrupt from the keyboard is for the server, which ends us in its time.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.stdin.buffer, sys.stdout.buffer)
