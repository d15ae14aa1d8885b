"""A prompt is read, and takes what is put behind it without any other byte being changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.views import Insert, Merge, Strip
from proxy.wire import Watching
from proxy.wire.completions.request import escaped, note, read, spliced
from tests.support.completions import JSON_VALUES, body_of


@pytest.mark.parametrize(
    ("prompt", "text", "watching"),
    [
        ("say", "say", Watching.ACTING),
        ("", "", Watching.ACTING),
        (["say"], "say", Watching.ACTING),
        (["a", "b"], "a\nb", Watching.OBSERVING),
        ([], "", Watching.OBSERVING),
        ([1, 2], "", Watching.OBSERVING),
        ([[1], [2]], "", Watching.OBSERVING),
        ([[1]], "", Watching.OBSERVING),
        (None, "", Watching.OBSERVING),
    ],
)
def test_prompt_is_what_the_user_says(prompt: Any, text: str, watching: Watching) -> None:
    """One text can be added to; of several, and of tokens, the answers are only observed."""
    asked = read(body_of(prompt=prompt))
    assert [(each.role, each.text) for each in asked.messages] == [("user", text)]
    assert asked.watching is watching
    assert not asked.anchored


def test_other_keys_are_read() -> None:
    """What the request says of its answer."""
    sent = body_of(stream=True, stream_options={"include_usage": True}, prompt_cache_key="k")
    asked = read(sent)
    assert (asked.body, asked.model, asked.stream, asked.include_usage) == (sent, "m", True, True)
    assert (asked.choices, asked.hints) == (1, (("prompt_cache_key", "k"),))
    assert (asked.structured, asked.prefix, asked.tools, asked.forced_tool) == (
        False,
        False,
        (),
        False,
    )


@pytest.mark.parametrize(
    "more",
    [
        {"n": 2},
        {"best_of": 3},
        {"echo": True},
        {"logprobs": 0},
        {"logprobs": True},
        {"prompt_logprobs": 1},
        {"return_token_ids": True},
    ],
    ids=str,
)
def test_answers_that_cannot_be_continued_are_only_observed(more: dict[str, Any]) -> None:
    """Several answers, an echo that would show the note, tokens and places counted from it."""
    assert read(body_of(**more)).watching is Watching.OBSERVING
    without = dict.fromkeys(more)
    assert read(body_of(**without)).watching is Watching.ACTING


@pytest.mark.parametrize(
    "prompt",
    [
        "<fim_prefix>a<fim_suffix>b<fim_middle>",
        "<fim-prefix>a<fim-suffix>b<fim-middle>",
        "<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>\n",
        "<|code_suffix|>b<|code_prefix|>a<|code_middle|><|assistant|>\n",
        "<[fim-suffix]>b<[fim-prefix]>a<[fim-middle]>",
        "<PRE> a <SUF>b <MID>",
        "<\uff5cfim\u2581begin\uff5c>a<\uff5cfim\u2581hole\uff5c>b<\uff5cfim\u2581end\uff5c>",
        "<|fim\u2581begin|>a<|fim\u2581hole|>b<|fim\u2581end|>",
        "<AIX-SPAN-PRE>a<AIX-SPAN-POST>b<AIX-SPAN-MIDDLE>",
        "[SUFFIX]b[PREFIX]a",
        "<s>[SUFFIX]b[PREFIX]+++++ a.py\na",
    ],
)
def test_marks_of_a_gap_are_known(prompt: str) -> None:
    """An editor's completion is no matter for rules, also where the gap stands in the prompt."""
    assert read(body_of(prompt=prompt)).watching is Watching.NOT
    assert read(body_of(prompt=[prompt])).watching is Watching.NOT


@pytest.mark.parametrize(
    "prompt",
    ["What is <fim_middle> for?", "the [PREFIX] and the [SUFFIX]", "[SUFFIX] alone", "a<middle>"],
)
def test_talk_of_the_marks_is_none(prompt: str) -> None:
    """A question about them gets an answer that rules watch."""
    assert read(body_of(prompt=prompt)).watching is Watching.ACTING


@pytest.mark.parametrize("sent", [body_of(suffix="tail"), b"no json", b"[]", b"\xff", b"", b"{}"])
def test_what_fills_a_gap_or_cannot_be_read_is_not_watched(sent: bytes) -> None:
    """It is for the upstream to refuse."""
    asked = read(sent)
    assert (asked.watching, asked.body) == (Watching.NOT, sent)


@pytest.mark.parametrize(
    ("more", "structured"),
    [
        ({"guided_regex": "a+"}, True),
        ({"response_format": {"type": "json_object"}}, True),
        ({"stop": "\n"}, True),
        ({"stop": ["END", "\n\n"]}, True),
        ({"stop": ["END", "\nObservation:", " "]}, False),
        ({"stop": ""}, False),
        ({"stop": None, "suffix": ""}, False),
    ],
    ids=str,
)
def test_answer_that_must_not_be_continued_is_one_document(
    more: dict[str, Any], *, structured: bool
) -> None:
    """A grammar, or an end at a line, which what stands between two attempts would hold."""
    assert read(body_of(**more)).structured is structured


def test_note_stands_behind_the_prompt_and_all_else_keeps_its_bytes() -> None:
    """Spacing, escapes, number formats, unknown and double keys; the last prompt is the one."""
    sent = b'{ "prompt":"x", "t" : 1.50, "prompt" :  "caf\\u00e9 \\"\xc3\xa9\\n",\n "z": [1 , 2] }'
    asked = read(sent)
    assert spliced(asked, ()) is sent
    pieces = (escaped('par"tial'), note("<n>\u2028</n>"), note("two"))
    assert spliced(asked, (Insert(1, pieces),)) == sent.replace(
        b"\xc3\xa9\\n", b'\xc3\xa9\\npar\\"tial\\n\\n<n>\xe2\x80\xa8</n>\\n\\n\\n\\ntwo\\n\\n'
    )
    merged = spliced(asked, (Merge(0, "one", front=False), Insert(1, (escaped("p"),))))
    assert json.loads(merged)["prompt"] == 'caf\u00e9 "\u00e9\n\n\none\n\np'


def test_prompt_in_a_list_is_added_to_in_its_list() -> None:
    """Some libraries always send one."""
    asked = read(b'{"model":"m","prompt":[ "say" ],"max_tokens":3}')
    sent = spliced(asked, (Merge(0, "n", front=False),))
    assert sent == b'{"model":"m","prompt":[ "say\\n\\nn\\n\\n" ],"max_tokens":3}'


@pytest.mark.parametrize("edit", [Insert(0, ()), Merge(0, "n", front=True), Strip(0, 1)])
def test_nothing_else_can_be_done_to_a_prompt(edit: Any) -> None:
    """Whoever asks for it has a fault."""
    with pytest.raises(ValueError, match="behind a prompt"):
        spliced(read(body_of()), (edit,))


@given(prompt=st.text(), kept=st.text(), told=st.text(), listed=st.booleans())
def test_prompt_partial_and_note_come_out_as_they_went_in(
    prompt: str, kept: str, told: str, *, listed: bool
) -> None:
    """Whatever characters they hold, lone halves of one among them in the prompt."""
    body = json.dumps({"prompt": [prompt] if listed else prompt, "a": "prompt"}).encode()
    sent = json.loads(spliced(read(body), (Insert(1, (escaped(kept), note(told))),)))
    expected = f"{prompt}{kept}\n\n{told}\n\n"
    assert sent == {"prompt": [expected] if listed else expected, "a": "prompt"}


@given(JSON_VALUES)
def test_no_json_makes_it_raise(value: Any) -> None:
    """Requests may hold anything, in the keys that are read too."""
    read(json.dumps(value).encode())
    keys = ("prompt", "suffix", "n", "stop", "stream_options", "logprobs", "response_format")
    for key in keys:
        read(body_of(**{key: value}))
