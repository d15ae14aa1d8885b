"""Whole turns of plain completions, in every cutting of the bytes."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.exchange import Exchange
from proxy.forms import Forms
from proxy.pending import Pending
from proxy.placing import Form
from proxy.quirks import PLAIN
from proxy.views import NO_MATCHES, build
from proxy.wire.completions import WIRE_API
from rules_engine.decisions import Action
from rules_engine.policy import ReleaseMode, TurnOptions
from tests.support.chunks import byte_by_byte, every_split, random_splits
from tests.support.completions import body_of, text_stream
from tests.support.exchanges import Reads, Served, read, serve
from tests.support.grammar import answer, check_completion
from tests.support.rules import rule_text, ruleset, turn_of

BAD = rule_text("Say it kindly.", condition="FORBIDDEN|ab+c")
QUIET = rule_text("Stay calm.", condition="QUIETLY", interruptMode="never")
NOTE = re.compile(r"\n\n<system-interrupt .*?</system-interrupt>\n\n", re.DOTALL)
WORDS = ("FORB", "IDDEN", "FORBIDDEN", "ab", "b", "bc", "fine ", "QUIETLY", "\n", "\U0001f600")
PIECES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)


def turn(options: TurnOptions | None = None, **facts: Any) -> Exchange:
    """An exchange of a streaming completion under one loud and one quiet rule."""
    asked = WIRE_API.read(body_of(stream=True))
    made = turn_of(ruleset(bad=BAD, quiet=QUIET), options, tools=(), **facts)
    pending = Pending.behind(asked.messages, WIRE_API.user)
    return Exchange(WIRE_API, asked, made, PLAIN, pending, limit=1 << 20, held_limit=1 << 20)


def bodies(exchange: Exchange) -> dict[Form, str]:
    """The prompts in which a reissue would go out, by form."""
    asked = WIRE_API.read(body_of(stream=True))
    forms = Forms(WIRE_API, asked, NO_MATCHES, build(asked.messages, NO_MATCHES, WIRE_API.user))
    return {form: json.loads(body)["prompt"] for form, body in forms.between(exchange.pending).made}


def rendered(served: Served) -> Any:
    """Everything that must not depend on how the bytes were cut."""
    seen = [(each.hit.rule.name, each.hit.decided, each.action) for each in served.seen]
    return served.got, seen, served.exchange.pending, served.faults


@pytest.mark.parametrize("mode", list(ReleaseMode))
def test_no_cutting_changes_an_interrupted_completion(mode: ReleaseMode) -> None:
    """At every split, byte by byte: one completion, without a character of the violation."""
    streams = [
        text_stream("All clear. ", "FORB", "IDDEN", " x"),
        text_stream("Better.", letter="b"),
    ]
    expected = rendered(serve(turn(TurnOptions(release=mode)), streams))
    cuttings: list[Reads] = [byte_by_byte]
    cuttings += [partial(nth_split, number) for number in range(0, 900, 7)]
    for reads in cuttings:
        assert rendered(serve(turn(TurnOptions(release=mode)), streams, reads)) == expected
    got = expected[0]
    assert check_completion(got, include_usage=False) == []
    # Under `cut` the beginning of a match may have gone out before it was complete.
    shown = {"safe": "All clear. \n\n", "cut": "All clear. FORB\n\n", "whole": ""}
    assert answer(got).text == f"{shown[mode]}Better."


def nth_split(number: int, body: bytes) -> Sequence[bytes]:
    return next(itertools.islice(every_split(body), number % len(body), None))


@given(st.lists(PIECES, min_size=1, max_size=3), st.integers(0, 99), st.sampled_from(ReleaseMode))
def test_what_a_client_reads_holds_no_violation(
    attempts: list[list[str]], seed: int, mode: ReleaseMode
) -> None:
    """Any attempts in any cutting: one well-formed completion, clean while attempts are left."""
    streams = [text_stream(*pieces, letter="abc"[n]) for n, pieces in enumerate(attempts)]
    streams.append(text_stream("the end", letter="d"))
    whole = serve(turn(TurnOptions(release=mode)), streams)
    cut = serve(turn(TurnOptions(release=mode)), streams, lambda body: random_splits(body, seed))
    assert rendered(cut) == rendered(whole)
    assert check_completion(whole.got, include_usage=False) == []
    assert not re.search("FORBIDDEN|ab+c", answer(whole.got).text)
    assert whole.exchange.splice() is None


def test_partial_and_note_stand_behind_the_prompt() -> None:
    """Then without the partial, then as the client sent it."""
    exchange = turn()
    serve(exchange, [text_stream("All clear. ", "FORBIDDEN ", "x"), text_stream("Better.")])
    forms = bodies(exchange)
    placed, flipped = forms[Form.PLACED], forms[Form.FLIPPED]
    assert placed.startswith("sayAll clear. FORBIDDEN\n\n<system-interrupt ")
    assert placed.endswith("</system-interrupt>\n\n")
    assert flipped == placed.replace("All clear. FORBIDDEN", "")
    assert forms[Form.BARE] == "say"
    assert list(forms) == [Form.PLACED, Form.FLIPPED, Form.BARE]


def test_each_cut_is_told_behind_its_own_partial() -> None:
    """Three cuts in a row: the prompt grows, and what was sent stays its beginning."""
    exchange = turn()
    prompts = []
    for text in ("one FORBIDDEN", "two abbc", "three FORBIDDEN"):
        read(exchange, text_stream(text), 0.0)
        prompts.append(bodies(exchange)[Form.PLACED])
        exchange.reissued(0.0)
    read(exchange, text_stream("good"), 0.0)
    assert all(after.startswith(before) for before, after in itertools.pairwise(prompts))
    assert NOTE.split(prompts[-1]) == ["sayone FORBIDDEN", "two abbc", "three FORBIDDEN", ""]


def test_discarded_partial_leaves_the_note_alone() -> None:
    """Under contextMode discard nothing of what was cut stands in the prompt."""
    exchange = turn()
    made = ruleset(bad=rule_text("Kindly.", condition="FORBIDDEN", contextMode="discard"))
    exchange.turn = turn_of(made, tools=())
    serve(exchange, [text_stream("All clear. ", "FORBIDDEN ", "x"), text_stream("Better.")])
    assert list(bodies(exchange)) == [Form.PLACED, Form.BARE]
    assert bodies(exchange)[Form.PLACED].startswith("say\n\n<system-interrupt ")


def test_rule_that_only_reminds_is_observed() -> None:
    """No later request can be told; an answer that no attempt is left for is released."""
    served = serve(turn(), [text_stream("speak QUIETLY")])
    assert [each.action for each in served.seen] == [Action.OBSERVED]
    options = TurnOptions(max_attempts=2)
    served = serve(turn(options), [text_stream("FORBIDDEN"), text_stream("FORBIDDEN again")])
    assert [each.action for each in served.seen] == [Action.INTERRUPT, Action.EXHAUSTED]
    assert answer(served.got).text == "FORBIDDEN again"
    assert served.exchange.splice() is None
