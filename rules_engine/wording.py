"""Every sentence that a model will ever read from us, and its escaping.

Elements and attributes are those of oh-my-pi and dsh-rules; `path` is the rule's own file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rules_engine.decisions import Hit
from rules_engine.rule import Rule
from rules_engine.scope import Surface

INTERRUPT = "system-interrupt"
REMINDER = "system-reminder"

_OWN_ELEMENT = re.compile(r"<(?=/?\s*system-(?:interrupt|reminder)\b)", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ENFORCED = (
    "This comes from the tool that enforces the rules which the user keeps with this project; "
    "it is not a prompt injection."
)
_ANEW = (
    "give the whole answer again from its beginning, since nothing of it has been delivered or "
    "applied"
)


def interrupt(hits: Sequence[Hit], *, anew: bool = False) -> str:
    """The note of an interrupt: one block a rule, in the order of the hits.

    `anew`: nothing of the answer was delivered, and a part of it is of no use.
    """
    go_on = _ANEW if anew else "continue with the task from here"
    return _blocks(
        (
            _block(
                INTERRUPT,
                hit.rule,
                f"{_stopped(hit)} {_ENFORCED} Follow the rule below and "
                f"{go_on}; do not mention this message.",
            )
            for hit in _by_rule(hits)
        ),
    )


def refusal(hits: Sequence[Hit]) -> str:
    """The result of a refused call: why it was not run, one block a rule."""
    return _blocks(
        (
            _block(
                INTERRUPT,
                hit.rule,
                f"{_refused(hit)} {_ENFORCED} Make the call again in a "
                "form that follows the rule below.",
            )
            for hit in _by_rule(hits)
        ),
    )


def not_run() -> str:
    """The result of a call that was clean but stood beside a refused one."""
    return (
        "This call was not run, because another call of the same message broke a rule of this "
        "project. Make it again together with the corrected one if it is still needed."
    )


def tool_reminder(hits: Sequence[Hit]) -> str:
    """What stands in front of a call's result: the call ran, but it matched a rule."""
    return _blocks(
        (
            _block(
                REMINDER,
                hit.rule,
                f"{_ran(hit)} {_ENFORCED} Follow the rule below from now "
                "on, and put right what this call left behind.",
            )
            for hit in _by_rule(hits)
        ),
    )


def prose_reminder(hits: Sequence[Hit]) -> str:
    """What follows a message whose prose matched a rule that does not interrupt."""
    return _blocks(
        (
            _block(
                REMINDER, hit.rule, f"{_said(hit)} {_ENFORCED} Follow the rule below from now on."
            )
            for hit in _by_rule(hits)
        ),
    )


def withheld(hits: Sequence[Hit]) -> str:
    """What the client's user reads when a call stays refused after the last attempt."""
    calls = ", ".join(dict.fromkeys(f"`{hit.tool or 'tool'}`{_on(hit.path)}" for hit in hits))
    rules = ", ".join(dict.fromkeys(f"`{hit.rule.name}` ({hit.rule.path})" for hit in hits))
    return (
        f"The call {calls} was withheld and not run: it still broke the rule {rules} after the "
        "last allowed attempt. Change the request or the rule to go on."
    )


def always_layer(rules: Sequence[Rule]) -> str:
    """The rules that always apply, whole, for the system prompt; empty without any."""
    if not rules:
        return ""
    bodies = (
        f'<rule name="{_attribute(rule.name)}">\n{rule.body.strip()}\n</rule>' for rule in rules
    )
    return "\n\n".join(("<generic-rules>", *bodies, "</generic-rules>"))


def rulebook_layer(rules: Sequence[Rule]) -> str:
    """The rules that apply in a domain, by name, file and description; empty without any."""
    if not rules:
        return ""
    lines = (_entry(rule) for rule in rules)
    guidance = (
        "The full text of these rules is not in this conversation. Before you work in the domain "
        "of one of them, read its file, and follow it."
    )
    return "\n".join(("<domain-rules>", *lines, "", guidance, "</domain-rules>"))


def _entry(rule: Rule) -> str:
    globs = ", ".join(glob.pattern for glob in rule.globs)
    where = f" ({globs})" if globs else ""
    return f"- {rule.name}{where}: {rule.description} [{rule.path}]"


def seam(released: str) -> str:
    """Text between what the client saw of a cut attempt and the next one: never empty.

    Closes a code fence that is still open (CommonMark's fences), then leaves a blank line.
    """
    fence = _open_fence(released)
    start = "" if released.endswith("\n") else "\n"
    return f"{start}{fence}\n\n" if fence else f"{start}\n"


def _open_fence(text: str) -> str:
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found is None:
            continue
        mark, info = found.group(1), found.group(2)
        if not fence:
            fence = mark if mark[0] == "~" or "`" not in info else ""
        elif mark[0] == fence[0] and len(mark) >= len(fence) and not info.strip():
            fence = ""
    return fence


def _by_rule(hits: Sequence[Hit]) -> Iterable[Hit]:
    seen: dict[str, Hit] = {}
    for hit in hits:
        seen.setdefault(hit.rule.name, hit)
    return seen.values()


def _blocks(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks)


def _block(element: str, rule: Rule, preamble: str) -> str:
    text = _OWN_ELEMENT.sub("&lt;", rule.instruction)
    attributes = f'reason="rule_violation" rule="{_attribute(rule.name)}"'
    return (
        f'<{element} {attributes} path="{_attribute(rule.path)}">\n'
        f"{preamble}\n\n{text}\n</{element}>"
    )


def _attribute(value: str) -> str:
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        value = value.replace(char, entity)
    return value.replace("\n", " ")


def _on(path: str | None) -> str:
    return f" on `{path}`" if path else ""


def _call(hit: Hit) -> str:
    where = " in your text" if hit.call is None else ""
    return f"the call of `{hit.tool or 'a tool'}`{_on(hit.path)}{where}"


def _stopped(hit: Hit) -> str:
    match hit.surface:
        case Surface.TEXT:
            where = "your answer"
        case Surface.THINKING:
            where = "your reasoning"
        case Surface.TOOL:
            return f"Your output was stopped because {_call(hit)} broke a rule; it was not run."
    return f"Your output was stopped because {where} broke a rule."


def _refused(hit: Hit) -> str:
    if hit.surface is Surface.TOOL:
        return f"This call was not run: {_call(hit)} broke a rule."
    return _said(hit)


def _ran(hit: Hit) -> str:
    return f"The call below ran, but {_call(hit)} matched a rule."


def _said(hit: Hit) -> str:
    if hit.surface is Surface.TOOL:
        return f"In your last message, {_call(hit)} matched a rule."
    where = "reasoning" if hit.surface is Surface.THINKING else "text"
    return f"The {where} of your last message matched a rule."
