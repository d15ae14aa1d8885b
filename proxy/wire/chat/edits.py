"""A request body with edits applied: everything that no edit names keeps its bytes; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from proxy.views import Edit, Insert, Merge, Restore, Strip
from proxy.wire.chat.reasoning import LIST_FIELDS, TEXT_FIELDS, is_thinking
from proxy.wire.openai.channel import whole
from proxy.wire.openai.layout import value_of
from proxy.wire.openai.spans import RawObject, Span, elements, render_array
from proxy.wire.openai.tolerant import quoted, read_json

_GAP = "\n\n"
_NO_CONTENT = (b"", b"null", b'""')


def apply(body: bytes, edits: Sequence[Edit]) -> bytes:
    """Answer with `body` after `edits`, in the order given.

    Places are those of the body's own messages, whatever is inserted. Raises ValueError for a
    place that is not there.
    """
    spans = _messages(body)
    inserted: dict[int, list[bytes]] = {}
    changed: dict[int, RawObject] = {}
    for edit in edits:
        if not 0 <= edit.at < len(spans) + isinstance(edit, Insert):
            raise ValueError(f"an edit is for message {edit.at}, but there are {len(spans)}")
        if isinstance(edit, Insert):
            inserted.setdefault(edit.at, []).extend(edit.messages)
            continue
        if edit.at not in changed:
            changed[edit.at] = RawObject(body[slice(*spans[edit.at])])
        _change(changed[edit.at], edit)
    return _assembled(body, spans, inserted, changed)


def _messages(body: bytes) -> list[Span]:
    """Answer with where the messages stand; of duplicate keys the last one counts."""
    _, spans = value_of(body, "messages")
    if spans is None:
        raise ValueError("the body has no messages")
    return spans


def _assembled(
    body: bytes,
    spans: list[Span],
    inserted: dict[int, list[bytes]],
    changed: dict[int, RawObject],
) -> bytes:
    pieces: list[bytes] = []
    done = 0
    for at in sorted({*inserted, *changed}):
        start, end = spans[at] if at < len(spans) else (spans[-1][1],) * 2
        pieces.append(body[done:start])
        if at == len(spans):
            pieces += [b"," + message for message in inserted[at]]
        else:
            pieces += [message + b"," for message in inserted.get(at, ())]
            pieces.append(changed[at].render() if at in changed else body[start:end])
        done = end
    return b"".join([*pieces, body[done:]])


def _change(message: RawObject, edit: Merge | Strip | Restore) -> None:
    match edit:
        case Merge():
            message.set("content", _merged(message, edit))
        case Strip():
            _strip_reasoning(message, edit.reasoning)
            _strip_text(message, edit.text)
        case Restore():
            for key, raw in RawObject(edit.fields).items():
                message.set(key, raw)
        case _:
            assert_never(edit)


def _merged(message: RawObject, edit: Merge) -> bytes:
    raw, note = message.get("content"), whole(edit.text)
    if raw in _NO_CONTENT:
        return quoted(note)
    if raw.startswith(b'"'):
        # The client's text stays as it was written.
        if edit.front:
            return quoted(note + _GAP)[:-1] + raw[1:]
        return raw[:-1] + quoted(_GAP + note)[1:]
    part = b'{"type":"text","text":' + quoted(note) + b"}"
    # A lone part, and whatever else an upstream may understand, becomes a part among others.
    parts = _items(raw) if raw.startswith(b"[") else [raw]
    return render_array([part, *parts] if edit.front else [*parts, part])


def _strip_text(message: RawObject, count: int) -> None:
    """Cut the text at its front; parts that become empty go."""
    content = message.read("content")
    if count <= 0:
        return
    if isinstance(content, str):
        rest = content[count:]
        message.set("content", quoted(rest) if rest else _nothing(message))
    elif isinstance(content, list):
        _cut_parts(message, count, _text_key)


def _strip_reasoning(message: RawObject, count: int) -> None:
    """Cut the reasoning at its front, in every field: they repeat each other."""
    if count <= 0:
        return
    for name in TEXT_FIELDS:
        if isinstance(text := message.read(name), str):
            message.set(name, quoted(text[count:]))
    for name in LIST_FIELDS:
        if isinstance(message.read(name), list):
            items = _cut_items(_items(message.get(name)), count, _detail_key)
            message.set(name, render_array(items))
    if isinstance(message.read("content"), list):
        _cut_parts(message, count, _thinking_key)


def _cut_parts(message: RawObject, count: int, key_of: Callable[[object], str]) -> None:
    parts = _cut_items(_items(message.get("content")), count, key_of)
    message.set("content", render_array(parts) if parts else _nothing(message))


def _nothing(message: RawObject) -> bytes:
    """Empty text beside calls is refused by some upstreams, null without calls by others."""
    return b"null" if message.read("tool_calls") or message.read("function_call") else b'""'


def _items(raw: bytes) -> list[bytes]:
    return [raw[start:end] for start, end in elements(raw)]


def _cut_items(items: list[bytes], count: int, key_of: Callable[[object], str]) -> list[bytes]:
    """Cut `count` characters off the front of the items' joined texts; drop what is empty then.

    `key_of` names the key that holds an item's text, empty where it has none of this kind.
    """
    kept: list[bytes] = []
    for item in items:
        value = read_json(item)
        if not count or not (key := key_of(value)):
            kept.append(item)
            continue
        text = value if isinstance(value, str) else value[key]
        rest, count = text[count:], max(0, count - len(text))
        if rest:
            kept.append(_with_text(item, value, key, rest))
    return kept


def _with_text(item: bytes, value: object, key: str, text: str) -> bytes:
    if isinstance(value, str):
        return quoted(text)
    changed = RawObject(item)
    changed.set(key, quoted(text))
    return changed.render()


def _text_key(part: object) -> str:
    if isinstance(part, str):
        return "text"
    return "" if is_thinking(part) else _string_key(part, ("text",))


def _thinking_key(part: object) -> str:
    return _string_key(part, ("thinking",)) if is_thinking(part) else ""


def _detail_key(detail: object) -> str:
    return _string_key(detail, ("text", "summary", "thinking"))


def _string_key(value: object, keys: tuple[str, ...]) -> str:
    if not isinstance(value, dict):
        return ""
    return next((key for key in keys if isinstance(value.get(key), str) and value[key]), "")
