from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from proxy.errors import BadRequest, ConnectFailed, FirstByteTimeout, UpstreamBroken
from proxy.headers import Field
from proxy.placing import Bodies, Form, open_placed, patient
from proxy.upstream import UpstreamResponse
from tests.support.responses import Played, as_response

pytestmark = pytest.mark.anyio

FORMS = ((Form.PLACED, b"placed"), (Form.FLIPPED, b"flipped"), (Form.BARE, b"bare"))


def bodies(first: int = 0) -> Bodies:
    return Bodies(iter(FORMS[first:]), b"bare")


class Asked:
    """Opens by giving the next outcome; notes what was sent and when."""

    def __init__(self, *outcomes: int | Exception, headers: Sequence[Field] = ()) -> None:
        self.bodies: list[bytes] = []
        self.times: list[float] = []
        self.played: list[Played] = []
        self._outcomes = list(outcomes)
        self._headers = headers

    async def open(self, body: bytes) -> UpstreamResponse:
        self.bodies.append(body)
        self.times.append(anyio.current_time())
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        self.played.append(Played((), outcome, self._headers))
        return as_response(self.played[-1])

    @property
    def pauses(self) -> list[float]:
        return [later - before for before, later in zip(self.times, self.times[1:], strict=False)]


@pytest.mark.parametrize("refusal", [400, 413, 422])
async def test_refused_forms_are_tried_in_order(refusal: int) -> None:
    """As placed, the other way round, as the client sent it; each refusal is closed."""
    asked = Asked(refusal, refusal, 200)
    opened = await open_placed(asked.open, bodies())
    assert (opened.form, opened.response.status) == (Form.BARE, 200)
    assert asked.bodies == [b"placed", b"flipped", b"bare"]
    assert [played.closed for played in asked.played] == [1, 1, 0]


async def test_form_that_is_accepted_ends_the_search() -> None:
    """The first that is not refused counts."""
    asked = Asked(400, 200)
    assert (await open_placed(asked.open, bodies())).form is Form.FLIPPED
    assert len(asked.bodies) == 2


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
async def test_other_errors_are_no_matter_of_form(status: int) -> None:
    """They are answered at once, without a second request."""
    asked = Asked(status)
    opened = await open_placed(asked.open, bodies())
    assert (opened.form, opened.response.status) == (Form.PLACED, status)


async def test_refusal_of_the_clients_own_request_is_the_answer() -> None:
    """What the client sent is refused too: that is for the client to see."""
    asked = Asked(400, 400, 400)
    opened = await open_placed(asked.open, bodies())
    assert (opened.form, opened.response.status) == (Form.BARE, 400)
    assert asked.played[-1].closed == 0


async def test_request_without_anything_of_ours_goes_out_once() -> None:
    """A refused request that is the client's own is not sent again."""
    asked = Asked(400)
    assert (await open_placed(asked.open, bodies(2))).response.status == 400
    assert asked.bodies == [b"bare"]


@pytest.mark.parametrize(
    "outcome",
    [
        429,
        500,
        502,
        503,
        504,
        529,
        ConnectFailed("no"),
        UpstreamBroken("no"),
        FirstByteTimeout("no"),
    ],
    ids=str,
)
async def test_first_retry_comes_soon(outcome: int | Exception) -> None:
    """After 50 to 200 ms; the failed answer is closed."""
    asked = Asked(outcome, 200)
    opened = await patient(asked.open, anyio.current_time() + 60)(b"x")
    assert opened.status == 200
    assert 0.04 <= asked.pauses[0] < 1.0
    assert all(played.closed for played in asked.played[:-1])


async def test_second_retry_is_the_last() -> None:
    """The third answer counts, whatever it is; Retry-After shortens both pauses here."""
    asked = Asked(503, 503, 503, headers=((b"retry-after", b"0"),))
    opened = await patient(asked.open, anyio.current_time() + 60)(b"x")
    assert (opened.status, len(asked.bodies)) == (503, 3)
    assert asked.played[-1].closed == 0
    again = Asked(429, 429, ConnectFailed("gone"), headers=((b"retry-after", b"0"),))
    with pytest.raises(ConnectFailed):
        await patient(again.open, anyio.current_time() + 60)(b"x")


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [(b"Retry-After-Ms", b"300", 0.3), (b"retry-after", b" 1 ", 1.0)],
)
async def test_retry_after_is_obeyed(name: bytes, value: bytes, least: float) -> None:
    """In whole seconds, or in milliseconds as some upstreams say it."""
    asked = Asked(429, 200, headers=((name, value),))
    await patient(asked.open, anyio.current_time() + 60)(b"x")
    assert least - 0.01 <= asked.pauses[0] < least + 0.8


async def test_retry_after_as_a_date_is_left_alone() -> None:
    """The usual pause is taken."""
    asked = Asked(429, 200, headers=((b"retry-after", b"Wed, 21 Oct 2099 07:28:00 GMT"),))
    await patient(asked.open, anyio.current_time() + 60)(b"x")
    assert asked.pauses[0] < 1.0


async def test_retry_that_does_not_fit_is_not_made() -> None:
    """An answer beyond the turn's time is passed on at once, a failure raised at once."""
    asked = Asked(429, headers=((b"retry-after", b"60"),))
    assert (await patient(asked.open, anyio.current_time() + 5)(b"x")).status == 429
    with pytest.raises(ConnectFailed):
        await patient(Asked(ConnectFailed("no")).open, anyio.current_time())(b"x")


async def test_faults_of_the_request_are_not_retried() -> None:
    """What the client got wrong stays wrong."""
    asked = Asked(BadRequest("bad"))
    with pytest.raises(BadRequest):
        await patient(asked.open, anyio.current_time() + 60)(b"x")
    assert len(asked.bodies) == 1
