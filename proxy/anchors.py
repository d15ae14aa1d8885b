"""Finds the assistant message that each stored splice belongs to; pure.

A splice is looked for under its strongest key that any message has; among those messages the
one whose spine before it agrees longest is its anchor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proxy.conversation import RUN, KeyKind, Message, Spine, Vertebra, normalised, vertebra
from proxy.splice import Splice, SplicePlace, StoredSplice, decode


@dataclass(frozen=True, slots=True)
class Anchored:
    """A splice and the equal run with which its message was found."""

    id: int
    splice: Splice
    run: int


@dataclass(frozen=True, slots=True)
class Matches:
    """Splices by the index of their message. `unreadable`: ids whose payload says nothing."""

    by_message: Mapping[int, Anchored]
    unreadable: tuple[int, ...] = ()


NO_MATCHES = Matches({})


def lookup_keys(spine: Spine) -> tuple[str, ...]:
    """List every key that a splice of this conversation may be stored under, for one read."""
    return tuple(dict.fromkeys(name for bone in spine.vertebrae for name in bone.marks.names))


def places(message: Message, spine: Spine, *, head: bool = False) -> tuple[SplicePlace, ...]:
    """Tell where to store the splice of the message that the client got behind `spine`.

    `message`: its text as released, its calls with the ids that the upstream sent (None: none).
    `head`: the client left before the message was complete. Empty: it could never be found.
    """
    run = spine.run_before(len(spine.vertebrae))
    return tuple(
        SplicePlace(str(key), run)
        for key in vertebra(message).keys
        if head or key.kind is not KeyKind.HEAD
    )


def match(spine: Spine, stored: Sequence[StoredSplice]) -> Matches:
    """Give each splice its message, each message at most one splice.

    Of two splices for one message the one with the longer run stays, then the newer; the other
    is not placed elsewhere, where it would stand by a weaker likeness.
    """
    if not stored:
        return NO_MATCHES
    by_key: defaultdict[str, list[int]] = defaultdict(list)
    for position, bone in enumerate(spine.vertebrae):
        for name in bone.marks.names:
            by_key[name].append(position)
    taken: dict[int, Anchored] = {}
    unreadable: list[int] = []
    for entry in sorted(stored, key=lambda entry: entry.id):
        if not any(place.key in by_key for place in entry.places):
            continue
        splice = decode(entry.payload)
        if splice is None:
            unreadable.append(entry.id)
            continue
        found = _anchor(spine, by_key, entry, splice, taken)
        if found is None:
            continue
        position, run = found
        rival = taken.get(position)
        if rival is None or run >= rival.run:
            taken[position] = Anchored(entry.id, splice, run)
    return Matches(
        {spine.vertebrae[position].at: anchored for position, anchored in sorted(taken.items())},
        tuple(unreadable),
    )


def _anchor(
    spine: Spine,
    by_key: Mapping[str, Sequence[int]],
    entry: StoredSplice,
    splice: Splice,
    taken: Mapping[int, Anchored],
) -> tuple[int, int] | None:
    """Find the splice's message under its strongest key: its position and its equal run."""
    released = normalised(splice.released) if splice.head else ""
    has_ids = any(_kind(place) == KeyKind.CALL for place in entry.places)
    for kind in KeyKind:
        runs: dict[int, int] = {}
        for place in entry.places:
            if _kind(place) != kind:
                continue
            for position in by_key.get(place.key, ()):
                bone = spine.vertebrae[position]
                if kind is KeyKind.HEAD and not _begins(bone, released):
                    continue
                if kind is KeyKind.PART and has_ids and bone.keys[0].kind is KeyKind.CALL:
                    continue  # other ids and only alike in part: said again after a rewind
                equal = _equal_run(place.run, spine.run_before(position))
                runs[position] = max(equal, runs.get(position, 0))
        if runs:
            return _choose(kind, runs, taken)
    return None


def _kind(place: SplicePlace) -> str:
    return place.key.partition(":")[0]


def _choose(
    kind: KeyKind, runs: Mapping[int, int], taken: Mapping[int, Anchored]
) -> tuple[int, int] | None:
    longest = max(runs.values())
    tied = sorted(position for position, run in runs.items() if run == longest)
    if len(tied) > 1 and kind in (KeyKind.PART, KeyKind.HEAD):
        return None
    if longest == RUN:
        # A model that repeats itself word for word for longer than a run reaches back: the
        # turns' splices, oldest first, belong to the messages in their order.
        free = [position for position in tied if position not in taken]
        return (free or tied[-1:])[0], longest
    return tied[0], longest


def _begins(bone: Vertebra, released: str) -> bool:
    return released.startswith(bone.text) or bone.text.startswith(released)


def _equal_run(stored: Sequence[str], actual: Sequence[str]) -> int:
    equal = 0
    for one, other in zip(stored, actual, strict=False):
        if one != other:
            break
        equal += 1
    return equal
