"""The soak, short: every kind of stream comes through as it must, and the judge can tell."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from bench.soak.answer import Answer
from bench.soak.client import Played, play
from bench.soak.run import Options, Soak
from bench.soak.script import Kind, Script

LEFT_OPEN = {Kind.BROKEN, Kind.RESET, Kind.UNENDED, Kind.LEAVE, Kind.LEAVE_INTERRUPTED}
SHORT = Options(seconds=1, streams=4, seed=1, idle=0)


@pytest.mark.anyio
@pytest.mark.timeout(240)
async def test_a_short_soak_finds_nothing(tmp_path: Path) -> None:
    """All kinds are played, every stream is what it must be; times and sizes are not looked at."""
    soak = Soak(SHORT, tmp_path, print)
    section = await soak.section()
    assert not section.faults
    assert set(soak.tally.played) == set(Kind)
    assert {finding.number for finding in section.findings} == {"18"}


@pytest.mark.anyio
@pytest.mark.timeout(240)
async def test_every_kind_comes_through_and_what_is_wrong_with_it_is_told(tmp_path: Path) -> None:
    """Answers with another stream's text, without an end, or told too little, are faults."""
    soak = Soak(SHORT, tmp_path, print)
    with soak.running() as (_, place, _):
        scripts = [Script(kind, number, soak.violation) for number, kind in enumerate(Kind, 70)]
        all_played = await asyncio.gather(*(play(place.port, script) for script in scripts))
    assert not [played for played in all_played if played.fault(unguarded=False)]
    for played in all_played:
        for wrong in spoilt(played):
            assert wrong.fault(unguarded=False), wrong


def spoilt(played: Played) -> list[Played]:
    """The same stream, as a faulty proxy might have handed it on."""
    number, body = str(played.script.number).encode(), played.answer.body
    wrong = [replace(played.answer, status=502)]
    # The id names the number too, and is no text; a reissue that never came may have said nothing.
    mixed = body.replace(b"%b/" % number, b"9999/").replace(b"now, %b" % number, b"now, 9999")
    if mixed != body:
        wrong.append(replace(played.answer, body=mixed))
    if b"[DONE]" in body and played.script.kind not in LEFT_OPEN:
        wrong.append(replace(played.answer, body=body.replace(b"data: [DONE]\n\n", b"")))
    answers = [replace(played, answer=answer) for answer in wrong]
    if played.told is not None:
        answers.append(replace(played, told=f"un{played.told}"))
    return answers


def test_a_violation_that_came_through_is_a_fault_unless_the_ledger_was_away() -> None:
    """Without a ledger rules only observe, and the audit says so."""
    script = Script(Kind.INTERRUPT, 5, " stop(")
    chunk = '{"id": "x", "choices": [{"delta": {"content": "%s"}, "finish_reason": %s}]}'
    events = [chunk % (text, "null") for text in script.texts()]
    body = "".join(f"data: {event}\n\n" for event in [*events, chunk % ("", '"stop"'), "[DONE]"])
    answer = Answer(200, body.encode())
    assert script.fault(answer, unguarded=False)
    assert script.fault(answer, unguarded=True) is None


def test_texts_of_two_streams_have_nothing_in_common() -> None:
    """So that a mixture of streams can't go unnoticed."""
    texts = [set(Script(Kind.PLAIN, number, "").texts()) for number in range(50)]
    assert sum(map(len, texts)) == len(set().union(*texts))
