"""Plain completions as upstreams send them, and what a client makes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from tests.support.chat import event
from tests.support.upstream import Reply, document

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def chunk(text: Any, *, finish: str | None = None, letter: str = "a", **more: Any) -> Any:
    """One chunk; `letter` names the attempt."""
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
    return {
        "id": f"cmpl-{letter}",
        "object": "text_completion",
        "created": 1_700_000_000 + ord(letter),
        "model": f"model-{letter}",
        "choices": [choice],
        **more,
    }


def events(
    *texts: str,
    finish: str | None = "stop",
    usage: Mapping[str, int] | None = None,
    done: bool = True,
    letter: str = "a",
) -> list[bytes]:
    """Every event of an answer. `finish` None: no finish reason."""
    chunks = [chunk(text, letter=letter) for text in texts]
    if finish is not None:
        chunks.append(chunk("", finish=finish, letter=letter))
    if usage is not None:
        chunks.append({**chunk("", letter=letter), "choices": [], "usage": dict(usage)})
    return [*map(event, chunks), *([b"data: [DONE]\n\n"] if done else [])]


def text_stream(*texts: str, **more: Any) -> bytes:
    """Build the body of a streamed answer; keywords as for `events`."""
    return b"".join(events(*texts, **more))


def text_reply(*texts: str, **more: Any) -> Reply:
    """Script a streamed answer in which every event is one write."""
    out = events(*texts, **more)
    offsets = [sum(map(len, out[:count])) for count in range(1, len(out))]
    return Reply(b"".join(out), splits=tuple(offsets))


def text_document(text: str, *, letter: str = "a", finish: str = "stop", **more: Any) -> Reply:
    """Script the same answer as one JSON document."""
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return document({"usage": usage, **chunk(text, finish=finish, letter=letter, **more)})


def body_of(**fields: Any) -> bytes:
    """A request for a completion, as most clients write it."""
    return json.dumps({"model": "m", "prompt": "say"} | fields).encode()
