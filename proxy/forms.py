"""The bodies in which one turn's requests may go out, best first; pure.

Placed as the splices say, then with the other placement, then without the prompt layers, then as
the client sent it.
"""

from __future__ import annotations

from collections.abc import Sequence

from proxy import splice, views
from proxy.anchors import NO_MATCHES, Matches
from proxy.pending import Pending
from proxy.placing import Form
from proxy.views import Edit, View
from proxy.wire import WireApi, WireRequest

Bodies = Sequence[tuple[Form, bytes]]


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

    def at_start(self) -> Bodies:
        """The bodies of the first attempt."""
        flipped = self._view(views.flipped(self._matches), None)
        return self._bodies(((Form.PLACED, self._placed), (Form.FLIPPED, flipped)))

    def between(self, pending: Pending) -> Bodies:
        """The bodies of a reissue that carries what the turn has injected so far."""
        placed = self._view(self._matches, pending)
        flipped = self._view(self._matches, pending.flipped())
        return self._bodies(((Form.PLACED, placed), (Form.FLIPPED, flipped)))

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

    def _bodies(self, wanted: Sequence[tuple[Form, View]]) -> Bodies:
        """Distinct bodies in the order in which they are tried; the client's own is the last."""
        bodies: dict[bytes, Form] = {}
        for form, view in wanted:
            edits = (*self._layers, *view.edits)
            bodies.setdefault(self._wire.spliced(self._request, edits), form)
        plain = self._wire.spliced(self._request, wanted[0][1].edits)
        bodies.setdefault(plain, Form.UNLAYERED)
        bodies.setdefault(self._request.body, Form.BARE)
        return [(form, body) for body, form in bodies.items()]
