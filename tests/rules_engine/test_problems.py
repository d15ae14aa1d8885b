from __future__ import annotations

from rules_engine.problems import FAULTS, Code, Problem, Severity


def test_codes_all_have_a_fault_with_a_next_step() -> None:
    """No code can be reported without saying how bad it is and what to do."""
    assert set(FAULTS) == set(Code)
    assert all(fault.says and fault.advice for fault in FAULTS.values())


def test_render_names_file_line_field_found_allowed_and_next_step() -> None:
    """One line tells an author everything that is needed to mend the file."""
    problem = Problem(
        Code.BAD_INTERRUPT_MODE, "r.md", "interruptMode", 3, "Neverr", "never, always"
    )
    line = problem.render()
    for part in ("r.md:3", "error[bad-interrupt-mode]", "`interruptMode`", "found `Neverr`"):
        assert part in line
    assert "allowed: never, always" in line
    assert line.endswith(f"Next step: {problem.advice}.")


def test_render_stays_on_one_bounded_line() -> None:
    """Text of a rule file cannot forge further lines or control characters."""
    line = Problem(Code.BAD_YAML, "a\nb.md", found="x\ny\x1b[31m" + "z" * 9999).render()
    assert "\n" not in line
    assert "\x1b" not in line
    assert len(line) < 500


def test_severity_follows_the_code() -> None:
    """A switched-off file is no fault; a misspelt mode is one."""
    assert Problem(Code.SWITCHED_OFF, "r.md").severity is Severity.NOTE
    assert Problem(Code.BAD_INTERRUPT_MODE, "r.md").severity is Severity.ERROR
