from __future__ import annotations

import json

import pytest

from proxy import errors
from proxy.errors import BadRequest, ClientFault, Fault, OurFault, Overloaded, UpstreamFault


def leaves(base: type[Fault]) -> list[type[Fault]]:
    """Those of this module: what others add is made by them, with values of their own."""
    below = [kind for kind in base.__subclasses__() if kind.__module__ == errors.__name__]
    return [leaf for kind in below for leaf in leaves(kind)] if below else [base]


@pytest.mark.parametrize("leaf", leaves(Fault))
def test_every_fault_says_whose_it_is(leaf: type[Fault]) -> None:
    """Each leaf belongs to one side, with a status of that side's class."""
    sides = [side for side in (ClientFault, UpstreamFault, OurFault) if issubclass(leaf, side)]
    assert len(sides) == 1
    assert leaf.status // 100 == (4 if sides == [ClientFault] else 5)


@pytest.mark.parametrize("leaf", leaves(Fault))
def test_every_fault_renders_an_openai_error(leaf: type[Fault]) -> None:
    """The body has message, type, param and code, as strings."""
    error = json.loads(leaf("what was wrong").body())["error"]
    assert error["message"] == "what was wrong"
    assert isinstance(error["type"], str)
    assert isinstance(error["code"], str)


def test_a_bad_request_names_the_parameter() -> None:
    """`param` reaches the answer's body."""
    error = json.loads(BadRequest("messages must be a list", "messages").body())["error"]
    assert error["param"] == "messages"


def test_an_overload_carries_when_to_come_back() -> None:
    """`retry_after` is kept for the answer's header."""
    assert Overloaded("busy", retry_after=1).retry_after == 1


def test_a_configuration_error_is_no_fault() -> None:
    """It never becomes an answer, since nothing is served yet."""
    assert not issubclass(errors.ConfigError, Fault)
