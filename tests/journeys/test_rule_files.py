"""Two hundred damaged and hostile rule files: a rule or a problem each, and the server goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.workspace import WorkspaceOptions, Workspaces
from rules_engine.ruleset import RuleSet
from tests.support.agent import agent_at, sent, write_rules
from tests.support.chat import chat_reply
from tests.support.mutated_rules import looped_links, mutated
from tests.support.rules import rule_text
from tests.support.upstream import ScriptedUpstream

pytestmark = pytest.mark.anyio

GOOD = rule_text("Say it kindly.", condition="FORBIDDEN", scope="text", interruptMode="always")
# Some of the damaged files are rules that hit nearly anything.
QUIET = {"interruptMode": "never"}


def write_all(workspace: Path, seed: int) -> set[str]:
    """Write every mutation and one rule that is fine; give the paths as they are shown."""
    write_rules(workspace, good=GOOD)
    folder = workspace / ".omp" / "rules"
    names = looped_links(folder)
    for name, content in mutated(seed):
        (folder / f"{name}.md").write_bytes(content)
        names.append(name)
    assert len(names) == 200
    return {f".omp/rules/{name}.md" for name in names}


async def rules_of(workspace: Path) -> RuleSet:
    options = WorkspaceOptions(workspace=workspace, home=workspace / "home", rules_timeout=60)
    workspaces = Workspaces(options)
    try:
        return await workspaces.ruleset()
    finally:
        workspaces.close()


async def test_each_damaged_file_is_a_rule_or_a_problem(tmp_path: Path) -> None:
    """None is passed over in silence, none raises, and every problem can be told."""
    paths = write_all(tmp_path, 0)
    ruleset = await rules_of(tmp_path)
    rules = {listed.rule.path: listed.rule for listed in ruleset.listed}
    faulty = {problem.file for problem in ruleset.problems}
    assert paths - rules.keys() - faulty == set()
    assert all(rules[path].body.strip() for path in paths & rules.keys())
    assert all(problem.render() for problem in ruleset.problems)
    assert "good" in {live.rule.name for live in ruleset.live}
    assert faulty <= paths


async def test_server_goes_on_beside_damaged_files(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The rule that is fine does its work, and the audit lists the files that are not."""
    paths = write_all(tmp_path, 2)
    upstream.script(chat_reply("A FORBIDDEN word"), chat_reply("Better."), chat_reply("Again."))
    async with agent_at(upstream, tmp_path, rules_timeout=60, ttsr=QUIET) as agent:
        message = await agent.ask("hi")
        assert message["content"].endswith("Better.")
        assert "Say it kindly." in sent(upstream)[-1]["content"]
        found = await agent.http.get(f"{agent.proxy.origin}/audit")
        files = {problem["file"] for problem in found.json()["problems"]}
        assert files <= paths
        assert len(files) > 80
        for path in paths:
            (tmp_path / path).unlink()
        while (await agent.http.get(f"{agent.proxy.origin}/audit")).json()["problems"]:
            pass  # files are looked at again after half a second
        assert (await agent.ask("more"))["content"] == "Again."
