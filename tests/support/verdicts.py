"""The three runs that every hostile answer goes through, each answering with what is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from tests.support import grammar
from tests.support.bench import PATIENT, Bench, Outcome, better_answer, in_other_reads
from tests.support.trials import SURFACES, Surface, Trial
from tests.support.wire import Answer

_BETTER = grammar.answer(better_answer().body).text
_GRACE = PATIENT.end_mark


async def untouched(bench: Bench, trials: Iterable[Trial]) -> list[str]:
    """Run without rules: status, bytes and ending are the upstream's."""

    async def one(trial: Trial) -> list[str]:
        return _untouched(trial, await bench.play(trial, "none"))

    return await _all(one(each) for trial in trials for each in in_other_reads(trial))


async def audited(bench: Bench, trials: Iterable[Trial]) -> list[str]:
    """Run with a rule that only reminds: the same bytes, and the audit names what was hit."""
    played: list[tuple[Trial, str]] = []

    async def one(trial: Trial) -> list[str]:
        outcome = await bench.play(trial, "quiet")
        played.append((trial, outcome.model))
        return _untouched(trial, outcome)

    wrong = await _all(one(each) for trial in trials for each in in_other_reads(trial))
    seen = await bench.hits()
    for trial, model in played:
        surfaces = {row["surface"] for row in seen.get(model, ())}
        if surfaces != set(trial.hits):
            wrong.append(f"{model}: the audit says {surfaces}, hit was {set(trial.hits)}")
        wrong += [
            f"{model}: {row['action']}"
            for row in seen.get(model, ())
            if row["action"] in {"interrupt", "refuse", "exhausted"}
        ]
    return wrong


async def interrupted(bench: Bench, trials: Iterable[Trial]) -> list[str]:
    """Run with a rule that interrupts, on each surface in turn."""
    return await _all(
        _interrupted(bench, trial, surface) for trial in trials for surface in SURFACES
    )


async def _interrupted(bench: Bench, trial: Trial, surface: Surface) -> list[str]:
    wrong: list[str] = []
    answers: set[bytes] = set()
    for each in in_other_reads(trial):
        outcome = await bench.play(_waiting(each, surface), surface, better_answer())
        if surface not in trial.hits or trial.observed:
            wrong += _untouched(each, outcome, held=surface == "tool")
        elif trial.breaks and surface in trial.at_end:
            wrong += _broken(each, surface, outcome)
        else:
            wrong += _cut(each, surface, outcome)
        answers.add(outcome.answer.body)
    if len(answers) > 1 and trial.reply.terminate != "reset":
        at = _agreement(*list(answers)[:2])
        cut = [each[at:][:300] for each in answers]
        wrong.append(f"{trial.name} {surface}: from byte {at} on the reads count: {cut}")
    return wrong


def _waiting(trial: Trial, surface: Surface) -> Trial:
    """Hold the upstream's next byte back where the proxy must leave without it."""
    leaves = surface in trial.hits and surface not in trial.at_end
    ends = trial.observed or trial.kind != "stream"
    return trial.gated(surface) if leaves and not ends else trial


def _untouched(trial: Trial, outcome: Outcome, *, held: bool = False) -> list[str]:
    got, wrong = outcome.answer, []
    body = got.plain
    expected = trial.body
    for start, end in reversed(trial.undelivered) if held else ():
        expected = expected[:start] + expected[end:]
    same = expected.startswith(body) if trial.reply.terminate == "reset" else body == expected
    if not same:
        at = _agreement(body, expected)
        wrong.append(f"at byte {at} {body[at:][:300]!r} instead of {expected[at:][:300]!r}")
    if got.status != trial.reply.status:
        wrong.append(f"status {got.status}")
    if (got.ending == "broken") != trial.breaks:
        wrong.append(f"the ending is {got.ending}")
    if len(outcome.exchanges) != 1:
        wrong.append(f"{len(outcome.exchanges)} requests")
    for name, value in trial.reply.headers:
        if got.header(name.lower()) != value:
            wrong.append(f"{name}: {got.header(name.lower())} instead of {value}")
    wrong += _framing(trial, got) + _closing(trial, outcome)
    return [f"{outcome.model}: {problem}" for problem in wrong]


def _framing(trial: Trial, got: Answer) -> list[str]:
    """A coding that was undone is not announced, and no length is that does not fit."""
    wrong = []
    if got.header("content-encoding") is not None and trial.kind == "stream":
        wrong.append("content-encoding is still announced")
    length = got.header("content-length")
    if length is not None and int(length) != len(got.body):
        wrong.append(f"content-length {length}")
    if length is not None and got.header("transfer-encoding") is not None:
        wrong.append("both framings are announced")
    return wrong


def _closing(trial: Trial, outcome: Outcome) -> list[str]:
    """Both sides are closed soon behind an end mark, whatever the upstream does."""
    ends = b"[DONE]" in trial.body
    if trial.reply.terminate != "stall" or not ends:
        return []
    slow = trial.reply.stall
    wrong = [] if outcome.seconds < slow else [f"the client waited {outcome.seconds:.1f} s"]
    if outcome.seconds < _GRACE:
        wrong.append(f"closed after {outcome.seconds:.2f} s")
    if outcome.exchanges[0].outcome != "client closed":
        wrong.append(f"the upstream was not left: {outcome.exchanges[0].outcome}")
    return wrong


def _broken(trial: Trial, surface: Surface, outcome: Outcome) -> list[str]:
    """A hit in an answer that breaks off: nothing of it is shown, the break is."""
    body, wrong = outcome.answer.body, []
    if trial.body[trial.hits[surface].start : trial.hits[surface].end] in body:
        wrong.append("the hit's event was sent")
    start, end = trial.hits[surface].start, trial.hits[surface].end
    without = trial.body[:start] + trial.body[end:]
    if not (trial.body.startswith(body) or without.startswith(body)):
        wrong.append(f"bytes {body!r}")
    if outcome.answer.ending != "broken":
        wrong.append("the break is not passed on")
    if len(outcome.exchanges) != 1:
        wrong.append(f"{len(outcome.exchanges)} requests")
    return [f"{outcome.model}: {problem}" for problem in wrong]


def _cut(trial: Trial, surface: Surface, outcome: Outcome) -> list[str]:
    """What the client got: part of the first answer, then the second as one legal stream."""
    body, hit = outcome.answer.body, trial.hits[surface]
    wrong = _exchanged(trial, surface, outcome)
    shown = released(trial.body, body)
    if shown > hit.start:
        wrong.append(f"{shown} bytes of the first answer, the hit's event begins at {hit.start}")
    if outcome.answer.ending != "clean" or outcome.answer.status != 200:
        wrong.append(f"{outcome.answer.status} {outcome.answer.ending}")
    front, rest = body[:shown], body[shown:]
    try:
        wrong += grammar.check_stream(
            body.decode(errors="replace").encode(),
            include_usage=bool(trial.request.get("stream_options")) or b'"usage":{' in front,
            first_attempt_regular=_is_regular(front),
        )
        wrong += grammar.check_stream(rest, include_usage=False) if not front else []
        said = grammar.answer(rest).text
        if said.lstrip("\n`") != _BETTER:
            wrong.append(f"the continuation says {said!r}")
    except (ValueError, KeyError, TypeError) as problem:
        wrong.append(f"unreadable ({problem!r}): {body!r}")
    return [f"{outcome.model}: {problem}" for problem in wrong]


def _exchanged(trial: Trial, surface: Surface, outcome: Outcome) -> list[str]:
    """The first answer was left at the hit (or read to its end), and a second one asked for."""
    if len(outcome.exchanges) != 2:
        return [f"{len(outcome.exchanges)} requests"]
    first, second = outcome.exchanges
    wrong = []
    if surface in trial.at_end or trial.kind != "stream":
        if first.sent != len(trial.body):
            wrong.append(f"read {first.sent} of {len(trial.body)} bytes")
    elif first.outcome != "client closed" or first.sent > trial.hits[surface].end:
        wrong.append(f"the upstream: {first.outcome} after {first.sent} bytes")
    messages = second.request.json["messages"]
    if messages[-1]["role"] == "assistant" or "Say it plainly." not in str(messages):
        wrong.append(f"the second request ends with {messages[-1]}")
    calls = [c["id"] for m in messages for c in m.get("tool_calls") or ()]
    answers = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    if calls != answers:
        wrong.append(f"calls {calls}, answers {answers}")
    return wrong


def released(first: bytes, body: bytes) -> int:
    """Count the bytes of the first answer that the client got: whole lines of it."""
    shown = 0
    for line in first.splitlines(keepends=True):
        if not body.startswith(line, shown):
            break
        shown += len(line)
    return shown


def _agreement(one: bytes, other: bytes) -> int:
    """Count the bytes at the front that are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _is_regular(front: bytes) -> bool:
    return not front or not grammar.check_stream(
        front.decode(errors="replace").encode(), include_usage=True, complete=False
    )


async def _all(runs: Iterable[object]) -> list[str]:
    found = await asyncio.gather(*runs)  # type: ignore[call-overload]
    return [problem for wrong in found for problem in wrong]
