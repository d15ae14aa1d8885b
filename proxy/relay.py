"""THE flow of one request, in order, one call a step.

Read the request, identify who asks, choose the rule set, find the conversation's splices, build
the model view, run the turn. What needs a connection is `proxy.answer`'s.
"""

from __future__ import annotations

import logging
import os
from asyncio import get_running_loop
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from ipaddress import ip_address

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive

from proxy import anchors, codings, conversation, views
from proxy.agents import Agent, tool_families, with_open_file
from proxy.anchors import Matches
from proxy.answer import Answer, TurnContext
from proxy.audit import Audit, TurnLabel
from proxy.beside import LARGE, beside
from proxy.client import BrokenAnswer
from proxy.config import Settings
from proxy.conversation import Memory, Message, Spine
from proxy.errors import BadRequest, LedgerDown
from proxy.exchange import Exchange
from proxy.forms import Forms
from proxy.headers import by_name
from proxy.identity import Identity, RequestFacts, Route, TenantPolicy, identify
from proxy.patience import Patience
from proxy.pending import Pending
from proxy.placing import Open
from proxy.pulse import Pulse
from proxy.quirks import Profile
from proxy.recognition import Recogniser
from proxy.record import TurnRecorder
from proxy.routing import Target
from proxy.splice import Delivery, Placement, StoredSplice
from proxy.store import Store, StoreUnavailable
from proxy.upstream import Upstream, UpstreamResponse
from proxy.views import Edit, View
from proxy.waiting import within
from proxy.wire import Watching, WireApi, WireRequest
from proxy.workspace import RulesNotReady
from rules_engine import rulebook
from rules_engine.policy import OnExhausted, ReleaseMode, ToolRefusal, TurnOptions
from rules_engine.ruleset import RuleSet
from rules_engine.turn import Facts, Turn

log = logging.getLogger(__name__)

_DOCUMENT_FACTOR = 2.0  # an answer that is not streamed has twice the turn budget
_NO_SECRET = b""
_NO_RULES = RuleSet("", (), (), ())


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that the flow uses; made once by the composition root.

    `rules` gives the rule set of a workspace label and an agent role; `directory` the real path of
    the configured workspace. `loopback`: whether only this machine can reach the proxy. `wall`:
    Unix time. `pulse`: tells turns that time passes, and that the proxy stops.
    """

    settings: Settings
    upstream: Upstream
    store: Store
    audit: Audit
    rules: Callable[[str | None, str], Awaitable[RuleSet]]
    directory: Callable[[], str]
    agents: tuple[Agent, ...]
    quirks: Callable[[str], Profile]
    loopback: bool
    wall: Callable[[], float]
    pulse: Pulse
    patience: Patience


@dataclass(frozen=True, slots=True)
class _Read:
    """A request as read: what it asks for, what it tells of who asks, its assistant messages."""

    asked: WireRequest
    facts: RequestFacts
    spine: Spine


@dataclass(frozen=True, slots=True)
class _Found:
    """The conversation's splices and model view. `read` False: the ledger did not answer."""

    matches: Matches
    view: View
    read: bool


class Relay:
    """Serves the requests of one wire API."""

    def __init__(self, services: Services, wire: WireApi) -> None:
        self._services = services
        self._wire = wire
        self._known_secret: bytes | None = None
        self._memory = Memory()
        self._families = cache(partial(tool_families, services.agents))
        self._recogniser = Recogniser(services.agents)
        self._options = {
            streaming: turn_options(services.settings, streaming=streaming)
            for streaming in (True, False)
        }

    async def __call__(self, request: Request, target: Target) -> Response:
        """Answer one request. Raises `errors.Fault`; the answer itself never does."""
        settings = self._services.settings
        received = await self._receive(request)
        size = len(received.plain)
        read = await beside(size, lambda: self._read(received.plain))
        asked = read.asked
        secret = await self._secret()
        who = self._identify(request, target, read.facts, secret or _NO_SECRET)
        rules = _NO_RULES if asked.watching is Watching.NOT else await self._rules(who)
        stored = await self._stored(who.tenant, read, known=secret is not None)
        # With nothing to place the body stays as it is.
        touched = size if stored or rulebook.speaks(rules) else 0
        found, forms = await beside(touched, lambda: self._placed(read, who, rules, stored))
        turn = self._turn(asked, who, rules, found)
        return Answer(
            TurnContext(
                spine=read.spine,
                forms=forms,
                exchange=self._exchange(asked, turn),
                tenant=who.tenant,
                ledger=self._services.store,
                recorder=self._recorder(asked, who, found),
                open=self._opener(request, target, received),
                wall=self._services.wall,
                budget=_budget(settings, streaming=asked.stream),
                patience=self._services.patience,
                held_bytes=settings.limits.held_bytes,
                fail_mode=settings.fail_mode,
                pulse=self._services.pulse,
            )
        )

    # ---- the steps

    async def _receive(self, request: Request) -> Received:
        raw = await _whole(request.receive)
        names = codings.codings(request.scope["headers"])
        if not names:
            return Received(raw, raw)
        most = self._services.settings.limits.body
        try:
            # Of a packed body only unpacking tells how large it is.
            plain = await beside(LARGE, lambda: codings.plain(raw, names, most))
            return Received(raw, plain)
        except codings.UndecodableBody as problem:
            raise BadRequest(f"the request body cannot be decoded: {problem}") from None

    async def _secret(self) -> bytes | None:
        """The installation's secret, which tenants are hashed with; None: the store is down."""
        if self._services.loopback and self._services.settings.tenant_header is None:
            return _NO_SECRET
        if self._known_secret is None:
            try:
                self._known_secret = await within(
                    self._services.patience.ledger_read, self._services.store.secret()
                )
            except (StoreUnavailable, TimeoutError) as problem:
                self._unledgered(problem)
        return self._known_secret

    def _unledgered(self, problem: Exception) -> None:
        """The ledger did not answer: go on without it, or refuse, as `failMode` says."""
        if self._services.settings.fail_mode == "closed":
            raise LedgerDown(
                "the ledger did not answer, and failMode is closed; try again", retry_after=1
            ) from None
        log.warning("this request goes out unspliced: %s", str(problem) or "the ledger is slow")

    def _read(self, body: bytes) -> _Read:
        asked = self._wire.read(body)
        facts = RequestFacts(
            tools=asked.tools,
            tools_off=asked.tools_off,
            system=_first_text(asked, ("system", "developer")),
            first_user=_first_text(asked, ("user",)),
            last_user=next((m.text for m in reversed(asked.messages) if m.role == "user"), ""),
            hints=asked.hints,
        )
        return _Read(asked, facts, conversation.spine(asked.messages, self._memory))

    def _identify(
        self, request: Request, target: Target, facts: RequestFacts, secret: bytes
    ) -> Identity:
        services = self._services
        header = services.settings.tenant_header
        # Only a neighbour on this machine, such as a gateway in the same pod, may name tenants.
        if header is not None and not _is_local(request):
            header = None
        policy = TenantPolicy(secret, services.loopback, header)
        route = Route(target.workspace, target.session)
        fields = by_name(request.scope["headers"]).items()
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in fields}
        return identify(headers, facts, route, policy, self._recogniser)

    async def _rules(self, who: Identity) -> RuleSet:
        try:
            return await self._services.rules(who.workspace_label, who.role)
        except RulesNotReady as problem:
            if self._services.settings.fail_mode == "closed":
                raise
            log.warning("this turn runs without rules: %s", problem)
            return _NO_RULES

    async def _stored(
        self, tenant: str, read: _Read, *, known: bool
    ) -> Sequence[StoredSplice] | None:
        """The conversation's splices, in one read; None where the ledger did not answer."""
        asked = read.asked
        if not asked.anchored:
            return ()  # without a ledger nothing is missed
        if not known:
            return None
        if asked.watching is not Watching.ACTING or self._services.settings.dry_run:
            return ()  # in a dry run even what was spliced before stays away
        try:
            keys = anchors.lookup_keys(read.spine)
            found = self._services.store.find(tenant, keys)
            # Asking for no keys waits for nobody, and tells whether the store is there at all.
            return await (within(self._services.patience.ledger_read, found) if keys else found)
        except (StoreUnavailable, TimeoutError) as problem:
            self._unledgered(problem)
            return None

    def _placed(
        self, read: _Read, who: Identity, rules: RuleSet, stored: Sequence[StoredSplice] | None
    ) -> tuple[_Found, Forms]:
        """Place the splices; the first of the bodies is made here."""
        matches = anchors.match(read.spine, stored or ())
        view = views.build(read.asked.messages, matches, self._wire.user)
        layers = self._layers(read.asked, who, rules)
        forms = Forms(self._wire, read.asked, matches, view, layers=layers)
        return _Found(matches, view, read=stored is not None), forms

    def _turn(self, asked: WireRequest, who: Identity, rules: RuleSet, found: _Found) -> Turn:
        settings = self._services.settings
        # With the ledger unread nothing may interrupt: what was told before is not known.
        unsure = asked.choices > 1 or who.side or settings.dry_run or not found.read
        observe = unsure or asked.watching is not Watching.ACTING
        facts = Facts(
            tools=asked.tools,
            families=with_open_file(self._families(who.agent), asked.messages),
            workspace=who.workspace_label or self._services.directory(),
            structured=asked.structured or who.prose_edits,
            forced_tool=asked.forced_tool,
            observe=observe,
            edits=who.edits,
        )
        delivered = _delivered(rules, found.view.delivered)
        return Turn(rules, facts, self._options[asked.stream], delivered, get_running_loop().time())

    def _layers(self, asked: WireRequest, who: Identity, rules: RuleSet) -> tuple[Edit, ...]:
        """What stands in the system prompt; side requests and dry runs get nothing."""
        placeable = asked.anchored and asked.watching is Watching.ACTING
        if who.side or self._services.settings.dry_run or not placeable:
            return ()
        if not rulebook.speaks(rules):
            return ()
        prompt = "\n".join(message.text for message in _prompt(asked.messages))
        text = rulebook.layers(rules, prompt, tools=bool(asked.tools))
        return views.layered(asked.messages, text, self._wire.system)

    def _exchange(self, asked: WireRequest, turn: Turn) -> Exchange:
        return Exchange(
            self._wire,
            asked,
            turn,
            self._services.quirks(asked.model),
            Pending.behind(asked.messages, self._wire.user),
            limit=self._services.settings.limits.event,
            held_limit=self._services.settings.limits.held_bytes,
            reminders=_placement(self._services.settings),
        )

    def _recorder(self, asked: WireRequest, who: Identity, found: _Found) -> TurnRecorder:
        label = TurnLabel(who.conversation, os.urandom(8).hex(), who.agent, asked.model)
        return TurnRecorder(
            self._services.audit,
            label,
            who.workspace_label or "",
            self._services.wall,
            self._services.settings.audit_excerpt,
            unledgered=not found.read,
            remarks=_remarks(found),
        )

    def _opener(self, request: Request, target: Target, received: Received) -> Open:
        """Send a body where the request wanted to go; the client's own goes as it came."""
        # The request itself would keep all that it received once more, for as long as the answer.
        method, headers, send = (
            request.method,
            request.scope["headers"],
            self._services.upstream.open,
        )

        async def opened(body: bytes) -> UpstreamResponse:
            if body is received.plain:
                return await send(method, target.path, target.query, headers, received.raw)
            plain = [field for field in headers if field[0] != b"content-encoding"]
            return await send(method, target.path, target.query, plain, body)

        return opened


async def _whole(receive: Receive) -> bytes:
    """Receive the body. Starlette's request would keep it once more."""
    pieces: list[bytes] = []
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BrokenAnswer
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


@dataclass(frozen=True, slots=True)
class Received:
    """A request's body, as it came and with its content coding undone."""

    raw: bytes
    plain: bytes


def _remarks(found: _Found) -> list[str]:
    remarks = []
    if found.matches.unreadable:
        log.warning("splices that cannot be read: %s", found.matches.unreadable)
        remarks.append("a stored splice could not be read")
    if found.view.unstripped:
        remarks.append("abandoned text was not found at the front of its message")
    return remarks


def _delivered(rules: RuleSet, delivered: Mapping[Delivery, int]) -> Mapping[str, int]:
    """Ages by rule name; what an edited rule said before does not count for it."""
    if not delivered:
        return {}
    ages = {}
    for live in rules.live:
        age = delivered.get(Delivery(live.rule.name, live.rule.body_hash))
        if age is not None:
            ages[live.rule.name] = age
    return ages


def turn_options(settings: Settings, *, streaming: bool) -> TurnOptions:
    """Take what a turn obeys out of the settings."""
    return TurnOptions(
        release=ReleaseMode(settings.release),
        hold_limit=settings.hold_limit,
        max_interrupts_per_rule=settings.max_interrupts_per_rule,
        max_attempts=settings.max_attempts,
        turn_budget=_budget(settings, streaming=streaming),
        on_exhausted=OnExhausted(settings.on_exhausted),
        tool_refusal=ToolRefusal(settings.tool_refusal),
    )


def _budget(settings: Settings, *, streaming: bool) -> float:
    return settings.turn_budget if streaming else _DOCUMENT_FACTOR * settings.turn_budget


def _placement(settings: Settings) -> Placement:
    in_result = settings.reminder_placement == "tool_result"
    return Placement.INTO_TOOL if in_result else Placement.OWN


def _is_local(request: Request) -> bool:
    try:
        return request.client is not None and ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def _prompt(messages: Sequence[Message]) -> Iterator[Message]:
    """What the client says before the model first speaks: prompts and context files."""
    for message in messages:
        if message.role == "assistant":
            return
        yield message


def _first_text(asked: WireRequest, roles: tuple[str, ...]) -> str:
    return next((message.text for message in asked.messages if message.role in roles), "")
