from __future__ import annotations

import pytest

from proxy.agents import collect
from proxy.agents.aider import AGENT
from proxy.identity import RequestFacts, edits_in_prose, is_side_request, recognise
from rules_engine.families import ProseFormat


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        (
            {"user-agent": "OpenAI/Python 2.1"},
            "Act as an expert software developer.\nUse a *SEARCH/REPLACE block* for every change.",
            (),
        ),
        ({}, "Act as an expert code analyst.\nAnswer questions.", ()),
        ({}, "Act as an expert architect engineer and provide direction.", ()),
        ({}, "You are an expert on the AI coding tool called Aider.", ()),
        ({}, "You write concise, one-line Git commit messages based on the provided diffs.", ()),
        ({}, "*Briefly* summarize this partial conversation about programming.", ()),
    ],
)
def test_request_is_recognised(
    headers: dict[str, str], system: str, tools: tuple[str, ...]
) -> None:
    """Each mark alone shows the agent, and no other."""
    facts = RequestFacts(system=system, tools=tools)
    assert recognise(headers, facts, collect()) == AGENT


def test_summary_of_the_chat_is_a_side_request() -> None:
    """It replaces old messages, so rules only watch it; a commit message is an answer."""
    summary = RequestFacts(
        system="*Briefly* summarize this partial conversation about programming."
    )
    commit = RequestFacts(
        system="You write one-line Git commit messages based on the provided diffs."
    )
    assert is_side_request({}, summary, AGENT)
    assert not is_side_request({}, commit, AGENT)


@pytest.mark.parametrize(
    ("system", "more"),
    [
        ("Answer with *SEARCH/REPLACE blocks*.", set()),
        ("Return a *file listing* of each file.", {ProseFormat.WHOLE_FILE}),
    ],
)
def test_prompt_of_each_mode_says_how_files_are_edited(system: str, more: set[ProseFormat]) -> None:
    """Whole files are looked for in their own mode only; the other formats cannot be mistaken."""
    facts = RequestFacts(system=f"Act as an expert software developer.\n{system}")
    edits = edits_in_prose(facts, AGENT)
    assert edits is not None
    always = {ProseFormat.SEARCH_REPLACE, ProseFormat.UNIFIED, ProseFormat.ENVELOPE}
    assert set(edits.formats) == always | more
