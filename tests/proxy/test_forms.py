from __future__ import annotations

import json

import pytest

from proxy.anchors import NO_MATCHES, Anchored, Matches
from proxy.forms import Forms
from proxy.pending import Pending
from proxy.placing import Form
from proxy.splice import Delivery, Note, Placement, Splice, decode
from proxy.views import Insert, build
from proxy.wire.chat import WIRE_API

BODY = json.dumps(
    {
        "model": "m",
        "messages": [
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "two"},
            {"role": "tool", "tool_call_id": "x", "content": "three"},
        ],
    }
).encode()
LAYER = Insert(0, (WIRE_API.system("Rules."),))


def _forms(matches: Matches = NO_MATCHES, *, layered: bool = False) -> Forms:
    request = WIRE_API.read(BODY)
    view = build(request.messages, matches, WIRE_API.user)
    return Forms(WIRE_API, request, matches, view, layers=(LAYER,) if layered else ())


def _matches() -> Matches:
    note = Note("Note.", WIRE_API.user("Note."), Placement.OWN, (Delivery("r", "h"),))
    return Matches({1: Anchored(7, Splice(after=(note,)), 0)})


def test_request_without_additions_has_one_form() -> None:
    """Nothing spliced, nothing layered: the client's own bytes, once."""
    assert list(_forms().at_start().made) == [(Form.PLACED, BODY)]


def test_layers_can_be_left_out_before_the_splices_are() -> None:
    """An upstream that refuses the prompt layers still gets what turns have left."""
    forms = [form for form, _ in _forms(_matches(), layered=True).at_start().made]
    assert forms[0] is Form.PLACED
    assert forms[-2:] == [Form.UNLAYERED, Form.BARE]


@pytest.mark.parametrize("form", [Form.PLACED, Form.UNLAYERED])
def test_accepted_placement_amends_nothing(form: Form) -> None:
    """What stands in the ledger was taken as it is."""
    assert _forms(_matches()).settle(form) == ()


def test_bare_form_drops_the_splices() -> None:
    """An upstream that took no placement never gets these splices again."""
    forms = _forms(_matches())
    ((number, payload),) = forms.settle(Form.BARE)
    splice = decode(payload)
    assert number == 7
    assert splice is not None
    assert splice.dropped
    assert next(forms.between(Pending.behind((), WIRE_API.user)).made)[1] == BODY


def test_flipped_form_is_kept_for_the_reissue() -> None:
    """The placement that worked is amended and used from then on."""
    forms = _forms(_matches())
    flipped = dict(forms.at_start().made)[Form.FLIPPED]
    assert forms.settle(Form.FLIPPED)
    reissue = next(forms.between(Pending.behind((), WIRE_API.user)).made)
    assert reissue == (Form.PLACED, flipped)
