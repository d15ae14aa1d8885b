"""What watches an attempt, made once for all that are armed alike."""

from __future__ import annotations

from rules_engine.armed import Armed
from rules_engine.arming import Arming
from rules_engine.policy import ReleaseMode, ToolRefusal
from rules_engine.roster import Watch
from rules_engine.scope import Surface
from tests.support.rules import rule_text, ruleset

RULES = ruleset(
    loud=rule_text(condition=[r"import\s+a", r"import\s+b"], scope="text, thinking"),
    quiet=rule_text(condition="c", scope="text, tool", interruptMode="never"),
    tool=rule_text(condition="d", scope="tool"),
)
LOUD, QUIET, TOOL = RULES.live
ARMING = Arming.of(RULES, {}, ToolRefusal.ALWAYS, observe=False)


def armed(*holding: str, release: ReleaseMode = ReleaseMode.SAFE) -> Armed:
    return Armed.of(ARMING, frozenset(holding), release, RULES.matcher)


def test_rules_are_parted_by_what_they_watch() -> None:
    """On prose a roster a surface; on tools those that may keep a call back are known."""
    watching = armed("loud")
    assert watching.roster(Surface.TEXT).watches == (
        Watch(LOUD, holds=True),
        Watch(QUIET, holds=False),
    )
    assert watching.roster(Surface.THINKING).watches == (Watch(LOUD, holds=True),)
    assert (watching.tools, watching.refusing) == ((QUIET, TOOL), (TOOL,))


def test_attempts_that_are_armed_alike_share_everything() -> None:
    """What holds, and when text is let go, makes a difference."""
    first = armed("loud")
    assert armed("loud") is first
    assert first.roster(Surface.TEXT) is armed("loud").roster(Surface.TEXT)
    assert armed() is not first
    assert armed("loud", release=ReleaseMode.CUT) is not first


def test_what_is_put_together_later_serves_what_opens_later() -> None:
    """Bunches are made in the background, once."""
    rules = ruleset(loud=rule_text(condition=[r"import\s+a", r"import\s+b"]))
    arming = Arming.of(rules, {}, ToolRefusal.ALWAYS, observe=False)
    watching = Armed.of(arming, frozenset({"loud"}), ReleaseMode.SAFE, rules.matcher)
    assert not watching.roster(Surface.TEXT).bunches
    assert rules.matcher is not None
    rules.matcher.bunch(fewest=2)
    assert watching.roster(Surface.TEXT).bunches


def test_what_is_kept_is_bounded() -> None:
    """However many combinations of rules hold in some attempt."""
    for number in range(100):
        armed(f"r{number}")
    assert len(ARMING.memo) <= 4
