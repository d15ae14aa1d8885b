"""The bodies in which one turn's requests may go out, best first; pure.

Placed as the splices say, then with the other placement, then without the prompt layers, then as
the client sent it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proxy import splice, views
from proxy.anchors import NO_MATCHES, Matches
from proxy.pending import Pending
from proxy.placing import Bodies, Form
from proxy.views import Edit, View
from proxy.wire import WireApi, WireRequest


class Forms:
    """Bodies of one request; `layers` stand in the system prompt of every one but the client's."""

    def __init__(
        self,
        wire: WireApi,
        request: WireRequest,
        matches: Matches,
        view: View,
        *,
        layers: tuple[Edit, ...] = (),
    ) -> None:
        self._wire = wire
        self._request = request
        self._matches = matches
        self._placed = view
        self._layers = layers
        self._first = wire.spliced(request, (*layers, *view.edits))

    def at_start(self) -> Bodies:
        """The bodies of the first attempt."""
        bodies = self._bodies(self._placed, self._matches, None, self._first)
        return Bodies(bodies, self._request.body)

    def between(self, pending: Pending) -> Bodies:
        """The bodies of a reissue that carries what the turn has injected so far."""
        placed = self._view(self._matches, pending)
        return Bodies(self._bodies(placed, self._matches, pending), self._request.body)

    def settle(self, form: Form) -> Sequence[tuple[int, bytes]]:
        """The first attempt was accepted in `form`: splices to amend, by id, with their payload."""
        if form in (Form.PLACED, Form.UNLAYERED) or not self._matches.by_message:
            return ()
        turned = views.flipped if form is Form.FLIPPED else views.dropped
        changed = turned(self._matches)
        self._matches = changed if form is Form.FLIPPED else NO_MATCHES
        return [(each.id, splice.encode(each.splice)) for each in changed.by_message.values()]

    def _view(self, matches: Matches, pending: Pending | None) -> View:
        before = pending.before if pending else ()
        return views.build(self._request.messages, matches, self._wire.user, before)

    def _bodies(
        self, placed: View, matches: Matches, pending: Pending | None, first: bytes = b""
    ) -> Iterator[tuple[Form, bytes]]:
        """Distinct bodies in the order in which they are tried; the client's own is the last.

        Each is made when it is asked for: hardly ever is any but the first one, which `first` is
        where it is made already.
        """
        tried: list[bytes] = []
        for form, edits in self._wanted(placed, matches, pending):
            body = first or self._wire.spliced(self._request, edits)
            first = b""
            if body not in tried:
                tried.append(body)
                yield form, body

    def _wanted(
        self, placed: View, matches: Matches, pending: Pending | None
    ) -> Iterator[tuple[Form, Sequence[Edit]]]:
        yield Form.PLACED, (*self._layers, *placed.edits)
        turned = self._view(views.flipped(matches), pending.flipped() if pending else None)
        yield Form.FLIPPED, (*self._layers, *turned.edits)
        yield Form.UNLAYERED, placed.edits
        yield Form.BARE, ()
