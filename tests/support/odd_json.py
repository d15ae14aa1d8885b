"""JSON texts as no writer of ours would make them: double keys, odd values, any spacing."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import strategies as st

KEYS = (
    "role", "content", "text", "type", "thinking", "tool_calls", "function_call", "tool_call_id",
    "id", "function", "custom", "name", "arguments", "input", "reasoning", "reasoning_content",
    "reasoning_details", "thinking_blocks", "prefix", "unknown",
)  # fmt: skip
BLANKS = st.sampled_from([b"", b"", b"", b" ", b"\n  ", b"\t\r\n"])
ODD = st.sampled_from(
    [
        b"NaN", b"-Infinity", b"1e999", b"123456789012345678901234567890", b"-0", b"1.50", b"null",
        b"true", b'"\\ud83d"', b'"a\\ud83d\\ude00b"', b'"\\\\ud83d"', b'"\\ude00\\ud83d\\ude00"',
        b'"\\\\\\ud83d"', b'"\xff"', '"é\u2028"'.encode(), b'"[{]},:\\""', b'"assistant"',
        b'"\\u0061"', b'"<think>x</think> y"', b'""', b'"thinking"', b"{}", b"[]",
        b'"{\\"a\\": 1}"', b'"\\\\\\\\"',
    ]
)  # fmt: skip


def _joined(pieces: Sequence[bytes], blank: bytes) -> bytes:
    return (blank + b"," + blank).join(pieces)


def arrays(inner: st.SearchStrategy[bytes], *, least: int = 0) -> st.SearchStrategy[bytes]:
    """Arrays of such values."""
    listed = st.lists(inner, min_size=least, max_size=4)
    return st.builds(
        lambda items, blank: b"[" + blank + _joined(items, blank) + blank + b"]", listed, BLANKS
    )


def objects(
    inner: st.SearchStrategy[bytes], keys: Sequence[str] = KEYS
) -> st.SearchStrategy[bytes]:
    """Objects of such values, in which a key may stand twice, or be written with escapes."""
    names = st.sampled_from(keys)
    written = st.one_of(
        names.map(lambda name: json.dumps(name).encode()),
        names.map(lambda name: f'"\\u{ord(name[0]):04x}{name[1:]}"'.encode()),
    )
    member = st.builds(
        lambda key, blank, value: key + blank + b":" + blank + value, written, BLANKS, inner
    )
    members = st.lists(member, max_size=6)
    return st.builds(
        lambda items, blank: b"{" + blank + _joined(items, blank) + blank + b"}", members, BLANKS
    )


VALUES = st.recursive(ODD, lambda inner: arrays(inner) | objects(inner), max_leaves=6)
MESSAGES = arrays(objects(VALUES), least=1)
BODY_KEYS = (
    "model", "stream", "n", "stream_options", "tools", "functions", "tool_choice", "function_call",
    "response_format", "metadata", "prompt_cache_key", "continue_final_message", "grammar",
    "guided_json", "guided_regex", "guided_choice", "guided_grammar", "guided_whitespace_pattern",
    "structured_outputs", "structural_tag", "json_schema", "regex", "ebnf", "nvext", "extra_body",
    "messages", "unknown",
)  # fmt: skip


def _with_messages(root: bytes, messages: bytes, *, front: bool) -> bytes:
    inside = root.strip()[1:-1].strip()
    own = b'"messages":' + messages
    pieces = (own, inside) if front else (inside, own)
    return b"{" + b",".join(piece for piece in pieces if piece) + b"}"


BODIES = st.builds(
    lambda root, messages, front: _with_messages(root, messages, front=front),
    objects(VALUES, BODY_KEYS),
    MESSAGES | MESSAGES | arrays(VALUES),
    st.booleans(),
)
"""Bodies of chat requests, most of which can be read."""
