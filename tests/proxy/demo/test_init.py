from __future__ import annotations

from proxy import demo


def test_demo_shows_each_thing_that_a_rule_can_do() -> None:
    """An interrupt in prose and in a call, a refusal, a reminder on both later requests."""
    said: list[str] = []
    demo.run(said.append, keep=False)
    shown = "\n".join(said)
    audit = shown[shown.index("Audit") :]
    for action in ("interrupt", "refuse", "tool_reminder"):
        assert action in audit
    assert shown.count("as the result of the first call") == 2
    assert shown.count("cut, told") == 2
    assert shown.count("refused, told") == 1


def test_client_gets_no_character_of_a_violation() -> None:
    """What the client gets holds neither the claim nor the forbidden type."""
    said: list[str] = []
    demo.run(said.append, keep=False)
    got = [part for part in said if part.startswith("  client gets")]
    assert len(got) == 3
    assert not any("tests pass" in part or ": any" in part for part in got)
