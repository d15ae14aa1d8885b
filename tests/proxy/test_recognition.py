from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.agents import ANY_AGENT, Agent, HeaderMark, Marks, collect
from proxy.recognition import PROMPT_HEAD, Recogniser

AGENTS = collect()


def recognise(
    headers: Mapping[str, str],
    agents: Iterable[Agent] = AGENTS,
    *,
    tools: Sequence[str] = (),
    system: str = "",
) -> Agent:
    return Recogniser(agents).agent(headers, tools, system)


def weighed(headers: Mapping[str, str], tools: Sequence[str], system: str, agent: Agent) -> Any:
    """Weigh every mark of one agent, with no regard to any other: the law, as it is written."""
    marks, prompt = agent.marks, system[:PROMPT_HEAD].lower()
    named = headers.get("user-agent", "")
    matches = [re.search(pattern, prompt) for pattern in marks.prompt]
    starts = [match.start() for match in matches if match is not None]
    declared = [len(own) for own in marks.tools if own <= set(tools)]
    kinds = (
        any(
            mark.name in headers and re.search(mark.pattern, headers[mark.name], re.IGNORECASE)
            for mark in marks.headers
        ),
        any(re.search(pattern, named, re.IGNORECASE) for pattern in marks.user_agent),
        bool(starts),
        bool(declared),
    )
    return kinds, -min(starts, default=0), max(declared, default=0)


def weighing(
    headers: Mapping[str, str], tools: Sequence[str], system: str, agents: Sequence[Agent]
) -> Agent:
    """Recognise by weighing all agents."""
    weights = [(weighed(headers, tools, system, agent), agent) for agent in agents]
    best = max(weight for weight, _ in weights)
    if not any(best[0]):
        return ANY_AGENT
    return min((agent for weight, agent in weights if weight == best), key=lambda a: a.name)


def some(values: Sequence[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(values), max_size=2).map(tuple)


MARKS = st.builds(
    Marks,
    headers=some([HeaderMark(name, value) for name, value in product("hi", ("", "x", "^y"))]),
    user_agent=some(["u", "v", "^w"]),
    prompt=some(["p", "q", "pq", "$"]),
    tools=some([frozenset(each) for each in ("1", "12", "23", "123")]),
)
CREWS = st.lists(MARKS, min_size=1, max_size=4).map(
    lambda crew: [Agent(name, marks) for name, marks in zip("dbac", crew, strict=False)]
)
HEADERS = st.dictionaries(
    st.sampled_from(["h", "i", "user-agent"]), st.text("xXyYuUvVwW", max_size=3)
)
NAMES = ["Cline", "Codex", "Crush", "opencode", "Kilo", "Roo", "GitHub Copilot", "Codex CLI", "pi"]
MARKED = sorted({mark.name for agent in AGENTS for mark in agent.marks.headers})
TOOLS = sorted({name for agent in AGENTS for own in agent.marks.tools for name in own})


@given(HEADERS, st.lists(st.sampled_from("123")), st.text("pqPQ ", max_size=5), CREWS)
def test_most_likely_agent_is_found_as_by_weighing_all(
    headers: dict[str, str], tools: list[str], system: str, agents: list[Agent]
) -> None:
    """Whatever is not looked at, and whatever is remembered, changes no answer."""
    recogniser = Recogniser(agents)
    for _ in ("met now", "met before"):
        found = recogniser.agent(headers, tools, system)
        assert found == weighing(headers, tools, system, agents)


REMEMBERING = Recogniser(AGENTS)


@given(
    st.dictionaries(st.sampled_from(MARKED), st.sampled_from([*NAMES, "cli", "1"]), max_size=2),
    st.sampled_from(["", "node", *(f"{name}/1.2" for name in NAMES)]),
    st.lists(st.sampled_from(TOOLS), max_size=8),
    st.lists(st.sampled_from([*NAMES, "You are", "an agent for", "user", "\n"]), max_size=6),
)
def test_known_agents_are_found_as_by_weighing_all(
    headers: dict[str, str], named: str, tools: list[str], words: list[str]
) -> None:
    """The same of the agents that there are, by one recogniser that remembers."""
    headers["user-agent"], system = named, " ".join(words)
    expected = weighing(headers, tools, system, AGENTS)
    assert REMEMBERING.agent(headers, tools, system) == expected


def test_surer_mark_wins() -> None:
    """A header of an agent's own outweighs a user agent, that a prompt, that the tools."""
    system, tools = "You are Cline", ("apply_diff", "write_to_file")
    assert recognise({}, tools=tools, system=system).name == "cline"
    headers = {"user-agent": "opencode/1"}
    assert recognise(headers, tools=tools, system=system).name == "opencode"
    headers["x-kilo-session"] = "1"
    assert recognise(headers, tools=tools, system=system).name == "kilo"


def test_exactly_one_agent_is_recognised_on_a_tie() -> None:
    """Among equals it is the first by name."""
    two = [Agent(name, Marks(user_agent=("same",))) for name in ("b", "a")]
    assert recognise({"user-agent": "SAME"}, two).name == "a"
    assert recognise({}, two) == ANY_AGENT


def test_among_equals_the_more_specific_agent_is_recognised() -> None:
    """The prompt says first who it is; of declared tools the larger set shows it."""
    prompt = "You are Cline.\nYour user also works with GitHub Copilot."
    assert recognise({}, system=prompt).name == "cline"
    small = Agent("a", Marks(tools=(frozenset({"edit"}),)))
    large = Agent("b", Marks(tools=(frozenset({"edit", "write"}),)))
    for agents in ((small, large), (large, small)):
        assert recognise({}, agents, tools=("edit", "write", "bash")) == large
        assert recognise({}, agents, tools=("edit",)) == small


def test_header_mark_is_found_in_any_case() -> None:
    """Values are compared without regard to case, names as servers give them."""
    agent = Agent("a", Marks(headers=(HeaderMark("x-title", "^my agent$"),)))
    assert recognise({"x-title": "My Agent"}, [agent]) == agent
    assert recognise({"x-title": "My Agents"}, [agent]) == ANY_AGENT


def test_surer_marks_outweigh_all_of_the_others() -> None:
    """Of any two agents the one with the surest mark that the other lacks sent the request."""
    kinds: tuple[dict[str, Any], ...] = (
        {"headers": (HeaderMark("x-mark"),)},
        {"user_agent": ("tool",)},
        {"prompt": ("you are",)},
        {"tools": (frozenset({"t"}),)},
    )
    headers = {"x-mark": "1", "user-agent": "tool/1"}

    def agent(name: str, marked: tuple[bool, ...]) -> Agent:
        shown: dict[str, Any] = {}
        for kind, there in zip(kinds, marked, strict=True):
            shown |= kind if there else {}
        return Agent(name, marks=Marks(**shown))

    for first, second in product(product((True, False), repeat=4), repeat=2):
        expected = "a" if first >= second else "b"
        both = (agent("a", first), agent("b", second))
        found = recognise(headers, both, tools=("t",), system="You are it.")
        assert found.name == (expected if any((*first, *second)) else ANY_AGENT.name)
