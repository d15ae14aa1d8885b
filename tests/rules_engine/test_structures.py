from __future__ import annotations

import pickle

from rules_engine.structures import job_of, too_large
from rules_engine.triggers.structure import LARGEST
from tests.support.rules import rule_text, ruleset

RULES = ruleset(
    one=rule_text(astCondition="debugger", scope="tool"),
    two=rule_text(astCondition="eval($X)", scope="tool"),
).live


def test_one_parse_answers_every_rule() -> None:
    """Each rule that has a match is named with its first."""
    text = "eval(a);\ndebugger;\neval(b);\n"
    job = job_of((0, 0), "k", ("a.ts",), text, language="typescript", rules=RULES)
    assert job is not None
    found = dict(job.search.run())
    assert {name: text[span.start : span.end] for name, span in found.items()} == {
        "one": "debugger",
        "two": "eval(a)",
    }


def test_search_can_be_sent_to_another_process() -> None:
    """What is searched and for what survives pickling."""
    job = job_of((0, 0), "k", ("a.ts",), "debugger;", language="typescript", rules=RULES)
    assert job is not None
    sent = pickle.dumps(job.search)
    assert pickle.loads(sent).run() == job.search.run()  # noqa: S301 - made a line above


def test_nothing_is_searched_without_language_source_or_structures() -> None:
    """An unknown extension, an empty text, rules of patterns alone: no job."""
    patterns = ruleset(foo=rule_text(condition="x")).live
    assert job_of((0, 0), "k", (), "debugger;", language=None, rules=RULES) is None
    assert job_of((0, 0), "k", (), "  \n", language="typescript", rules=RULES) is None
    assert job_of((0, 0), "k", (), "x", language="typescript", rules=patterns) is None


def test_very_large_source_is_left_unchecked() -> None:
    """The limit is in characters of one section."""
    assert too_large("x" * (LARGEST + 1))
    assert not too_large("x" * LARGEST)


def test_text_that_may_go_on_is_searched_where_it_is_closed() -> None:
    """The first match of each rule counts, if nothing that follows can undo it."""
    text = "eval(a);\nfunction f() {\n  debugger;\n  eval(b\n"
    job = job_of((0, 0), "k", ("a.ts",), text, language="typescript", rules=RULES)
    assert job is not None
    found = job.search.run_closed()
    assert {name: text[span.start : span.end] for name, span in found} == {
        "one": "debugger",
        "two": "eval(a)",
    }
    clean = job_of((0, 0), "k", ("a.ts",), "a();\nb();\n", language="typescript", rules=RULES)
    assert clean is not None
    assert clean.search.run_closed() == ()
