"""The completions API as the rest of the proxy sees it."""

from __future__ import annotations

import json

import pytest

from proxy.quirks import PLAIN
from proxy.views import Merge
from proxy.wire import AttemptMessage
from proxy.wire.completions import WIRE_API
from tests.support.completions import body_of


def test_request_goes_out_as_it_came_or_with_a_note() -> None:
    """What is rendered for a prompt stands in it as it is."""
    asked = WIRE_API.read(body_of())
    assert WIRE_API.spliced(asked, ()) is asked.body
    sent = json.loads(WIRE_API.spliced(asked, (Merge(0, "n", front=False),)))
    assert sent["prompt"] == "say\n\nn\n\n"
    assert WIRE_API.user("n") == rb"\n\nn\n\n"
    assert WIRE_API.partial('p"') == rb"p\""
    assert json.loads(WIRE_API.error_body("no", "kind", "code"))["error"]["type"] == "kind"


def test_what_a_prompt_does_not_have_cannot_be_made() -> None:
    """Whoever asks for it has a fault, which is told as one."""
    asked, message = WIRE_API.read(body_of()), AttemptMessage("", "", (), (), b"{}")
    for place in (
        lambda: WIRE_API.system("x"),
        lambda: WIRE_API.refused(message, (), PLAIN),
        lambda: WIRE_API.document("x", asked),
    ):
        with pytest.raises(RuntimeError, match="have no"):
            place()
