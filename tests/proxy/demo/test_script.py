from __future__ import annotations

import json

from proxy.demo.script import STORY


def test_every_call_of_the_story_has_arguments_that_parse() -> None:
    """A call names a tool that the agent declares, and a file."""
    calls = [said for asked in STORY for said in asked.answers if said.tool]
    assert {said.tool for said in calls} == {"write", "edit"}
    assert all(json.loads(said.arguments)["path"].endswith(".ts") for said in calls)


def test_only_the_last_answer_ends_the_story() -> None:
    """The agent has a result to send for every request but the last."""
    assert [bool(asked.answers[-1].tool) for asked in STORY] == [True, True, False]
