"""How each agent is recognised and what its tools mean; one file an agent.

Everything here is data. A file defines `AGENT`; `collect` finds it.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from proxy.conversation import Call, Message
from rules_engine.families import ProseFormat, ToolFamily, bare_name


@dataclass(frozen=True, slots=True)
class HeaderMark:
    """A header that is there, with a value that the pattern is found in (any case)."""

    name: str
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """How a request shows which agent sent it, surest first.

    headers: one of them suffices. user_agent: patterns. prompt: patterns, looked for near the
    beginning of the system prompt, which is put in lower case for it. tools: sets of declared
    tools, one of which is there whole.
    """

    headers: tuple[HeaderMark, ...] = ()
    user_agent: tuple[str, ...] = ()
    prompt: tuple[str, ...] = ()
    tools: tuple[frozenset[str], ...] = ()


@dataclass(frozen=True, slots=True)
class Taught:
    """A pattern of a prompt (in lower case) that asks for edits or calls inside the answer's text.

    formats: those that it speaks of; none: the text is not read for them, but is held whole.
    """

    pattern: str
    formats: tuple[ProseFormat, ...] = ()


@dataclass(frozen=True, slots=True)
class SidePrompt:
    """A pattern of a prompt, or of a last message, that asks for something beside the conversation.

    what: "title", "summary", "compaction", … tools: also where the request declares tools.
    """

    what: str
    pattern: str
    tools: bool = False


class Api(StrEnum):
    """What an agent asks for over the wire."""

    CHAT = "chat completions"
    RESPONSES = "Responses"


@dataclass(frozen=True, slots=True)
class Setting:
    """How a user points the agent at the proxy: a block of text, and where it goes.

    The proxy is at `http://127.0.0.1:8787` in it. where: empty for a command.
    """

    language: str
    text: str
    where: str = ""


OPENAI_COMPATIBLE = Setting(
    "text",
    """\
Base URL   http://127.0.0.1:8787/v1
Model ID   MODEL
""",
    where="In its settings, with the provider *OpenAI Compatible*",
)
"""The form that several editors' extensions have."""


@dataclass(frozen=True, slots=True)
class Agent:
    """One coding agent.

    title: how it calls itself. fork_of: the agent whose tools it has too. apis: what it can ask
    for. settings: ways to point it at the proxy. limits: what is not understood of it, and why.
    session_headers: name the conversation, strongest first; session_json: the same inside a
    header that holds JSON (header, key); session_body: keys of the body that do.
    sub_agent, sub_prompts: marks of a request by a sub-agent, patterns of its prompt.
    side_headers, side_prompts: marks of a request for a title, a summary or a compaction.
    workspace: patterns whose first group is the workspace, in the prompt or first user message;
    they begin with letters that stand there exactly, so that long prompts are searched quickly.
    workspace_json: an object inside a header that holds JSON, whose first key it is (header, key).
    prose_formats: what its prompts teach; prose_path: patterns whose first group is the file that
    an answer without its name is for, in the last user message.
    """

    name: str
    marks: Marks = Marks()
    families: tuple[ToolFamily, ...] = ()
    title: str = ""
    fork_of: str = ""
    session_headers: tuple[str, ...] = ()
    session_json: tuple[tuple[str, str], ...] = ()
    session_body: tuple[str, ...] = ()
    sub_agent: tuple[HeaderMark, ...] = ()
    sub_prompts: tuple[str, ...] = ()
    side_headers: tuple[HeaderMark, ...] = ()
    side_prompts: tuple[SidePrompt, ...] = ()
    workspace: tuple[str, ...] = ()
    workspace_json: tuple[tuple[str, str], ...] = ()
    prose_formats: tuple[Taught, ...] = ()
    prose_path: tuple[str, ...] = ()
    apis: tuple[Api, ...] = (Api.CHAT,)
    settings: tuple[Setting, ...] = ()
    limits: tuple[str, ...] = ()


_TITLE = r"\btitle (?:\([^)\n]{1,40}\) )?(?:for|of|that \w+)"
_OF_IT = r"(?:the|this|our|a) (?:\w+ ){0,3}(?:conversation|session|chat)\b"

ANY_AGENT = Agent(
    name="unknown",
    session_headers=(
        "thread-id",
        "session-id",
        "session_id",
        "x-session-id",
        "x-session-affinity",
        "agent-session-id",
        "goose-session-id",
        "x-goose-session-id",
        "x-deepseek-harness-session-id",
        "x-litellm-session-id",
        "x-opencode-session",
        "x-kilo-session",
        "x-roo-task-id",
        "x-task-id",
        "x-grok-conv-id",
    ),
    session_json=(("x-codex-turn-metadata", "thread_id"),),
    sub_agent=(
        HeaderMark("x-parent-session-id"),
        HeaderMark("x-codex-parent-thread-id"),
        HeaderMark("x-openai-subagent"),
    ),
    side_headers=(HeaderMark("x-deepseek-harness-compact", "1"),),
    session_body=("metadata.sessionId", "metadata.session_id"),
    side_prompts=(
        SidePrompt("title", r"\btitle generator\b"),
        SidePrompt(
            "title", rf"{_TITLE} (?:the|this|an?|our) (?:\w+ ){{0,3}}(?:conversation|chat)\b"
        ),
        SidePrompt("title", rf"{_TITLE} (?:the|this|an?|our) (?:\w+ ){{0,3}}(?:session|thread)\b"),
        SidePrompt("title", r"\bshort title based on the first message\b"),
        SidePrompt("summary", rf"\bsummari[sz]\w* {_OF_IT}"),
        SidePrompt("summary", rf"\bsummary of {_OF_IT}"),
        SidePrompt("summary", r"\bconversation to summari[sz]e\b"),
        SidePrompt(
            "compaction",
            r"\b(?:context|conversation|history) (?:checkpoint )?(?:compaction|summari[sz]ation)\b",
        ),
        SidePrompt(
            "compaction",
            r"\bcompact(?:ing)? (?:the|this|our) (?:\w+ ){0,2}(?:conversation|history|context)\b",
        ),
        SidePrompt("compaction", r"\bprompt for continuing (?:the|this|our) conversation\b"),
    ),
    prose_formats=(
        Taught(r"search/replace", (ProseFormat.SEARCH_REPLACE,)),
        Taught(r"<old_text\b", (ProseFormat.OLD_NEW,)),
        Taught(r"<(?:write_to_file|replace_in_file|apply_diff)>", (ProseFormat.ELEMENTS,)),
        Taught(r"<function=", (ProseFormat.FUNCTIONS,)),
        Taught(r"\bbegin_arg:", (ProseFormat.ARGUMENT_LINES,)),
    ),
    workspace=(
        r"<cwd>\s*([^<\r\n]+?)\s*</cwd>",
        r"orking [Dd]irectory\s*:?[ \t]*['\"`]?((?:/|~|[A-Za-z]:[\\/])[^'\"`<>\r\n]*)",
        r"orking in the directory\s*:?\s*['\"`]?((?:/|~|[A-Za-z]:[\\/])[^'\"`<>\r\n]*)",
    ),
)
"""What holds whoever asks: marks that several agents share, and those of agents not listed."""


def collect() -> tuple[Agent, ...]:
    """Find the agents of this folder, by name."""
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    return checked(importlib.import_module(f"{__name__}.{name}").AGENT for name in modules)


def checked(agents: Iterable[Agent]) -> tuple[Agent, ...]:
    """Sort agents by name. Raises ValueError for two of one name."""
    agents = tuple(agents)
    names = [agent.name for agent in agents]
    if len(set(names)) < len(names):
        raise ValueError(f"two agents have the same name: {sorted(names)}")
    return tuple(sorted(agents, key=lambda agent: agent.name))


def tool_families(agents: Iterable[Agent], first: str) -> tuple[ToolFamily, ...]:
    """Give every known family, those of the agent named `first` and of what it forked in front.

    All of them, because agents borrow each other's tools and are not always recognised; but only
    that agent's own paths are taken to begin with the workspace's folder, and only for its own
    tools is it asked which file was opened before.
    """
    known = tuple(agents)
    own = [first, *(agent.fork_of for agent in known if agent.name == first)]
    ordered = sorted(known, key=lambda agent: own.index(agent.name) if agent.name in own else 2)
    families = (
        family if agent.name == first else replace(family, rooted=False, opened_by=())
        for agent in ordered
        for family in agent.families
    )
    return tuple(dict.fromkeys(families))


def with_open_file(
    families: tuple[ToolFamily, ...], messages: Sequence[Message]
) -> tuple[ToolFamily, ...]:
    """Tell tools that edit the open file which it is: the one that the last such call named."""
    ways = {family.opened_by for family in families} - {()}
    if not ways:
        return families
    calls = [call for message in messages for call in message.calls]
    files = {way: _opened(dict(way), calls) for way in ways}
    return tuple(replace(each, file=files.get(each.opened_by, "")) for each in families)


def _opened(by: Mapping[str, str], calls: Sequence[Call]) -> str:
    for call in reversed(calls):
        argument = by.get(bare_name(call.name))
        try:
            arguments = json.loads(call.arguments) if argument else None
        except (ValueError, RecursionError):
            continue
        file = arguments.get(argument) if isinstance(arguments, dict) else None
        if isinstance(file, str) and file:
            return file
    return ""
