from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.agents import ANY_AGENT, Agent, collect
from proxy.identity import (
    Identity,
    RequestFacts,
    Route,
    TenantPolicy,
    identify,
    is_side_request,
    session_of,
    tenant_of,
    workspace_of,
)
from proxy.recognition import Recogniser
from rules_engine.families import ProseFormat

AGENTS = collect()
RECOGNISER = Recogniser(AGENTS)
BY_NAME = {agent.name: agent for agent in AGENTS}
REMOTE = TenantPolicy(secret=b"installation", loopback=False)
NOTHING = RequestFacts()
NOWHERE = Route()


def jwt(claims: object) -> str:
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return f"Bearer e30.{payload}.signature"


def seen(
    headers: dict[str, str], facts: RequestFacts = NOTHING, route: Route = NOWHERE
) -> Identity:
    return identify(headers, facts, route, REMOTE, RECOGNISER)


def recognised(headers: dict[str, str], facts: RequestFacts) -> Agent:
    return RECOGNISER.agent(headers, facts.tools, facts.system)


def test_request_of_nobody_known_is_main_and_unlabelled() -> None:
    """Without marks the agent is unknown, the role main, nothing is side or labelled."""
    found = seen({})
    assert (found.agent, found.role, found.session) == ("unknown", "main", None)
    assert (found.workspace_label, found.side) == (None, False)


@pytest.mark.parametrize(
    ("headers", "facts", "route", "session"),
    [
        ({"x-ttsr-session": "own", "session-id": "s"}, NOTHING, Route(session="r"), "own"),
        ({"session-id": "s"}, NOTHING, Route(session="r"), "r"),
        (
            {"x-codex-turn-metadata": '{"thread_id": "t"}', "session-id": "s"},
            NOTHING,
            Route(),
            "t",
        ),
        ({"x-codex-turn-metadata": "broken", "session-id": "s"}, NOTHING, Route(), "s"),
        ({"x-codex-turn-metadata": '["t"]', "session-id": "s"}, NOTHING, Route(), "s"),
        ({"thread-id": "t", "session-id": "s"}, NOTHING, Route(), "t"),
        ({"x-session-affinity": "ses_1"}, NOTHING, Route(), "ses_1"),
        ({}, RequestFacts(hints=(("metadata.sessionId", "m"),)), Route(), "m"),
        ({}, NOTHING, Route(), None),
    ],
)
def test_session_is_what_names_it_most_surely(
    headers: dict[str, str], facts: RequestFacts, route: Route, session: str | None
) -> None:
    """Our own header, the path, the client's headers, then the body."""
    assert session_of(headers, facts, route, recognised(headers, facts)) == session


def test_headers_that_name_a_session_have_an_order() -> None:
    """Whoever asks: the first of them that is there counts."""
    names = ANY_AGENT.session_headers
    for at, name in enumerate(names):
        headers = {name: "1", **dict.fromkeys(names[at + 1 :], "2")}
        assert session_of(headers, NOTHING, NOWHERE, ANY_AGENT) == "1"


def test_cache_key_alone_does_not_join_conversations() -> None:
    """A key that an application uses for all it does is told apart by the first message."""
    hints = (("prompt_cache_key", "constant"),)
    one = seen({}, RequestFacts(first_user="a", hints=hints))
    same = seen({}, RequestFacts(first_user="a", last_user="z", hints=hints))
    other = seen({}, RequestFacts(first_user="b", hints=hints))
    assert one.session is not None
    assert one.session.startswith("constant-")
    assert one.session == same.session != other.session
    assert one.conversation == same.conversation != other.conversation


def test_conversation_label_follows_the_session_else_the_first_message() -> None:
    """The label is stable over a conversation's requests and apart between tenants."""
    first = seen({"session-id": "s"}, RequestFacts(first_user="a"))
    later = seen({"session-id": "s"}, RequestFacts(first_user="compacted"))
    assert first.conversation == later.conversation
    assert len(first.conversation) == 16
    stranger = seen({"session-id": "s", "authorization": "Bearer k"}, RequestFacts())
    assert stranger.conversation != first.conversation


@pytest.mark.parametrize(
    "headers",
    [
        {"x-parent-session-id": "p"},
        {"x-openai-subagent": "review"},
        {"x-codex-parent-thread-id": "p"},
        {"x-interaction-type": "conversation-subagent"},
    ],
)
def test_sub_agent_is_told_by_its_headers(headers: dict[str, str]) -> None:
    """Headers that name a parent, or say it outright, make the role sub."""
    assert seen(headers).role == "sub"


OPENCODE_TITLE = RequestFacts(
    system="You are a title generator. You output ONLY a thread title.",
    last_user="Generate a title for this conversation:\n",
)


def test_title_request_is_a_side_request() -> None:
    """No tools and a title generator's prompt, with the session of the main conversation."""
    found = seen({"x-session-id": "ses_1", "user-agent": "opencode/1"}, OPENCODE_TITLE)
    assert found.side
    assert found.session == "ses_1"


@pytest.mark.parametrize(
    ("headers", "facts", "side"),
    [
        ({}, RequestFacts(last_user="Create a detailed summary of the conversation so far."), True),
        ({}, RequestFacts(system="You write a short title for this chat."), True),
        ({}, RequestFacts(last_user="Summarize our conversation above."), True),
        ({}, RequestFacts(system="You are a context summarization agent."), True),
        ({}, RequestFacts(system="You are a context summarization agent.", tools=("a",)), False),
        ({}, RequestFacts(last_user="Summarize our conversation", tools=("bash",)), False),
        (
            {},
            RequestFacts(last_user="Summarize our conversation", tools=("a",), tools_off=True),
            True,
        ),
        ({}, RequestFacts(last_user="Write a title for my novel."), False),
        ({}, RequestFacts(last_user="x" * 400 + "Summarize our conversation"), False),
        ({"x-deepseek-harness-compact": "1"}, RequestFacts(tools=("bash",)), True),
        ({"x-openai-subagent": "compact", "originator": "codex_exec"}, NOTHING, True),
        ({"x-openai-subagent": "review", "originator": "codex_exec"}, NOTHING, False),
        ({"x-codex-turn-metadata": '{"request_kind":"compaction"}'}, NOTHING, True),
        ({"x-codex-turn-metadata": '{"request_kind":"turn"}'}, NOTHING, False),
    ],
)
def test_side_request_is_told_by_header_or_by_prompt_without_tools(
    headers: dict[str, str],
    facts: RequestFacts,
    side: bool,  # noqa: FBT001 - parameter
) -> None:
    """Titles, summaries and compactions; not a user who asks for something like it."""
    assert is_side_request(headers, facts, recognised(headers, facts)) is side


def test_edits_in_prose_are_told_by_a_prompt_without_tools() -> None:
    """A prompt that teaches edit blocks, or asks for them in the last message."""
    taught = "Return a *SEARCH/REPLACE block* for each change."
    assert seen({}, RequestFacts(system=taught)).prose_edits
    assert seen({}, RequestFacts(last_user="Use <old_text> and <new_text>.")).prose_edits
    assert not seen({}, RequestFacts(system=taught, tools=("bash",))).prose_edits
    assert seen({}, RequestFacts(system=taught, tools=("bash",), tools_off=True)).prose_edits
    assert not seen({}, RequestFacts(system="Be nice.")).prose_edits
    whole = RequestFacts(system="Act as an expert software developer. Return whole files.")
    assert seen({}, whole).prose_edits


@pytest.mark.parametrize(
    ("headers", "facts", "formats", "path"),
    [
        ({}, RequestFacts(system="Use <write_to_file>."), {ProseFormat.ELEMENTS}, ""),
        ({}, RequestFacts(system="Use <function=name>."), {ProseFormat.FUNCTIONS}, ""),
        ({}, RequestFacts(system="BEGIN_ARG: name"), {ProseFormat.ARGUMENT_LINES}, ""),
        (
            {"user-agent": "Zed/1.0"},
            RequestFacts(last_user="Use <old_text line=1>.\n<file_path>\nApp/a.rs\n</file_path>"),
            {ProseFormat.OLD_NEW},
            "App/a.rs",
        ),
        ({}, RequestFacts(system="Be nice."), set(), ""),
    ],
)
def test_prompt_says_in_which_formats_edits_come(
    headers: dict[str, str], facts: RequestFacts, formats: set[ProseFormat], path: str
) -> None:
    """What the prompt does not teach is not looked for; the file may be known from it too."""
    edits = seen(headers, facts).edits
    assert (set(edits.formats), edits.path) == (formats, path)


@pytest.mark.parametrize(
    ("agent", "system", "first_user", "label"),
    [
        ("opencode", "<env>\n  Working directory: /home/u/p\n</env>", "", "/home/u/p"),
        ("codex", "", "<environment_context>\n<cwd>/w/p</cwd>", "/w/p"),
        ("cline", "# Env\nWorking Directory: /w/p\n", "", "/w/p"),
        ("roo", "", "# Current Workspace Directory (/w/p) Files\n", "/w/p"),
        ("pi", "...\nCurrent working directory: /w/my p\n", "", "/w/my p"),
        ("oh-my-pi", "Current working directory: '/w/p'.", "", "/w/p"),
        ("qwen-code", "", "I'm currently working in the directory: /w/p\n", "/w/p"),
        ("continue", "Working directory: C:\\w\\p\n", "", "C:\\w\\p"),
        ("copilot", "", "<workspace_info>\nfolders:\n- /w/p\n</workspace_info>", "/w/p"),
        ("unknown", "your working directory is nice", "<cwd>/w/p</cwd>", "/w/p"),
        ("unknown", "nothing", "nothing", None),
    ],
)
def test_workspace_is_where_the_agent_says_it_works(
    agent: str, system: str, first_user: str, label: str | None
) -> None:
    """Each agent's way of naming its directory is read, in the prompt or the first message."""
    facts = RequestFacts(system=system, first_user=first_user)
    assert workspace_of({}, facts, BY_NAME.get(agent, ANY_AGENT)) == label


def test_workspace_of_the_request_goes_before_the_prompt() -> None:
    """What the request's own path or header says is not overruled."""
    facts = RequestFacts(system="Working directory: /other")
    assert seen({}, facts, Route(workspace="mine")).workspace_label == "mine"


def test_tenant_on_loopback_is_always_the_same() -> None:
    """There is one user of a proxy that only this machine reaches."""
    policy = TenantPolicy(secret=b"s", loopback=True)
    assert tenant_of({"authorization": "Bearer a"}, policy) == "local"
    assert tenant_of({}, policy) == "local"


def test_tenant_header_counts_on_loopback_too() -> None:
    """A gateway beside the proxy names its users; who is not named is the machine's user."""
    policy = TenantPolicy(secret=b"s", loopback=True, header="x-tenant")
    one, other = (tenant_of({"x-tenant": name}, policy) for name in ("a", "b"))
    assert len({one, other, "local"}) == 3
    assert tenant_of({"x-tenant": "", "authorization": "Bearer a"}, policy) == "local"


def test_tenant_is_told_by_the_surest_sign() -> None:
    """The trusted header, then the JWT's subject, then the account, then the key."""
    headers = {"authorization": jwt({"iss": "i", "sub": "u"}), "chatgpt-account-id": "a"}
    by_jwt = tenant_of(headers, REMOTE)
    renewed = headers | {"authorization": jwt({"iss": "i", "sub": "u", "exp": 2})}
    assert tenant_of(renewed, REMOTE) == by_jwt
    assert tenant_of(headers | {"authorization": "Bearer sk-1"}, REMOTE) != by_jwt
    trusting = TenantPolicy(secret=b"installation", loopback=False, header="x-tenant")
    one = tenant_of(headers | {"x-tenant": "t"}, trusting)
    assert one == tenant_of({"x-tenant": "t"}, replace(trusting, header="X-Tenant"))
    assert one == tenant_of({"x-tenant": "t"}, trusting) != by_jwt
    assert tenant_of(headers | {"x-tenant": "t"}, REMOTE) == by_jwt


def test_tenant_of_one_key_is_the_same_in_every_header() -> None:
    """The key counts, not how it was sent; other keys and secrets give other tenants."""
    one = tenant_of({"authorization": "Bearer sk-1"}, REMOTE)
    assert tenant_of({"x-api-key": "sk-1"}, REMOTE) == one
    assert tenant_of({"api-key": "sk-2"}, REMOTE) != one
    other = TenantPolicy(secret=b"other", loopback=False)
    assert tenant_of({"x-api-key": "sk-1"}, other) != one


@pytest.mark.parametrize(
    "credential", ["Bearer a.b.c", "Bearer a.!!.c", jwt([1]), jwt({"iss": "i"}), "Bearer ...", ""]
)
def test_tenant_of_a_credential_that_is_no_jwt_is_its_hash(credential: str) -> None:
    """Whatever looks like a JWT but is none counts as a key."""
    assert len(tenant_of({"authorization": credential}, REMOTE)) == 32


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=40))
def test_credentials_never_leave(tail: str) -> None:
    """No field of an identity holds the credential."""
    # A key that cannot be part of a field's name, nor look different once it is quoted.
    key = "sk-" + tail.replace("\\", "/").replace("'", '"')
    found = seen({"authorization": f"Bearer {key}", "x-api-key": key})
    assert key not in repr(found)


def test_long_first_message_is_told_by_its_beginning_and_length() -> None:
    """A label costs the same whatever stands in the message; another length is another label."""

    def label(text: str) -> str:
        facts = RequestFacts(first_user=text)
        return identify({}, facts, NOWHERE, REMOTE, RECOGNISER).conversation

    long = "x" * 100_000
    assert label(long) == label(long)
    assert len({label(long), label(long + "x"), label("y" + long[1:]), label("x")}) == 4
