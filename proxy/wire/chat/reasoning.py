"""Reasoning in whatever field an upstream puts it: its text, its seal, its fields to give back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proxy.wire.openai.tolerant import objects

TEXT_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_text")
LIST_FIELDS = ("reasoning_details", "thinking_blocks")
SEAL_FIELDS = (
    "signature",
    "reasoning_signature",
    "thought_signature",
    "encrypted_content",
    "reasoning_encrypted_content",
    "reasoning_opaque",
)
_OTHER_FIELDS = ("extra_content",)
REASONING_FIELDS = frozenset((*TEXT_FIELDS, *LIST_FIELDS, *SEAL_FIELDS, *_OTHER_FIELDS))
_ENCRYPTED_TYPES = frozenset({"reasoning.encrypted", "redacted_thinking"})
_JOINED_KEYS = ("text", "summary", "thinking")


@dataclass(frozen=True, slots=True)
class Thought:
    """The reasoning of one delta. `sealed`: valid only whole and unchanged."""

    text: str = ""
    sealed: bool = False


def part_text(part: Any) -> str:
    """Answer with a content part's text; a part may be a plain string."""
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""


def is_thinking(part: Any) -> bool:
    """Say whether a content part is reasoning rather than text."""
    return isinstance(part, dict) and part.get("type") in ("thinking", *_ENCRYPTED_TYPES)


def _part_thought(part: dict[str, Any]) -> str:
    inner = part.get("thinking")
    if isinstance(inner, list):
        return "".join(part_text(item) for item in inner)
    return inner if isinstance(inner, str) else ""


def _detail_text(detail: dict[str, Any]) -> str:
    for key in _JOINED_KEYS:
        if isinstance(text := detail.get(key), str) and text:
            return text
    return ""


def _is_sealed(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    return (isinstance(kind, str) and kind in _ENCRYPTED_TYPES) or any(
        isinstance(value.get(key), str) and value[key] for key in SEAL_FIELDS
    )


def read_thought(message: Mapping[str, Any]) -> Thought:
    """Read the reasoning of a delta or message: plain fields, else parts, else details.

    Several fields repeat the same words, so only the first that is not empty counts.
    """
    parts = [part for part in objects(message.get("content")) if is_thinking(part)]
    details = [item for name in LIST_FIELDS for item in objects(message.get(name))]
    sealed = _is_sealed(message) or any(_is_sealed(item) for item in (*parts, *details))
    for name in TEXT_FIELDS:
        if isinstance(text := message.get(name), str) and text:
            return Thought(text, sealed)
    text = "".join(_part_thought(part) for part in parts)
    for name in LIST_FIELDS:
        text = text or "".join(_detail_text(item) for item in objects(message.get(name)))
    return Thought(text, sealed)


@dataclass(slots=True)
class ReasoningFields:
    """The reasoning fields of a message, gathered from its deltas under their own names."""

    cumulative: bool = False
    _texts: dict[str, list[str]] = field(default_factory=dict)
    _lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    _others: dict[str, Any] = field(default_factory=dict)

    def read(self, message: Mapping[str, Any]) -> None:
        """Gather one delta's fields."""
        for name in (*TEXT_FIELDS, *SEAL_FIELDS):
            if isinstance(text := message.get(name), str) and text:
                self._add(name, text)
        for name in LIST_FIELDS:
            for item in objects(message.get(name)):
                self._lists.setdefault(name, []).append(item)
        for name in _OTHER_FIELDS:
            if isinstance(value := message.get(name), dict):
                self._others[name] = {**self._others.get(name, {}), **value}

    def fields(self) -> dict[str, Any]:
        """Answer with the fields as a message would carry them."""
        texts = {name: "".join(pieces) for name, pieces in self._texts.items()}
        lists = {name: _merged(items) for name, items in self._lists.items()}
        return {**texts, **lists, **self._others}

    def _add(self, name: str, text: str) -> None:
        pieces = self._texts.setdefault(name, [])
        if self.cumulative:
            have = "".join(pieces)
            pieces.clear()
            text = text if text.startswith(have) else have + text
        pieces.append(text)


def _continues(item: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    same = all(last.get(key) == item.get(key) for key in ("type", "index"))
    return same and not _is_sealed(last) and item.get("type") not in _ENCRYPTED_TYPES


def _merged(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join the details that are pieces of one block, as they stand in a row."""
    blocks: list[list[dict[str, Any]]] = []
    for item in items:
        if blocks and _continues(item, blocks[-1][-1]):
            blocks[-1].append(item)
        else:
            blocks.append([item])
    return [_block(block) for block in blocks]


def _block(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    block: dict[str, Any] = {}
    for piece in pieces:
        block.update({key: value for key, value in piece.items() if value is not None})
    for key in _JOINED_KEYS:
        texts = [piece[key] for piece in pieces if isinstance(piece.get(key), str)]
        if texts:
            block[key] = "".join(texts)
    return {**pieces[0], **block}
