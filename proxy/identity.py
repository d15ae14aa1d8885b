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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from proxy.agents import ANY_AGENT, Agent, HeaderMark
from proxy.recognition import Recogniser, blind, exact
from rules_engine.families import NO_EDITS, EditsInProse

PLACE_HEAD = 40_000  # characters in which the workspace is looked for
SIDE_HEAD = 400  # characters in which a request says that it stands beside the conversation

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
_JWT_PARTS = 3
_MOST_ASKED = 2048  # of patterns and beginnings of messages it is remembered what they showed


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """What identity needs to know of a parsed request.

    tools: declared tool names; tools_off: none of them may be called (`tool_choice`).
    system: the first system or developer text. hints: body values by dotted key
    (`metadata.sessionId`, `prompt_cache_key`, `conversation`, …), where strings.
    """

    tools: tuple[str, ...] = ()
    tools_off: bool = False
    system: str = ""
    first_user: str = ""
    last_user: str = ""
    hints: tuple[tuple[str, str], ...] = ()

    @property
    def calls_tools(self) -> bool:
        """Whether the answer can be a call."""
        return bool(self.tools) and not self.tools_off


@dataclass(frozen=True, slots=True)
class Route:
    """What the request's own path prefix or headers say (`/w/<workspace>`, `/s/<session>`)."""

    workspace: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class TenantPolicy:
    """How tenants are told apart.

    secret: the installation's; every tenant name is hashed with it. loopback: the proxy is bound
    to the loopback address, so there is one tenant, but for those that the header names. header:
    the tenant header's name in any case, given only where the peer is trusted to set it.
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
    recogniser: Recogniser,
) -> Identity:
    """Identify a request. `headers` have lower-case names."""
    agent = recogniser.agent(headers, facts.tools, facts.system)
    tenant = tenant_of(headers, policy)
    session = session_of(headers, facts, route, agent)
    edits = edits_in_prose(facts, agent)
    return Identity(
        tenant=tenant,
        agent=agent.name,
        role=role_of(headers, facts, agent),
        session=session,
        conversation=conversation_of(tenant, session, facts),
        workspace_label=route.workspace or workspace_of(headers, facts, agent),
        side=is_side_request(headers, facts, agent),
        prose_edits=edits is not None,
        edits=edits or NO_EDITS,
    )


def _any(headers: Mapping[str, str], marks: Iterable[HeaderMark]) -> bool:
    return any(
        blind(mark.pattern).search(headers[mark.name]) for mark in marks if mark.name in headers
    )


def role_of(
    headers: Mapping[str, str], facts: RequestFacts, agent: Agent
) -> Literal["main", "sub"]:
    """Say whether a sub-agent asks: by a header that names its parent, or by its prompt."""
    told = _any(headers, (*agent.sub_agent, *ANY_AGENT.sub_agent))
    prompt = facts.system[:PLACE_HEAD]
    return "sub" if told or any(exact(p).search(prompt) for p in agent.sub_prompts) else "main"


def session_of(
    headers: Mapping[str, str], facts: RequestFacts, route: Route, agent: Agent
) -> str | None:
    """Find the id that the client gives the conversation: our header or path, theirs, the body.

    A cache key can be the same for all of an application's conversations, so body values that
    merely hint at one are told apart by the first user message; of some agents it is known that
    they name it.
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
    sure = key in (*agent.session_body, *ANY_AGENT.session_body)
    return hints[key] if sure else f"{hints[key]}-{_short(facts.first_user)}"


def _session_in(headers: Mapping[str, str], agent: Agent) -> str | None:
    for name, key in agent.session_json:
        if inside := _json_value(headers.get(name, ""), key):
            return inside
    return next(filter(None, map(headers.get, agent.session_headers)), None)


def _json_value(text: str, key: str) -> str | None:
    """Read a string, or an object's first key, out of a JSON object; None for anything else."""
    try:
        value = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    found = value.get(key) if isinstance(value, dict) else None
    first = next(iter(found), None) if isinstance(found, dict) else found
    return first if isinstance(first, str) else None


def conversation_of(tenant: str, session: str | None, facts: RequestFacts) -> str:
    """Label the conversation: by its session, else by its first user message."""
    return _short("\0".join((tenant, session or "", "" if session else facts.first_user)))


def _short(text: str) -> str:
    if len(text) > PLACE_HEAD:
        text = f"{len(text)}\0{text[:PLACE_HEAD]}"  # what opens so and is as long is the same
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def workspace_of(headers: Mapping[str, str], facts: RequestFacts, agent: Agent) -> str | None:
    """Find the directory that the agent says it works in.

    In a header, its prompt, else the first message. It names a directory of the agent's machine,
    and is no more than a label here.
    """
    for name, key in agent.workspace_json:
        if told := _json_value(headers.get(name, ""), key):
            return told
    for text in (facts.system[:PLACE_HEAD], facts.first_user[:PLACE_HEAD]):
        for pattern in (*agent.workspace, *ANY_AGENT.workspace):
            found = exact(pattern).search(text)
            if found is not None:
                label = next(group for group in found.groups() if group is not None)
                return label.strip().rstrip("`'\".,;") or None
    return None


def is_side_request(headers: Mapping[str, str], facts: RequestFacts, agent: Agent) -> bool:
    """Say whether this is a title, summary or compaction request beside the conversation.

    By an explicit header; else its prompt, or the beginning of its last message, asks for such a
    thing, and no tool can be called (a few agents are known to leave their tools declared).
    """
    if _any(headers, (*agent.side_headers, *ANY_AGENT.side_headers)):
        return True
    system, last = facts.system[:SIDE_HEAD], facts.last_user[:SIDE_HEAD]
    calls_tools = facts.calls_tools
    for side in (*agent.side_prompts, *ANY_AGENT.side_prompts):
        may = side.tools or not calls_tools
        if may and (_asks(side.pattern, system) or _asks(side.pattern, last)):
            return True
    return False


@lru_cache(_MOST_ASKED)
def _asks(pattern: str, text: str) -> bool:
    """Search the beginning of a message, which is the same in many requests."""
    return blind(pattern).search(text) is not None


def edits_in_prose(facts: RequestFacts, agent: Agent) -> EditsInProse | None:
    """Say how the answer's text is to hold edits; None: not at all.

    It is where no tool can be called and a prompt teaches it.
    """
    if facts.calls_tools:
        return None
    system, asked = facts.system[:PLACE_HEAD].lower(), facts.last_user[:PLACE_HEAD].lower()
    found = [
        taught
        for taught in (*agent.prose_formats, *ANY_AGENT.prose_formats)
        if (pattern := exact(taught.pattern)).search(system) or pattern.search(asked)
    ]
    if not found:
        return None
    formats = dict.fromkeys(each for taught in found for each in taught.formats)
    last = facts.last_user[:PLACE_HEAD]
    paths = (exact(pattern).search(last) for pattern in agent.prose_path)
    return EditsInProse(tuple(formats), next((each.group(1) for each in paths if each), ""))


def tenant_of(headers: Mapping[str, str], policy: TenantPolicy) -> str:
    """Name the tenant: a hash that needs the installation's secret to be made.

    The trusted header, else who a JWT says it is (read, not verified: a tenant only separates),
    else an account header, else the key itself.
    """
    named = headers.get(policy.header.lower(), "") if policy.header else ""
    if policy.loopback and not named:
        return "local"
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
