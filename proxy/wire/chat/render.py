"""Messages and documents that the proxy itself writes."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from proxy.errors import error_body as _openai_error
from proxy.quirks import Profile
from proxy.wire import AttemptMessage, WireRequest
from proxy.wire.chat.slots import LEGACY
from proxy.wire.openai.spans import RawObject, render_array
from proxy.wire.openai.tolerant import NotJson, read_json, write_json

_EMPTY_ARGUMENTS = "{}"
_ID_SIZE = 9  # letters and digits; the only shape that Mistral takes


def user(text: str) -> bytes:
    """Render a user message of ours."""
    return write_json({"role": "user", "content": text}).encode()


def system(text: str) -> bytes:
    """Render a system message of ours."""
    return write_json({"role": "system", "content": text}).encode()


def partial(text: str) -> bytes:
    """Render an assistant message that holds the kept part of a cut attempt."""
    return write_json({"role": "assistant", "content": text}).encode()


def refused(message: AttemptMessage, results: Sequence[str], profile: Profile) -> tuple[bytes, ...]:
    """Render a finished message with all its calls, and the result of each behind it.

    `results` are aligned with the calls. Reasoning goes along only where the profile asks for
    it. Arguments that are no JSON are sent as `{}`: upstreams refuse a conversation with them.
    """
    calls = [
        _sendable(raw, _id(message, position)) for position, raw in enumerate(message.raw_calls)
    ]
    kinds = [call.read("type") for call in calls]
    if kinds == [LEGACY]:
        return _legacy(message, calls[0], results[0], profile)
    answers = [_answer(call, result) for call, result in zip(calls, results, strict=True)]
    rendered = render_array([_modern(call).render() for call in calls])
    return (_assistant(message, "tool_calls", rendered, profile), *answers)


def document(message: str, request: WireRequest) -> bytes:
    """Render a non-streaming answer of ours that says `message`."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": message},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    answer = {
        "id": f"chatcmpl-{_digest(request.model, message)}",
        "object": "chat.completion",
        "created": 0,
        "model": request.model,
        "choices": [choice],
        "usage": usage,
    }
    return write_json(answer).encode()


def error_body(message: str, kind: str, code: str) -> bytes:
    """Render the JSON body of an error answer."""
    return _openai_error(message, kind, code)


def _digest(*texts: str) -> str:
    joined = "\0".join(texts).encode("utf-8", "replace")
    return blake2b(joined, digest_size=16).hexdigest()[:_ID_SIZE]


def _id(message: AttemptMessage, position: int) -> str:
    """Answer with a call's id: the upstream's own, else one that is the same at every rendering.

    Made-up ids stand only in messages that the proxy itself puts into the conversation.
    """
    call = message.calls[position]
    return call.id or _digest(message.text, call.name, call.arguments, str(position))


def _sendable(raw: bytes, call_id: str) -> RawObject:
    """Answer with the call as an upstream takes it: with an id and readable arguments."""
    given = RawObject(raw)
    call = RawObject(b"{}")
    call.set("id", _json(call_id))
    for key, value in given.items():
        if key != "id":
            call.set(key, value)
    if call.get("function"):
        call.set("function", _readable(call.get("function")))
    return call


def _readable(function: bytes) -> bytes:
    body = RawObject(function)
    arguments = body.read("arguments")
    if not isinstance(arguments, str) or isinstance(read_json(arguments), NotJson):
        body.set("arguments", _json(_EMPTY_ARGUMENTS))
    return body.render()


def _modern(call: RawObject) -> RawObject:
    """Answer with the call under a type of the current API."""
    if call.read("type") == LEGACY:
        call.set("type", _json("function"))
    return call


def _assistant(message: AttemptMessage, key: str, calls: bytes, profile: Profile) -> bytes:
    assistant = RawObject(b'{"role":"assistant"}')
    # Blank text is refused by some upstreams, null beside calls by none.
    assistant.set("content", _json(message.text) if message.text.strip() else b"null")
    if profile.replay_reasoning and not profile.forbid_reasoning:
        for name, value in RawObject(message.extra).items():
            assistant.set(name, value)
    assistant.set(key, calls)
    return assistant.render()


def _answer(call: RawObject, result: str) -> bytes:
    answer = RawObject(b'{"role":"tool"}')
    answer.set("tool_call_id", call.get("id"))
    answer.set("content", _json(result))
    return answer.render()


def _legacy(
    message: AttemptMessage, call: RawObject, result: str, profile: Profile
) -> tuple[bytes, ...]:
    """Render the one call of the older API and its result, which has the function's name."""
    function = call.get("function")
    answer = RawObject(b'{"role":"function"}')
    answer.set("name", RawObject(function).get("name"))
    answer.set("content", _json(result))
    return _assistant(message, LEGACY, function, profile), answer.render()


def _json(value: str) -> bytes:
    return write_json(value).encode()
