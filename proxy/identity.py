"""Who is asking: tenant, session, side request, agent, workspace label; pure.

None of it finds splices: it groups the audit, chooses rule sets and marks side requests. Raw
credentials never leave `tenant_of`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from proxy.agents import ANY_AGENT, Agent, HeaderMark
from rules_engine.families import NO_EDITS, EditsInProse

PROMPT_HEAD = 4000  # characters of a prompt in which marks are looked for
PLACE_HEAD = 40_000  # characters in which the workspace is looked for

SESSION_HEADER = "x-ttsr-session"
_ACCOUNT_HEADERS = ("chatgpt-account-id", "x-account-id")
_KEY_HEADERS = ("authorization", "api-key", "x-api-key")
_SESSION_HINTS = (
    "metadata.sessionId",
    "metadata.session_id",
    "prompt_cache_key",
    "conversation",
    "previous_response_id",
)
_SURE_HINTS = ("metadata.sessionId", "metadata.session_id")
_JWT_PARTS = 3


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """What identity needs to know of a parsed request.

    tools: declared tool names. system: the first system or developer text. hints: body values
    by dotted key (`metadata.sessionId`, `prompt_cache_key`, `conversation`, …), where strings.
    """

    tools: tuple[str, ...] = ()
    system: str = ""
    first_user: str = ""
    last_user: str = ""
    hints: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """What the request's own path prefix or headers say (`/w/<workspace>`, `/s/<session>`)."""

    workspace: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class TenantPolicy:
    """How tenants are told apart.

    secret: the installation's; every tenant name is hashed with it. loopback: the proxy is bound
    to the loopback address, so there is one tenant. header: the tenant header's name, given only
    where the peer is trusted to set it.
    """

    secret: bytes
    loopback: bool
    header: str | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """Who is asking. `conversation` is a stable label for the audit, no key for anything.

    prose_edits: the agent edits files by what it reads in the answer's text, so half an answer
    followed by another would be applied wrongly; `edits` says what that text is read for.
    """

    tenant: str
    agent: str
    role: Literal["main", "sub"]
    session: str | None
    conversation: str
    workspace_label: str | None
    side: bool
    prose_edits: bool = False
    edits: EditsInProse = NO_EDITS


def identify(
    headers: Mapping[str, str],
    facts: RequestFacts,
    route: Route,
    policy: TenantPolicy,
    agents: Sequence[Agent],
) -> Identity:
    """Identify a request. `headers` have lower-case names."""
    agent = recognise(headers, facts, agents)
    tenant = tenant_of(headers, policy)
    session = session_of(headers, facts, route, agent)
    edits = edits_in_prose(facts, agent)
    return Identity(
        tenant=tenant,
        agent=agent.name,
        role="sub" if _any(headers, (*agent.sub_agent, *ANY_AGENT.sub_agent)) else "main",
        session=session,
        conversation=conversation_of(tenant, session, facts),
        workspace_label=route.workspace or workspace_of(facts, agent),
        side=is_side_request(headers, facts, agent),
        prose_edits=edits is not None,
        edits=edits or NO_EDITS,
    )


def recognise(headers: Mapping[str, str], facts: RequestFacts, agents: Iterable[Agent]) -> Agent:
    """Find the one agent that sent the request; `ANY_AGENT` where nothing shows it.

    Headers of its own are surest, then the user agent, the prompt, and the declared tools. Among
    equals it is the one with most marks, then the first by name.
    """
    prompt = facts.system[:PROMPT_HEAD].lower()
    scored = [(_score(headers, facts.tools, prompt, agent), agent) for agent in agents]
    best = max((score for score, _ in scored), default=0)
    if not best:
        return ANY_AGENT
    return min((agent for score, agent in scored if score == best), key=lambda a: a.name)


def _score(headers: Mapping[str, str], tools: Sequence[str], prompt: str, agent: Agent) -> int:
    """Weigh the marks: one of a surer kind outweighs all of the kinds below it."""
    marks = agent.marks
    shown = (
        _any(headers, marks.headers),
        _finds(marks.user_agent, headers.get("user-agent", "")),
        any(re.search(pattern, prompt) for pattern in marks.prompt),
        any(own.issubset(tools) for own in marks.tools),
    )
    return sum(8 >> kind for kind, there in enumerate(shown) if there)


def _any(headers: Mapping[str, str], marks: Iterable[HeaderMark]) -> bool:
    return any(
        mark.name in headers and re.search(mark.pattern, headers[mark.name], re.IGNORECASE)
        for mark in marks
    )


def _finds(patterns: Iterable[str], text: str) -> bool:
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)


def session_of(
    headers: Mapping[str, str], facts: RequestFacts, route: Route, agent: Agent
) -> str | None:
    """Find the id that the client gives the conversation: our header or path, theirs, the body.

    A cache key can be the same for all of an application's conversations, so body values that
    merely hint at one are told apart by the first user message.
    """
    own = headers.get(SESSION_HEADER) or route.session
    if own:
        return own
    for one in (agent, ANY_AGENT):
        named = _session_in(headers, one)
        if named:
            return named
    hints = dict(facts.hints)
    key = next((key for key in _SESSION_HINTS if hints.get(key)), None)
    if key is None:
        return None
    return hints[key] if key in _SURE_HINTS else f"{hints[key]}-{_short(facts.first_user)}"


def _session_in(headers: Mapping[str, str], agent: Agent) -> str | None:
    inside = (_json_value(headers.get(name, ""), key) for name, key in agent.session_json)
    plain = (headers.get(name) for name in agent.session_headers)
    return next((value for value in (*inside, *plain) if value), None)


def _json_value(text: str, key: str) -> str | None:
    """Read a string out of a JSON object in a header; None for anything else."""
    try:
        value = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def conversation_of(tenant: str, session: str | None, facts: RequestFacts) -> str:
    """Label the conversation: by its session, else by its first user message."""
    return _short("\0".join((tenant, session or "", "" if session else facts.first_user)))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def workspace_of(facts: RequestFacts, agent: Agent) -> str | None:
    """Find the directory that the agent says it works in: in its prompt, else the first message.

    It names a directory of the agent's machine, and is no more than a label here.
    """
    for text in (facts.system[:PLACE_HEAD], facts.first_user[:PLACE_HEAD]):
        for pattern in (*agent.workspace, *ANY_AGENT.workspace):
            found = re.search(pattern, text)
            if found is not None:
                label = next(group for group in found.groups() if group is not None)
                return label.strip().rstrip("`'\".,;") or None
    return None


def is_side_request(headers: Mapping[str, str], facts: RequestFacts, agent: Agent) -> bool:
    """Say whether this is a title, summary or compaction request beside the conversation.

    By an explicit header; else it declares no tools and its prompt, or the beginning of its last
    message, asks for such a thing.
    """
    if _any(headers, (*agent.side_headers, *ANY_AGENT.side_headers)):
        return True
    if facts.tools:
        return False
    patterns = (*agent.side_prompts, *ANY_AGENT.side_prompts)
    return any(_finds(patterns, text[:400]) for text in (facts.system, facts.last_user))


def edits_in_prose(facts: RequestFacts, agent: Agent) -> EditsInProse | None:
    """Say how the answer's text is to hold edits; None: not at all.

    It is where the request declares no tools and a prompt teaches it.
    """
    if facts.tools:
        return None
    texts = [text[:PLACE_HEAD].lower() for text in (facts.system, facts.last_user)]
    found = [
        taught
        for taught in (*agent.prose_formats, *ANY_AGENT.prose_formats)
        if any(re.search(taught.pattern, text) for text in texts)
    ]
    if not found:
        return None
    formats = dict.fromkeys(each for taught in found for each in taught.formats)
    last = facts.last_user[:PLACE_HEAD]
    paths = (re.search(pattern, last) for pattern in agent.prose_path)
    return EditsInProse(tuple(formats), next((each.group(1) for each in paths if each), ""))


def tenant_of(headers: Mapping[str, str], policy: TenantPolicy) -> str:
    """Name the tenant: a hash that needs the installation's secret to be made.

    The trusted header, else who a JWT says it is (read, not verified: a tenant only separates),
    else an account header, else the key itself.
    """
    if policy.loopback:
        return "local"
    named = headers.get(policy.header, "") if policy.header else ""
    subject = _subject(headers.get("authorization", ""))
    account = _first(headers, _ACCOUNT_HEADERS)
    key = _first(headers, _KEY_HEADERS)
    kinds = (("header", named), ("jwt", subject), ("account", account), ("key", key))
    kind, value = next(((k, v) for k, v in kinds if v), ("none", ""))
    text = f"{kind}\0{value}".encode("utf-8", "surrogatepass")
    return hmac.new(policy.secret, text, hashlib.sha256).hexdigest()[:32]


def _first(headers: Mapping[str, str], names: Iterable[str]) -> str:
    """Give the first of these headers; `Bearer` is not part of a key."""
    value = next((headers[name] for name in names if headers.get(name)), "")
    scheme, _, rest = value.partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else value


def _subject(authorization: str) -> str:
    """Read issuer and subject of a bearer JWT; empty for any other credential."""
    parts = authorization.rpartition(" ")[2].split(".")
    if len(parts) != _JWT_PARTS:
        return ""
    try:
        payload = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        claims = json.loads(payload)
    except (ValueError, binascii.Error, RecursionError):
        return ""
    if not isinstance(claims, dict) or not claims.get("sub"):
        return ""
    return f"{claims.get('iss', '')}\0{claims['sub']}"
