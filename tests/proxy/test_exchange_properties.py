"""What holds for every turn over bytes, however they are cut into reads."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.conversation import Message
from proxy.wire import AttemptMessage
from rules_engine.decisions import Action
from rules_engine.policy import ReleaseMode, TurnOptions
from rules_engine.rule import InterruptMode
from rules_engine.scope import Surface
from tests.support.attempts import DONE, USAGE, chunk, tool, wire
from tests.support.attempts import attempts as odd_attempts
from tests.support.chunks import at_offsets
from tests.support.exchanges import (
    Reads,
    Served,
    exchange_of,
    message_of,
    read,
    rendered,
    serve,
)
from tests.support.grammar import check_stream
from tests.support.random_turns import BROAD, Run, Wanted, answers, rule_set, rules
from tests.support.rules import rule_text, ruleset, turn_of

Script = list[tuple[tuple[Run, ...], list[int]]]
RELEASES = st.sampled_from([ReleaseMode.SAFE, ReleaseMode.CUT, ReleaseMode.WHOLE])
ALPHABET = BROAD + "\u2028`"


def body_of(
    answer: tuple[Run, ...], sizes: list[int], name: str = "a", *, usage: bool = True
) -> bytes:
    """A regular answer: its runs in deltas of these sizes, in turn."""
    deltas: list[Any] = [{"role": "assistant", "content": ""}]
    calls = 0
    for run in answer:
        pieces = _pieces(run.text, sizes)
        if run.surface is Surface.TOOL:
            deltas.append(tool(calls, "", id=f"{name}{calls}", name=run.name))
            deltas += [tool(calls, piece) for piece in pieces]
            calls += 1
        else:
            key = "content" if run.surface is Surface.TEXT else "reasoning_content"
            deltas += [{key: piece} for piece in pieces]
    chunks = [chunk(delta, answer_id=name) for delta in deltas]
    finish = chunk(answer_id=name, finish="tool_calls" if calls else "stop")
    counts = [chunk(answer_id=name, choices=[], usage=USAGE)] if usage else []
    return wire(*chunks, finish, *counts, DONE)


def _pieces(text: str, sizes: list[int]) -> list[str]:
    pieces, at, turn = [], 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        pieces.append(text[at : at + size])
        at, turn = at + size, turn + 1
    return pieces


SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=4)
SCRIPTS = st.lists(st.tuples(answers(alphabet=ALPHABET), SIZES), min_size=1, max_size=3)


def bodies_of(script: Script, *, usage: bool = True) -> list[bytes]:
    return [body_of(run, sizes, "abc"[n], usage=usage) for n, (run, sizes) in enumerate(script)]


@given(
    rules(),
    SCRIPTS,
    RELEASES,
    st.lists(st.integers(1, 3000), min_size=1, max_size=30) | st.integers(0, 39).map(lambda n: [n]),
)
def test_any_cutting_into_reads_gives_the_same_turn(
    wanted: list[Wanted],
    script: Script,
    release: ReleaseMode,
    offsets: list[int],
) -> None:
    """Hits, batch, splice and the client's bytes are the body's, whatever the reads were."""
    bodies, ruleset = bodies_of(script), rule_set(wanted)
    options = TurnOptions(release=release)
    whole = serve(exchange_of(turn_of(ruleset, options)), bodies)
    # A list of one number stands for reads of that size.
    size = offsets[0] % 40 + 1 if len(offsets) == 1 else 0
    served = serve(
        exchange_of(turn_of(ruleset, options)),
        bodies,
        lambda body: at_offsets(body, range(size, len(body), size) if size else offsets),
    )
    assert served.got == whole.got
    assert served.seen == whole.seen
    assert rendered(served.exchange) == rendered(whole.exchange)
    assert served.exchange.turn.attempts == whole.exchange.turn.attempts


@given(
    rules(),
    SCRIPTS,
    RELEASES,
    st.integers(100, 3000),
    st.lists(st.integers(1, 3000), max_size=30),
)
def test_where_rules_end_does_not_depend_on_the_cutting(
    wanted: list[Wanted],
    script: Script,
    release: ReleaseMode,
    held_limit: int,
    offsets: list[int],
) -> None:
    """Where more is held than may, the rest passes, with what came behind it in the same read."""
    bodies = [body.replace(b"\n", b"\r\n") + b"no line end" for body in bodies_of(script)]
    ruleset = rule_set(wanted)

    def served(reads: Reads | None) -> Served:
        turn = turn_of(ruleset, TurnOptions(release=release))
        return serve(exchange_of(turn, held_limit=held_limit), bodies, reads)

    whole, singly = served(None), served(lambda body: at_offsets(body, range(len(body))))
    some = served(lambda body: at_offsets(body, offsets))
    assert whole.got == singly.got == some.got
    assert whole.seen == singly.seen == some.seen
    assert rendered(whole.exchange) == rendered(singly.exchange) == rendered(some.exchange)


@given(
    st.sampled_from(["\U0001f600", "b", "\U0001f600b", "a", "[^a]b"]),
    st.text(st.sampled_from("ab\U0001f600"), max_size=8),
    st.sampled_from([ReleaseMode.SAFE, ReleaseMode.CUT]),
    st.sampled_from(["content", "reasoning_content"]),
    st.sampled_from([[], [b": ping\n\n"]]),
)
def test_no_half_of_a_character_is_left_of_a_cut_answer(
    pattern: str, said: str, release: ReleaseMode, key: str, between: list[bytes]
) -> None:
    """Each half may come in an event of its own: both go out, or neither."""
    halves = said.encode("utf-16-le", "surrogatepass")
    units = [
        halves[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(halves), 2)
    ]
    events = [part for unit in units for part in (chunk({key: unit}), *between)]
    bodies = [wire(*events, chunk(finish="stop"), DONE), wire(chunk({"content": "c"}), DONE)]
    rules_on = rule_set([Wanted((pattern,), "text thinking", InterruptMode.ALWAYS)])
    served = serve(exchange_of(turn_of(rules_on, TurnOptions(release=release))), bodies)
    message = message_of(served.got)
    assert "\N{REPLACEMENT CHARACTER}" not in message.text + message.reasoning
    if served.exchange.turn.attempts == 1:
        assert served.got == bodies[0]


@given(odd_attempts(), RELEASES, st.sampled_from(list(InterruptMode)))
def test_answer_on_which_no_rule_acts_is_passed_byte_for_byte(
    chunks: list[Any], release: ReleaseMode, mode: InterruptMode
) -> None:
    """Rules that watch everything and hit nothing change not one byte, at whatever end."""
    ruleset = rule_set([Wanted(("never said", "(?=never)"), "text thinking tool", mode)])
    body = wire(*chunks) + b": behind the end\n\ndata: cut off in the mid"
    turn = turn_of(ruleset, TurnOptions(release=release))
    served = serve(exchange_of(turn), [body], lambda whole: at_offsets(whole, range(0, 9999, 7)))
    assert served.got == body
    assert not served.seen


@given(rules(), answers(alphabet=ALPHABET), SIZES, RELEASES, st.data())
def test_quiet_rules_change_no_byte(
    wanted: list[Wanted],
    answer: tuple[Run, ...],
    sizes: list[int],
    release: ReleaseMode,
    data: st.DataObject,
) -> None:
    """A hit that only leaves a reminder leaves the bytes of the answer alone."""
    quiet = [Wanted(each.conditions, each.scope, InterruptMode.NEVER) for each in wanted]
    body = body_of(answer, sizes)
    offsets = data.draw(st.lists(st.integers(1, len(body))))
    exchange = exchange_of(turn_of(rule_set(quiet), TurnOptions(release=release)))
    assert serve(exchange, [body], lambda b: at_offsets(b, offsets)).got == body


@given(rules(), SCRIPTS, RELEASES, st.booleans(), st.sampled_from([1, 2, 3]))
def test_continued_stream_keeps_the_grammar_and_says_what_we_remember(
    wanted: list[Wanted],
    script: Script,
    release: ReleaseMode,
    usage: bool,  # noqa: FBT001 - drawn
    caps: int,
) -> None:
    """Over several attempts the client gets one legal stream, and we know what it says."""
    options = TurnOptions(release=release, max_interrupts_per_rule=caps, max_attempts=3)
    exchange = exchange_of(turn_of(rule_set(wanted), options), include_usage=usage)
    served = serve(exchange, bodies_of(script, usage=usage))
    assert check_stream(served.got, include_usage=usage) == []
    told, kept = message_of(served.got), exchange.client_message()
    assert kept.text == told.text
    assert kept.reasoning == told.reasoning
    assert [(c.name, c.arguments) for c in kept.calls] == [
        (c.name, c.arguments) for c in told.calls
    ]


def _prose(message: Message | AttemptMessage) -> tuple[str, str]:
    return message.text, message.reasoning


@given(rules(), SCRIPTS, st.integers(0, 3000), RELEASES)
def test_what_a_client_that_leaves_has_is_known(
    wanted: list[Wanted],
    script: Script,
    leaves: int,
    release: ReleaseMode,
) -> None:
    """At any moment of a turn we know the text that the client has got so far."""
    exchange = exchange_of(turn_of(rule_set(wanted), TurnOptions(release=release)))
    got, left = b"", leaves
    for body in bodies_of(script):
        step = None
        for data in at_offsets(body[:left], range(0, left, 5)):
            step = read(exchange, data, 0.0)
            got += step.send
            if step.over:
                break
        if step is None or not step.complete:
            assert _prose(exchange.client_message()) == _prose(message_of(got))
        left -= len(body)
        if left <= 0 or step is None or not step.reissue:
            break
        exchange.reissued(0.0)


@given(rules(modes=[InterruptMode.ALWAYS]), SCRIPTS)
def test_released_text_of_an_abandoned_attempt_is_what_the_splice_takes_off(
    wanted: list[Wanted], script: Script
) -> None:
    """`strip` is the front of the client's message, and the model's message is what follows."""
    exchange = exchange_of(turn_of(rule_set(wanted)))
    served = serve(exchange, bodies_of(script))
    if exchange.turn.attempts == 1:
        return
    splice = exchange.splice()
    assert splice is not None
    text = message_of(served.got).text
    assert text.startswith(splice.strip)


@given(rules(), SCRIPTS, st.integers(1, 60), RELEASES, st.booleans())
def test_broken_answer_is_never_made_to_look_complete(
    wanted: list[Wanted],
    script: Script,
    events: int,
    release: ReleaseMode,
    breaks: bool,  # noqa: FBT001 - drawn
) -> None:
    """Wherever the upstream leaves off, no end mark is invented and we know what went out."""
    *bodies, last = bodies_of(script, usage=False)
    pieces = last.split(b"\n\n")
    short = b"\n\n".join(pieces[: min(events, len(pieces) - 2)]) + b"\n\n"
    exchange = exchange_of(turn_of(rule_set(wanted), TurnOptions(release=release)))
    served = serve(exchange, [*bodies, short], breaks=breaks)
    orderly = DONE in served.got
    assert check_stream(served.got, include_usage=False, complete=orderly) == []
    if exchange.turn.attempts > len(bodies) and b'"finish_reason": "' not in short:
        assert not orderly or any(s.action is Action.EXHAUSTED for s in served.seen)
        assert breaks is served.broken or orderly
    assert _prose(exchange.client_message()) == _prose(message_of(served.got))


READS = st.lists(st.integers(1, 9_000), max_size=20)
STRUCTURE = ruleset(foo=rule_text(astCondition="eval($X)", scope="tool:write(*.ts)"))
LINES = [f"const n{number} = run({number});\n" for number in range(150)]


def _writing(source: str, size: int, *more: Any) -> bytes:
    arguments = json.dumps({"path": "a.ts", "content": source})
    opened = tool(0, "", id="a0", name="write")
    deltas = [{"role": "assistant", "content": "Now. "}, opened]
    deltas += [tool(0, piece) for piece in _pieces(arguments, [size])]
    return wire(*(chunk(each) for each in deltas), *more)


SOURCES = st.integers(0, 150).map(lambda at: "".join((*LINES[:at], "eval(a);\n", *LINES[at:])))
SIZE = st.sampled_from([9, 40, 700, 100_000])
FINISH = (chunk(finish="tool_calls"), DONE)


@given(SOURCES | st.just("".join(LINES)), SIZE, READS, st.booleans())
def test_searches_while_a_call_streams_do_not_depend_on_the_cutting(
    source: str,
    size: int,
    reads: list[int],
    whole: bool,  # noqa: FBT001 - drawn
) -> None:
    """Reads stop where a search is asked for, an unterminated end too, and go on from there."""
    first = _writing(source, size, *FINISH) if whole else _writing(source, size).rstrip(b"\n")
    bodies = [first, _writing("a();\n", 9, *FINISH)]
    one, many = (
        serve(exchange_of(turn_of(STRUCTURE)), bodies, cut)
        for cut in (None, lambda body: at_offsets(body, reads))
    )
    assert one.searches
    assert (one.got, rendered(one.exchange)) == (many.got, rendered(many.exchange))
    assert (one.seen, one.searches, one.faults) == (many.seen, many.searches, [])
    if "eval" not in source:
        assert one.got.rstrip(b"\n") == first.rstrip(b"\n")


@given(SIZE, READS, st.integers(500, 40_000))
def test_searches_and_bounds_together_lose_no_byte(
    size: int, reads: list[int], held_limit: int
) -> None:
    """Where more waits than may, before a search or behind it, everything goes out."""
    body = _writing("".join(LINES), size, *FINISH)
    exchange = exchange_of(turn_of(STRUCTURE), held_limit=held_limit)
    served = serve(exchange, [body], lambda each: at_offsets(each, reads))
    assert served.got == body


@given(SIZE, READS, st.integers(0, 3))
def test_fault_behind_a_search_loses_no_byte(
    size: int,
    reads: list[int],
    good: int,
) -> None:
    """What the read still held when it stopped for the search goes out as it came."""
    body = _writing("".join(LINES), size, *FINISH)
    turn: Any = turn_of(STRUCTURE)
    exchange = exchange_of(turn)
    checked, left = turn.checked, good

    def faulty(*given: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise RuntimeError
        return checked(*given)

    turn.checked = faulty
    served = serve(exchange, [body], lambda each: at_offsets(each, reads))
    assert served.got == body
    assert served.complete
    assert served.faults or served.searches <= good
