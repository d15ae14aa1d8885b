"""More hostile answers, beside the corpus: other words, other cuts, quirks in combination.

Each is a list of events as raw bytes; where the pattern is hit is said by the event's number.
"""

from __future__ import annotations

import json

from proxy.quirks import Profile
from tests.support.handmade import (
    HEAD,
    call_named,
    call_piece,
    chunk,
    done,
    more_of,
    opening,
    raw,
    say,
    stop,
    told,
    variant,
)
from tests.support.trials import SURFACES, Hit, Surface, Trial
from tests.support.upstream import JSON_HEADERS, Reply

PATTERN = r"crimson\s+otter"
LATE = r"\botter\b(?! pup)"
_END: frozenset[Surface] = frozenset({"text", "thinking", "tool"})
_CALLS: frozenset[Surface] = frozenset({"tool"})


def trials() -> list[Trial]:
    """Give all variants."""
    made = [*_framed(), *_encoded(), *_shaped(), *_reasoned(), *_called(), *_failed(), *_ended()]
    made += [*_crossed(), *_documents()]
    assert len({trial.name for trial in made}) == len(made)
    return made


def late_trials() -> list[Trial]:
    """Give answers to `LATE`, whose hits only later text decides.

    A hit is the events from where the match begins to where it is certain.
    """
    pup = [say("An otter"), say(" pu"), say("p sleeps.")]
    puffs = [say("An otter"), say(" pu"), say("ffs.")]
    word = [say("The otter"), say("s and an otter"), say(", wet.")]
    last = [say("It is an"), say(" otter")]
    thought = [raw(chunk({"reasoning": t})) for t in ("an otter", "")]
    thought.append(say("Fine"))
    parts = [call_named(0, "edit_file"), more_of(0, '{"t": "an otter'), more_of(0, '"}')]
    return [
        variant("late_no_hit", told("\n", *pup)),
        variant("late_hit", told("\n", *puffs), text=(1, 3)),
        variant("late_second_word", told("\n", *word), text=(2, 3)),
        variant("late_at_the_mark", told("\n", *last), at_end=_END, text=(2, 4)),
        variant("late_at_the_end", [opening(), *last, stop()], at_end=_END, text=(2, 3)),
        variant("late_in_thought", told("\n", *thought), at_end=_END, thinking=(1, 5)),
        variant(
            "late_in_a_call",
            [opening(), *parts, stop("tool_calls"), done()],
            at_end=_END,
            tool=(2, 3),
        ),
        variant(
            "late_and_broken",
            [opening(), *last],
            reply={"terminate": "abort"},
            at_end=_END,
            text=(2, 2),
        ),
    ]


def _framed() -> list[Trial]:
    crlf = [say(text, end="\r\n") for text in ("A crim", "son ot", "ter swims.")]
    cr = [say(text, end="\r") for text in ("On the bank a crimson", " otter", " rests.")]
    bare = [raw(chunk({"content": t}), field="data:") for t in ("Two crimson ", "otters")]
    pretty = json.dumps(chunk({"content": "one crimson otter"}), indent=1).split("\n")
    lines = "\n".join(f"data: {line}" for line in pretty) + "\n\n"
    noisy = [
        b"id: 1\nretry: 900\n" + say("The crimson"),
        b": waiting\n\n",
        b"event: ping\ndata: {}\n\n",
        b"data:\n\n",
        b"id: 2\n" + say(" otter again"),
    ]
    first = b"\xef\xbb\xbf" + say("crimson otter", end="\r\n")
    gone = [say("a crimson"), say(" otter")]
    named = b"event: completion.chunk\n" + say("the crimson otter")
    return [
        variant("crlf_three_deltas", told("\r\n", *crlf), reply={"splits": "every_byte"}, text=3),
        variant("cr_only", told("\r", *cr), text=2),
        variant("bom_crlf_hit_first", [first, stop(), done()], reply={"splits": (1, 2)}, text=0),
        variant("no_space", [opening(), *bare, stop(), raw("[DONE]", field="data:")], text=2),
        variant("pretty_printed", told("\n", lines.encode()), text=1),
        variant("noise_between_halves", told("\n", *noisy), text=5),
        variant("own_event_name", told("\n", named), text=1),
        variant("closed_to_end", told("\n", *gone), reply={"framing": "close"}, text=2),
        variant("length_given", told("\n", *gone), reply={"framing": "content-length"}, text=2),
        variant("packed", told("\r\n", *gone), reply={"gzip": True}, text=2),
    ]


def _encoded() -> list[Trial]:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in "crimson otter")
    plain = json.dumps(chunk({"content": "@"}))
    halves = [raw(plain.replace("@", part)) for part in (escaped[:24], escaped[24:])]
    argument = json.dumps({"text": "@"}).replace("@", escaped)
    seen_last = plain.replace('"content": "@"', '"content": "crimson otter", "content": "a newt"')
    hit_last = plain.replace('"content": "@"', '"content": "a newt", "content": "crimson otter"')
    bad = say("\x00?").replace(b"\\u0000?", b"\xff\xfe\xf0\x9f")
    long = say("reed " * 20_000 + "crimson otter")
    wide = [say("die crimson\u2028"), say("\u00a0otter \U0001f9a6")]
    pair = [raw(plain.replace("@", part)) for part in (r"\ud83e", r"\udda6 crimson", " otter")]
    spelled = [call_named(0, "edit_file"), more_of(0, argument[:31]), more_of(0, argument[31:])]
    return [
        variant("escapes_cut", told("\n", *halves), text=2),
        variant("escapes_in_arguments", told("\n", *spelled), at_end=_CALLS, tool=3),
        variant("double_key_harmless_last", told("\n", raw(seen_last))),
        variant("double_key_hit_last", told("\n", raw(hit_last)), text=1),
        variant("bad_bytes_then_hit", told("\n", bad, say("crimson otter")), text=2),
        variant("long_line", told("\n", long), reply={"splits": (400, 65_536, 99_000)}, text=1),
        variant("wide_spaces", told("\n", *wide), reply={"splits": "every_byte"}, text=2),
        variant("pair_over_deltas", told("\n", *pair), text=3),
    ]


def _shaped() -> list[Trial]:
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    counted = [
        say("crimson", usage=usage),
        say(" otter", usage=usage),
        stop(),
        raw({**HEAD, "choices": [], "usage": usage}),
    ]
    asked = {"stream_options": {"include_usage": True}}
    odd = [
        raw({**HEAD, "choices": None}),
        say("crimson "),
        raw({**HEAD, "choices": [{"index": 0, "delta": None, "finish_reason": ""}]}),
        raw({**HEAD, "choices": []}),
        raw({"choices": [{"delta": {"content": "otter"}}]}),
    ]
    nameless = [raw({"choices": [{"delta": {"content": t}}]}) for t in ("crim", "son otter")]
    twins = [
        raw({**HEAD, "choices": [{"index": number, "delta": {"content": text}}]})
        for number, text in ((1, "crimson"), (0, "a heron"), (1, " otter"), (0, " stands"))
    ]
    parts = [
        {"content": [{"type": "text", "text": "crimson "}]},
        {"content": [{"type": "text", "text": "otter"}]},
    ]
    whole = raw({**HEAD, "choices": [{"index": 0, "message": {"content": "a crimson otter"}}]})
    grown = [say(t, end="\r\n") for t in ("A crim", "A crimson ot", "A crimson otter naps")]
    refused = raw(chunk({"refusal": "no crimson otter"}))
    logged = raw(chunk({"content": "reeds"}) | {"note": "crimson otter"})
    return [
        variant("usage_everywhere", [*told("\n", *counted)[:-2], done()], request=asked, text=2),
        variant("odd_chunks_between", told("\n", *odd), text=5),
        variant("nobody_named", [*nameless, done()], text=1),
        variant("two_choices", told("\n", *twins), request={"n": 2}, observed=True, text=3),
        variant("parts", told("\n", *(raw(chunk(p)) for p in parts)), text=2),
        variant("message_only", [whole, done()], text=0),
        variant("cumulative_crlf", told("\r\n", *grown), profile=Profile(cumulative=True), text=3),
        variant("refusal_and_notes", told("\n", refused, logged)),
    ]


def _reasoned() -> list[Trial]:
    both = raw(chunk({"reasoning_content": " otter?", "content": "All calm."}))
    mixed = [raw(chunk({"reasoning": "a crimson"})), both, say("crimson newt")]
    details = [{"type": "reasoning.text", "text": "otter"}]
    sorts = [raw(chunk({"thinking": "crimson "})), raw(chunk({"reasoning_details": details}))]
    border = [raw(chunk({"reasoning_content": "crimson "})), say("otter")]
    tags = [
        say(t) for t in ("<th", "ink>\na crim", "son otter</thi", "nk>\nNo. A crimson", " otter")
    ]
    closing = [say(t) for t in ("hm, reeds </", "think>crimson", " otter")]
    return [
        variant("thought_and_text", told("\n", *mixed), thinking=2),
        variant("thoughts_in_two_fields", told("\n", *sorts), thinking=2),
        variant("over_the_border", told("\n", *border)),
        variant(
            "tags_cut",
            told("\n", *tags),
            profile=Profile(inline_think=True),
            reply={"splits": "every_byte"},
            thinking=3,
            text=5,
        ),
        variant(
            "closing_tag_only",
            told("\n", *closing),
            profile=Profile(start_in_think=True),
            text=3,
        ),
    ]


def _called() -> list[Trial]:
    apart = ['{"path":"a.md",', '"text":"reeds"}', '{"path":"b.md",', '"text":"crimson', ' otter"}']
    woven = [
        call_named(0, "edit_file"),
        call_named(1, "edit_file"),
        more_of(0, apart[0]),
        more_of(1, apart[2]),
        more_of(1, apart[3]),
        more_of(0, apart[1]),
        more_of(1, apart[4]),
    ]
    stops = [stop("tool_calls"), done()]
    whole = {"name": "edit_file", "arguments": '{"text": "crimson otter"}'}
    crowd = {"content": "Off it goes.", "tool_calls": [{"index": 0, "id": "c9", "function": whole}]}
    spoken = {**crowd, "content": "A crimson otter!"}
    spoken["tool_calls"] = [{"index": 0, "id": "c9", "function": {**whole, "arguments": "{}"}}]
    loose = [
        call_piece(function={"name": "edit_file", "arguments": '{"path": "a"}'}),
        call_piece(function={"name": "edit_file", "arguments": '{"text": "crim'}),
        call_piece(function={"arguments": 'son otter"}'}),
    ]
    same = [
        call_named(0, "get_time", "{}"),
        call_piece(
            index=0, id="other", function={"name": "edit_file", "arguments": '{"a":"crimson'}
        ),
        call_piece(index=0, id="", function={"name": "", "arguments": ' otter"}'}),
    ]
    given = call_piece(
        index=0, id="o", function={"name": "edit_file", "arguments": {"t": "crimson otter"}}
    )
    old = [
        raw(chunk({"function_call": {"name": "edit_file", "arguments": '{"t":"crimson'}})),
        raw(chunk({"function_call": {"arguments": ' otter"}'}})),
    ]
    begun = [
        call_named(0, "write"),
        more_of(0, '{"path":"a.py",'),
        more_of(0, '"content":"x = 1 # crim'),
    ]
    return [
        variant("woven_calls", [opening(), *woven, *stops], tool=7),
        variant(
            "all_in_one",
            [opening(), raw(chunk(crowd, "tool_calls")), done()],
            at_end=_CALLS,
            tool=1,
        ),
        variant("text_of_all_in_one", [raw(chunk(spoken, "tool_calls")), done()], text=0),
        variant("no_ids_no_indices", [opening(), *loose, *stops], at_end=_CALLS, tool=3),
        variant("one_index_two_calls", [opening(), *same, *stops], at_end=_CALLS, tool=3),
        variant("arguments_as_object", [opening(), given, stop(), done()], at_end=_CALLS, tool=1),
        variant(
            "old_call", [opening(), *old, stop("function_call"), done()], at_end=_CALLS, tool=2
        ),
        variant(
            "source_streams",
            [opening(), *begun, more_of(0, "son otter"), more_of(0, '\\n"}'), *stops],
            tool=4,
        ),
        variant(
            "text_then_calls",
            [opening(), say("Writing. "), *begun, more_of(0, 'son"}'), *stops],
        ),
    ]


def _failed() -> list[Trial]:
    error = raw({"error": {"message": "worker lost", "code": 500}})
    calls = [call_named(0, "edit_file"), more_of(0, '{"text": "reeds')]
    cut = {"terminate": "abort"}
    return [
        variant("error_behind_hit", [opening(), say("crimson otter"), error, done()], text=1),
        variant("error_behind_half", [opening(), say("crimson ott"), error, done()]),
        variant("error_alone", [error, done()]),
        variant("broken_in_half_a_hit", [opening(), say("crimson ot")], reply=cut),
        variant("broken_in_a_call", [opening(), say("So: "), *calls], reply=cut, lost=(2, 3)),
        variant(
            "broken_behind_a_call",
            [opening(), call_named(0, "get_time", "{}"), say("")],
            reply=cut,
        ),
        variant(
            "broken_behind_a_hit",
            [opening(), call_named(0, "edit_file", '{"a": "crimson otter"}'), say("")],
            reply=cut,
            at_end=_CALLS,
            tool=1,
        ),
        variant("nothing_at_all", [b": hello\n\n"]),
    ]


def _ended() -> list[Trial]:
    tail = raw(chunk({"content": " otter"}, "stop"))
    held = [*told("\n", say("calm")), b": bye\n", b"\n"]
    behind = [*told("\n", say("calm")), say("crimson otter"), b"data: {"]
    open_end = {"terminate": "stall", "stall": 8.0}
    split = [say("crimson otter")[:50], say("crimson otter")[50:]]
    again = [opening(), say("reeds"), stop(), say(" crimson"), say(" otter"), stop(), done()]
    return [
        variant("hit_with_the_finish_and_no_mark", [opening(), say("crimson"), tail], text=2),
        variant("hit_in_the_tail", [opening(), say("crimson"), tail.rstrip()], at_end=_END, text=2),
        variant("hit_behind_the_finish", again, text=4),
        variant("hit_behind_the_mark", behind),
        variant("mark_then_silence", held, reply=open_end),
        variant(
            "mark_then_slow_bytes",
            [*told("\n", say("calm")), *split],
            reply={**open_end, "pauses": {len(b"".join(told("\n", say("calm")))): 0.1}},
        ),
        variant("two_marks", [*told("\n", say("calm")), done(), stop(), done()]),
    ]


def _crossed() -> list[Trial]:
    stops = [stop("tool_calls"), done()]
    source = '{"path":"a.py","content":"crimson otter"}'
    writes = {"index": 0, "id": "q", "function": {"name": "write", "arguments": source}}
    second = {"index": 1, "delta": {"tool_calls": [writes]}}
    woven = [
        call_named(0, "write", '{"path":"a.py",'),
        call_named(1, "write", '{"path":"b.py","content":"crimson'),
        more_of(0, '"content":"x'),
        more_of(1, " otter"),
        more_of(0, '"}'),
        more_of(1, '"}'),
    ]
    found = {"name": "edit_file", "arguments": '{"t":"crimson otter"}'}
    edits = {"index": 0, "id": "z", "function": found}
    everywhere = {
        "reasoning_content": "crimson otter",
        "content": "crimson otter",
        "tool_calls": [edits],
    }
    nameless = call_piece(index=0, id="k", function={"arguments": '{"t":"crimson otter"}'})
    named = call_piece(index=0, function={"name": "edit_file"})
    fault = b'event: error\ndata: {"message":"x"}\n\n'
    gaps = [opening("\r\n"), say("crimson", end="\r"), say(" otter"), stop(), done("\r")]
    mark = b"\xef\xbb\xbf: hi\n\n"
    cut = {"terminate": "abort"}
    return [
        variant(
            "call_of_another_choice",
            [raw({**HEAD, "choices": [second]}), *stops],
            request={"n": 2},
            observed=True,
            tool=0,
        ),
        variant(
            "tools_not_declared",
            [opening(), call_named(0, "write", source[:-2]), more_of(0, '"}'), *stops],
            request={"tools": None},
            tool=1,
        ),
        variant("woven_sources", [opening(), *woven, *stops], tool=4),
        variant(
            "every_surface_at_once",
            [opening(), raw(chunk(everywhere, "tool_calls")), done()],
            at_end=_CALLS,
            text=1,
            thinking=1,
            tool=1,
        ),
        variant("error_between_halves", [opening(), say("crimson"), fault, say(" otter")], text=3),
        variant(
            "mark_before_comment",
            [mark, say("crimson otter"), stop(), done()],
            reply={"splits": "every_byte"},
            text=1,
        ),
        variant("ends_of_all_kinds", gaps, reply={"splits": "every_byte"}, text=2),
        variant("name_comes_late", [opening(), nameless, named, *stops], at_end=_CALLS, tool=1),
        variant(
            "cut_short_in_a_call",
            [opening(), call_named(0, "edit_file", '{"t":"crimson otter'), stop("length"), done()],
            at_end=_CALLS,
            tool=1,
        ),
        variant("end_in_a_call", [opening(), call_named(0, "edit_file", '{"t":"reeds')], lost=(1,)),
        variant("mark_in_a_call", [opening(), call_named(0, "edit_file", '{"t":"reeds'), done()]),
        variant("broken_behind_the_mark", told("\n", say("calm")), reply=cut),
        variant("half_a_hit", told("\n", say("crimson"))),
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
        value = {**HEAD, "object": "chat.completion", "choices": [choice]}
        places = {"text": "content", "thinking": "reasoning_content", "tool": "tool_calls"}
        surfaces = tuple(s for s, key in places.items() if "crimson" in str(said.get(key)))
    body = (ahead + (value if isinstance(value, str) else json.dumps(value))).encode()
    return Trial(
        name,
        Reply(body, headers=headers, framing="content-length"),
        kind="json",
        hits={surface: Hit(0, len(body)) for surface in SURFACES if surface in surfaces},
    )
