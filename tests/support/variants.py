"""More hostile answers, beside the corpus: other words, other cuts, quirks in combination.

Each is a list of events as raw bytes; where the pattern is hit is said by the event's number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from proxy.quirks import Profile
from tests.support.trials import SURFACES, Hit, Surface, Trial
from tests.support.upstream import JSON_HEADERS, SSE_HEADERS, Reply

PATTERN = r"crimson\s+otter"
LATE = r"\botter\b(?! pup)"
_HEAD = {"id": "cc-7", "object": "chat.completion.chunk", "created": 1750000000, "model": "alt"}
_END: frozenset[Surface] = frozenset({"text", "thinking", "tool"})
_CALLS: frozenset[Surface] = frozenset({"tool"})


def trials() -> list[Trial]:
    """Give all variants."""
    made = [*_framed(), *_encoded(), *_shaped(), *_reasoned(), *_called(), *_failed(), *_ended()]
    made += _documents()
    assert len({trial.name for trial in made}) == len(made)
    return made


def late_trials() -> list[Trial]:
    """Give answers to `LATE`, whose hits only later text decides.

    A hit is the events from where the match begins to where it is certain.
    """
    pup = [_say("An otter"), _say(" pu"), _say("p sleeps.")]
    puffs = [_say("An otter"), _say(" pu"), _say("ffs.")]
    word = [_say("The otter"), _say("s and an otter"), _say(", wet.")]
    last = [_say("It is an"), _say(" otter")]
    thought = [_raw(_chunk({"reasoning": t})) for t in ("an otter", "")]
    told = [*thought, _say("Fine")]
    parts = [_named(0, "edit_file"), _piece(0, '{"t": "an otter'), _piece(0, '"}')]
    return [
        _variant("late_no_hit", _told("\n", *pup)),
        _variant("late_hit", _told("\n", *puffs), text=(1, 3)),
        _variant("late_second_word", _told("\n", *word), text=(2, 3)),
        _variant("late_at_the_mark", _told("\n", *last), at_end=_END, text=(2, 4)),
        _variant("late_at_the_end", [_open(), *last, _stop()], at_end=_END, text=(2, 3)),
        _variant("late_in_thought", _told("\n", *told), at_end=_END, thinking=(1, 5)),
        _variant(
            "late_in_a_call",
            [_open(), *parts, _stop("tool_calls"), _done()],
            at_end=_END,
            tool=(2, 3),
        ),
        _variant(
            "late_and_broken",
            [_open(), *last],
            reply={"terminate": "abort"},
            at_end=_END,
            text=(2, 2),
        ),
    ]


def _variant(
    name: str,
    events: Sequence[bytes],
    *,
    reply: Mapping[str, Any] | None = None,
    request: Mapping[str, Any] | None = None,
    profile: Profile | None = None,
    at_end: frozenset[Surface] = frozenset(),
    observed: bool = False,
    lost: Sequence[int] = (),
    **hits: int | tuple[int, int],
) -> Trial:
    """Put events together.

    hits: surface to event number, or to those of the match's begin and of its deciding;
    lost: events never delivered.
    """
    edges = [0]
    for event in events:
        edges.append(edges[-1] + len(event))
    settings = {"splits": tuple(edges[1:-1]), "headers": SSE_HEADERS} | dict(reply or {})
    return Trial(
        name,
        Reply(b"".join(events), **settings),
        PATTERN,
        profile=profile or Profile(),
        hits={surface: _hit(edges, hits[surface]) for surface in SURFACES if surface in hits},
        request=request or {},
        at_end=at_end,
        observed=observed,
        undelivered=tuple((edges[at], edges[at + 1]) for at in lost),
    )


def _hit(edges: Sequence[int], events: int | tuple[int, int]) -> Hit:
    begun, decided = (events, events) if isinstance(events, int) else events
    return Hit(edges[begun], edges[decided + 1])


def _raw(value: object, end: str = "\n", field: str = "data: ") -> bytes:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{field}{text}{end}{end}".encode("utf-8", "surrogatepass")


def _chunk(delta: object = None, finish: str | None = None, /, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {**_HEAD, "choices": [choice], **more}


def _say(text: str, finish: str | None = None, end: str = "\n", **more: Any) -> bytes:
    return _raw(_chunk({"content": text}, finish, **more), end)


def _open(end: str = "\n") -> bytes:
    return _raw(_chunk({"role": "assistant", "content": ""}), end)


def _stop(reason: str = "stop", end: str = "\n") -> bytes:
    return _raw(_chunk({}, reason), end)


def _done(end: str = "\n") -> bytes:
    return _raw("[DONE]", end)


def _call(**piece: Any) -> bytes:
    return _raw(_chunk({"tool_calls": [piece]}))


def _piece(index: int, arguments: str, **more: Any) -> bytes:
    return _call(index=index, function={"arguments": arguments}, **more)


def _named(index: int, name: str, arguments: str = "", **more: Any) -> bytes:
    body = {"name": name, "arguments": arguments}
    return _call(index=index, id=f"call_x{index}", type="function", function=body, **more)


def _told(end: str, *middle: bytes) -> list[bytes]:
    return [_open(end), *middle, _stop(end=end), _done(end)]


def _framed() -> list[Trial]:
    crlf = [_say(text, end="\r\n") for text in ("A crim", "son ot", "ter swims.")]
    cr = [_say(text, end="\r") for text in ("On the bank a crimson", " otter", " rests.")]
    bare = [_raw(_chunk({"content": t}), field="data:") for t in ("Two crimson ", "otters")]
    pretty = json.dumps(_chunk({"content": "one crimson otter"}), indent=1).split("\n")
    lines = "\n".join(f"data: {line}" for line in pretty) + "\n\n"
    noisy = [
        b"id: 1\nretry: 900\n" + _say("The crimson"),
        b": waiting\n\n",
        b"event: ping\ndata: {}\n\n",
        b"data:\n\n",
        b"id: 2\n" + _say(" otter again"),
    ]
    first = b"\xef\xbb\xbf" + _say("crimson otter", end="\r\n")
    gone = [_say("a crimson"), _say(" otter")]
    named = b"event: completion.chunk\n" + _say("the crimson otter")
    return [
        _variant("crlf_three_deltas", _told("\r\n", *crlf), reply={"splits": "every_byte"}, text=3),
        _variant("cr_only", _told("\r", *cr), text=2),
        _variant("bom_crlf_hit_first", [first, _stop(), _done()], reply={"splits": (1, 2)}, text=0),
        _variant("no_space", [_open(), *bare, _stop(), _raw("[DONE]", field="data:")], text=2),
        _variant("pretty_printed", _told("\n", lines.encode()), text=1),
        _variant("noise_between_halves", _told("\n", *noisy), text=5),
        _variant("own_event_name", _told("\n", named), text=1),
        _variant("closed_to_end", _told("\n", *gone), reply={"framing": "close"}, text=2),
        _variant("length_given", _told("\n", *gone), reply={"framing": "content-length"}, text=2),
        _variant("packed", _told("\r\n", *gone), reply={"gzip": True}, text=2),
    ]


def _encoded() -> list[Trial]:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in "crimson otter")
    plain = json.dumps(_chunk({"content": "@"}))
    halves = [_raw(plain.replace("@", part)) for part in (escaped[:24], escaped[24:])]
    argument = json.dumps({"text": "@"}).replace("@", escaped)
    seen_last = plain.replace('"content": "@"', '"content": "crimson otter", "content": "a newt"')
    hit_last = plain.replace('"content": "@"', '"content": "a newt", "content": "crimson otter"')
    bad = _say("\x00?").replace(b"\\u0000?", b"\xff\xfe\xf0\x9f")
    long = _say("reed " * 20_000 + "crimson otter")
    wide = [_say("die crimson\u2028"), _say("\u00a0otter \U0001f9a6")]
    pair = [_raw(plain.replace("@", part)) for part in (r"\ud83e", r"\udda6 crimson", " otter")]
    spelled = [_named(0, "edit_file"), _piece(0, argument[:31]), _piece(0, argument[31:])]
    return [
        _variant("escapes_cut", _told("\n", *halves), text=2),
        _variant("escapes_in_arguments", _told("\n", *spelled), at_end=_CALLS, tool=3),
        _variant("double_key_harmless_last", _told("\n", _raw(seen_last))),
        _variant("double_key_hit_last", _told("\n", _raw(hit_last)), text=1),
        _variant("bad_bytes_then_hit", _told("\n", bad, _say("crimson otter")), text=2),
        _variant("long_line", _told("\n", long), reply={"splits": (400, 65_536, 99_000)}, text=1),
        _variant("wide_spaces", _told("\n", *wide), reply={"splits": "every_byte"}, text=2),
        _variant("pair_over_deltas", _told("\n", *pair), text=3),
    ]


def _shaped() -> list[Trial]:
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    counted = [
        _say("crimson", usage=usage),
        _say(" otter", usage=usage),
        _stop(),
        _raw({**_HEAD, "choices": [], "usage": usage}),
    ]
    asked = {"stream_options": {"include_usage": True}}
    odd = [
        _raw({**_HEAD, "choices": None}),
        _say("crimson "),
        _raw({**_HEAD, "choices": [{"index": 0, "delta": None, "finish_reason": ""}]}),
        _raw({**_HEAD, "choices": []}),
        _raw({"choices": [{"delta": {"content": "otter"}}]}),
    ]
    nameless = [_raw({"choices": [{"delta": {"content": t}}]}) for t in ("crim", "son otter")]
    twins = [
        _raw({**_HEAD, "choices": [{"index": number, "delta": {"content": text}}]})
        for number, text in ((1, "crimson"), (0, "a heron"), (1, " otter"), (0, " stands"))
    ]
    parts = [
        {"content": [{"type": "text", "text": "crimson "}]},
        {"content": [{"type": "text", "text": "otter"}]},
    ]
    whole = _raw({**_HEAD, "choices": [{"index": 0, "message": {"content": "a crimson otter"}}]})
    grown = [_say(t, end="\r\n") for t in ("A crim", "A crimson ot", "A crimson otter naps")]
    refused = _raw(_chunk({"refusal": "no crimson otter"}))
    logged = _raw(_chunk({"content": "reeds"}) | {"note": "crimson otter"})
    return [
        _variant("usage_everywhere", [*_told("\n", *counted)[:-2], _done()], request=asked, text=2),
        _variant("odd_chunks_between", _told("\n", *odd), text=5),
        _variant("nobody_named", [*nameless, _done()], text=1),
        _variant("two_choices", _told("\n", *twins), request={"n": 2}, observed=True, text=3),
        _variant("parts", _told("\n", *(_raw(_chunk(p)) for p in parts)), text=2),
        _variant("message_only", [whole, _done()], text=0),
        _variant(
            "cumulative_crlf", _told("\r\n", *grown), profile=Profile(cumulative=True), text=3
        ),
        _variant("refusal_and_notes", _told("\n", refused, logged)),
    ]


def _reasoned() -> list[Trial]:
    both = _raw(_chunk({"reasoning_content": " otter?", "content": "All calm."}))
    mixed = [_raw(_chunk({"reasoning": "a crimson"})), both, _say("crimson newt")]
    details = [{"type": "reasoning.text", "text": "otter"}]
    sorts = [_raw(_chunk({"thinking": "crimson "})), _raw(_chunk({"reasoning_details": details}))]
    border = [_raw(_chunk({"reasoning_content": "crimson "})), _say("otter")]
    tags = [
        _say(t) for t in ("<th", "ink>\na crim", "son otter</thi", "nk>\nNo. A crimson", " otter")
    ]
    closing = [_say(t) for t in ("hm, reeds </", "think>crimson", " otter")]
    return [
        _variant("thought_and_text", _told("\n", *mixed), thinking=2),
        _variant("thoughts_in_two_fields", _told("\n", *sorts), thinking=2),
        _variant("over_the_border", _told("\n", *border)),
        _variant(
            "tags_cut",
            _told("\n", *tags),
            profile=Profile(inline_think=True),
            reply={"splits": "every_byte"},
            thinking=3,
            text=5,
        ),
        _variant(
            "closing_tag_only",
            _told("\n", *closing),
            profile=Profile(start_in_think=True),
            text=3,
        ),
    ]


def _called() -> list[Trial]:
    apart = ['{"path":"a.md",', '"text":"reeds"}', '{"path":"b.md",', '"text":"crimson', ' otter"}']
    woven = [
        _named(0, "edit_file"),
        _named(1, "edit_file"),
        _piece(0, apart[0]),
        _piece(1, apart[2]),
        _piece(1, apart[3]),
        _piece(0, apart[1]),
        _piece(1, apart[4]),
    ]
    stops = [_stop("tool_calls"), _done()]
    whole = {"name": "edit_file", "arguments": '{"text": "crimson otter"}'}
    crowd = {"content": "Off it goes.", "tool_calls": [{"index": 0, "id": "c9", "function": whole}]}
    spoken = {**crowd, "content": "A crimson otter!"}
    spoken["tool_calls"] = [{"index": 0, "id": "c9", "function": {**whole, "arguments": "{}"}}]
    loose = [
        _call(function={"name": "edit_file", "arguments": '{"path": "a"}'}),
        _call(function={"name": "edit_file", "arguments": '{"text": "crim'}),
        _call(function={"arguments": 'son otter"}'}),
    ]
    same = [
        _named(0, "get_time", "{}"),
        _call(index=0, id="other", function={"name": "edit_file", "arguments": '{"a":"crimson'}),
        _call(index=0, id="", function={"name": "", "arguments": ' otter"}'}),
    ]
    given = _call(
        index=0, id="o", function={"name": "edit_file", "arguments": {"t": "crimson otter"}}
    )
    old = [
        _raw(_chunk({"function_call": {"name": "edit_file", "arguments": '{"t":"crimson'}})),
        _raw(_chunk({"function_call": {"arguments": ' otter"}'}})),
    ]
    begun = [_named(0, "write"), _piece(0, '{"path":"a.py",'), _piece(0, '"content":"x = 1 # crim')]
    return [
        _variant("woven_calls", [_open(), *woven, *stops], at_end=_CALLS, tool=7),
        _variant(
            "all_in_one",
            [_open(), _raw(_chunk(crowd, "tool_calls")), _done()],
            at_end=_CALLS,
            tool=1,
        ),
        _variant("text_of_all_in_one", [_raw(_chunk(spoken, "tool_calls")), _done()], text=0),
        _variant("no_ids_no_indices", [_open(), *loose, *stops], at_end=_CALLS, tool=3),
        _variant("one_index_two_calls", [_open(), *same, *stops], at_end=_CALLS, tool=3),
        _variant("arguments_as_object", [_open(), given, _stop(), _done()], at_end=_CALLS, tool=1),
        _variant(
            "old_call", [_open(), *old, _stop("function_call"), _done()], at_end=_CALLS, tool=2
        ),
        _variant(
            "source_streams",
            [_open(), *begun, _piece(0, "son otter"), _piece(0, '\\n"}'), *stops],
            tool=4,
        ),
        _variant(
            "text_then_calls",
            [_open(), _say("Writing. "), *begun, _piece(0, 'son"}'), *stops],
        ),
    ]


def _failed() -> list[Trial]:
    error = _raw({"error": {"message": "worker lost", "code": 500}})
    calls = [_named(0, "edit_file"), _piece(0, '{"text": "reeds')]
    cut = {"terminate": "abort"}
    return [
        _variant("error_behind_hit", [_open(), _say("crimson otter"), error, _done()], text=1),
        _variant("error_behind_half", [_open(), _say("crimson ott"), error, _done()]),
        _variant("error_alone", [error, _done()]),
        _variant("broken_in_half_a_hit", [_open(), _say("crimson ot")], reply=cut),
        _variant("broken_in_a_call", [_open(), _say("So: "), *calls], reply=cut, lost=(2, 3)),
        _variant(
            "broken_behind_a_call",
            [_open(), _named(0, "get_time", "{}"), _say("")],
            reply=cut,
        ),
        _variant(
            "broken_behind_a_hit",
            [_open(), _named(0, "edit_file", '{"a": "crimson otter"}'), _say("")],
            reply=cut,
            at_end=_CALLS,
            tool=1,
        ),
        _variant("nothing_at_all", [b": hello\n\n"]),
    ]


def _ended() -> list[Trial]:
    tail = _raw(_chunk({"content": " otter"}, "stop"))
    held = [*_told("\n", _say("calm")), b": bye\n", b"\n"]
    behind = [*_told("\n", _say("calm")), _say("crimson otter"), b"data: {"]
    open_end = {"terminate": "stall", "stall": 8.0}
    split = [_say("crimson otter")[:50], _say("crimson otter")[50:]]
    again = [_open(), _say("reeds"), _stop(), _say(" crimson"), _say(" otter"), _stop(), _done()]
    return [
        _variant("hit_with_the_finish_and_no_mark", [_open(), _say("crimson"), tail], text=2),
        _variant("hit_in_the_tail", [_open(), _say("crimson"), tail.rstrip()], at_end=_END, text=2),
        _variant("hit_behind_the_finish", again, text=4),
        _variant("hit_behind_the_mark", behind),
        _variant("mark_then_silence", held, reply=open_end),
        _variant(
            "mark_then_slow_bytes",
            [*_told("\n", _say("calm")), *split],
            reply={**open_end, "pauses": {len(b"".join(_told("\n", _say("calm")))): 0.25}},
        ),
        _variant("two_marks", [*_told("\n", _say("calm")), _done(), _stop(), _done()]),
    ]


def _documents() -> list[Trial]:
    call = {
        "id": "c5",
        "type": "function",
        "function": {"name": "edit_file", "arguments": '{"t": "crimson otter"}'},
    }
    found = {
        "document_text": {"content": "a crimson\notter"},
        "document_thinking": {"content": "hm", "reasoning_content": "crimson otter"},
        "document_tool": {"content": None, "tool_calls": [call]},
        "document_calm": {"content": "a newt"},
    }
    return [
        *(_document(name, message) for name, message in found.items()),
        _document("document_behind_blanks", found["document_text"], ahead="\n\n \n"),
        _document("document_without_type", found["document_text"], headers=()),
        _document("page", "<html>crimson otter</html>", headers=(("content-type", "text/html"),)),
        _document("listed_error", [{"error": {"message": "crimson otter", "code": 7}}]),
    ]


def _document(
    name: str, said: object, *, ahead: str = "", headers: tuple[tuple[str, str], ...] = JSON_HEADERS
) -> Trial:
    """Make an answer that is no stream; its message is all that a rule may look at."""
    value = said
    surfaces: tuple[str, ...] = ()
    if isinstance(said, dict):
        choice = {"index": 0, "message": {"role": "assistant", **said}, "finish_reason": "stop"}
        value = {**_HEAD, "object": "chat.completion", "choices": [choice]}
        places = {"text": "content", "thinking": "reasoning_content", "tool": "tool_calls"}
        surfaces = tuple(s for s, key in places.items() if "crimson" in str(said.get(key)))
    body = (ahead + (value if isinstance(value, str) else json.dumps(value))).encode()
    return Trial(
        name,
        Reply(body, headers=headers, framing="content-length"),
        PATTERN,
        kind="json",
        hits={surface: Hit(0, len(body)) for surface in SURFACES if surface in surfaces},
    )
