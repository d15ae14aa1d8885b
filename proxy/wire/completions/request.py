"""A completions request: its prompt, and the same body with texts of ours behind the prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from proxy.conversation import Message
from proxy.views import Edit, Insert, Merge
from proxy.wire import Watching, WireRequest
from proxy.wire.openai.layout import value_of
from proxy.wire.openai.request import (
    BOM,
    asks_for_usage,
    count_of,
    hints_of,
    is_structured,
    text_of,
)
from proxy.wire.openai.tolerant import quoted, read_json

_GAP = "\n\n"

# A prompt that asks for the middle of a file ends behind the mark for it (the bar of DeepSeek's is
# a wide one), or names the suffix first and ends in the prefix (Mistral's).
_MIDDLE = re.compile(
    r"(?:<[\[|]?(?:fim|code)[-_]middle[\]|]?>|<MID>|<AIX-SPAN-MIDDLE>|<[|\uff5c]fim\u2581end[|\uff5c]>)"
    r"\s*(?:<\|assistant\|>\s*)?\Z"
)
_SUFFIX_FIRST = re.compile(r"\s*(?:<s>\s*)?\[SUFFIX\]")
_PREFIX = "[PREFIX]"
_LAST_MARKS = 80  # characters at a prompt's end in which they stand

# What is answered to these speaks of the prompt's tokens or of places in it.
_TOKEN_KEYS = ("logprobs", "prompt_logprobs", "return_token_ids")


def read(body: bytes) -> WireRequest:
    """Read a request; never raises. The prompt is told as what the user says."""
    value = read_json(body.removeprefix(BOM))
    root = value if isinstance(value, dict) else {}
    return WireRequest(
        body=body,
        model=text_of(root.get("model")),
        stream=root.get("stream") is True,
        choices=count_of(root.get("n")),
        include_usage=asks_for_usage(root),
        tools=(),
        forced_tool=False,
        structured=is_structured(root) or _ends_at_a_line(root),
        prefix=False,
        messages=(Message("user", _text(root.get("prompt"))),),
        hints=hints_of(root),
        watching=_watching(root),
        anchored=False,
    )


def note(text: str) -> bytes:
    """Render a note as it stands in a prompt's string: set off, and the model goes on behind it."""
    return escaped(f"{_GAP}{text}{_GAP}")


def escaped(text: str) -> bytes:
    """Render a text as it stands in a prompt's string."""
    return quoted(text)[1:-1]


def spliced(request: WireRequest, edits: Sequence[Edit]) -> bytes:
    """Answer with the body with the texts of `edits` behind its prompt, all else byte for byte."""
    if not edits:
        return request.body
    at = _end_of_prompt(request.body)
    return b"".join((request.body[:at], *map(_added, edits), request.body[at:]))


def _added(edit: Edit) -> bytes:
    match edit:
        case Merge(at=0, text=text, front=False):
            return note(text)
        case Insert(at=1, messages=texts):
            return b"".join(texts)
        case _:
            raise ValueError(f"only behind a prompt can anything be put, so not {edit}")


def _end_of_prompt(body: bytes) -> int:
    """Find the closing quote of the prompt's string, in a list of one too."""
    (_, end), elements = value_of(body, "prompt")
    if elements:
        ((_, end),) = elements
    return end - 1


def _watching(root: Mapping[str, Any]) -> Watching:
    """Say what rules may do: nothing to a gap in a file, only observe what we could not continue.

    Tokens have no text, several answers no one stream, and an echo would show the note.
    """
    prompt = root.get("prompt")
    if not root or root.get("suffix") not in (None, "") or _fills_a_gap(_text(prompt)):
        return Watching.NOT
    several = count_of(root.get("n")) > 1 or count_of(root.get("best_of")) > 1
    asked = (root.get(key) for key in _TOKEN_KEYS)
    counted = any(each is not None and each is not False for each in asked)  # 0 asks for some
    if several or counted or root.get("echo") or not _is_one_text(prompt):
        return Watching.OBSERVING
    return Watching.ACTING


def _fills_a_gap(prompt: str) -> bool:
    if _MIDDLE.search(prompt[-_LAST_MARKS:]):
        return True
    return _SUFFIX_FIRST.match(prompt) is not None and _PREFIX in prompt


def _is_one_text(prompt: Any) -> bool:
    if isinstance(prompt, list):
        return len(prompt) == 1 and isinstance(prompt[0], str)
    return isinstance(prompt, str)


def _ends_at_a_line(root: Mapping[str, Any]) -> bool:
    """Say whether the answer is to stop at a line or a blank line, which a seam would hold."""
    stop = root.get("stop")
    stops = stop if isinstance(stop, list) else [stop]
    return any(isinstance(each, str) and each and not each.strip("\r\n") for each in stops)


def _text(prompt: Any) -> str:
    """Give a string, or strings one a line; a prompt of tokens has no text."""
    listed = prompt if isinstance(prompt, list) else [prompt]
    return "\n".join(text_of(each) for each in listed if isinstance(each, str))
