"""What the requests of all APIs say in the same keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.wire.openai.channel import whole

BOM = b"\xef\xbb\xbf"
_FREE_FORMATS = ("text", "")
_GRAMMARS = frozenset(
    {
        "grammar",
        "guided_json",
        "guided_regex",
        "guided_choice",
        "guided_grammar",
        "guided_whitespace_pattern",
        "structured_outputs",
        "structural_tag",
        "json_schema",
        "regex",
        "ebnf",
    }
)
"""Top-level keys by which vLLM, SGLang, llama.cpp and TGI take a grammar."""

_NESTED_GRAMMARS = ("nvext", "extra_body")


def text_of(value: Any) -> str:
    """Give a string as it can be encoded; nothing for what is none."""
    return whole(value) if isinstance(value, str) else ""


def object_of(value: Any) -> Mapping[str, Any]:
    """Give an object; an empty one for what is none."""
    return value if isinstance(value, dict) else {}


def count_of(value: Any) -> int:
    """Give how many answers are asked for: at least one."""
    return max(1, value) if isinstance(value, int) and not isinstance(value, bool) else 1


def asks_for_usage(root: Mapping[str, Any]) -> bool:
    """Say whether the stream is to end with token counts."""
    return object_of(root.get("stream_options")).get("include_usage") is True


def hints_of(root: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Answer with the strings of the body that may name the conversation, by dotted key."""
    metadata = object_of(root.get("metadata"))
    named = [(f"metadata.{key}", metadata.get(key)) for key in ("sessionId", "session_id")]
    named.append(("prompt_cache_key", root.get("prompt_cache_key")))
    return tuple((key, whole(value)) for key, value in named if isinstance(value, str) and value)


def is_structured(root: Mapping[str, Any]) -> bool:
    """Say whether the answer must follow a schema or grammar, so that it is one document."""
    kind = object_of(root.get("response_format")).get("type")
    if isinstance(kind, str) and kind not in _FREE_FORMATS:
        return True
    places = [root, *(object_of(root.get(key)) for key in _NESTED_GRAMMARS)]
    return any(place[key] for place in places for key in _GRAMMARS.intersection(place))
