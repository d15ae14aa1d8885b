"""Markdown text to `Rule` and problems. No text makes it raise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rules_engine.frontmatter.block import Block, cut
from rules_engine.frontmatter.fields import Fields
from rules_engine.frontmatter.recovery import recover
from rules_engine.frontmatter.triggers import read_conditions, read_scope, read_structures
from rules_engine.frontmatter.values import Entry, YamlError, load
from rules_engine.globs import Glob, parse_globs, split_commas
from rules_engine.problems import Code, Problem
from rules_engine.rule import ContextMode, InterruptMode, Origin, RepeatMode, Rule
from rules_engine.scope import Surface

LARGEST = 256 * 1024
LARGEST_FRONTMATTER = 32 * 1024
LONGEST_REMINDER = 1024


Adapt = Callable[[Rule, Fields], Rule]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a rule's text comes from: the rule's name, shown path, convention and origin."""

    name: str
    path: str
    convention: str
    origin: Origin = Origin.PROJECT


@dataclass(frozen=True, slots=True)
class Document:
    """A rule file cut and read, its fields not yet judged."""

    fields: Fields
    body: str


def parse_rule(
    text: str | bytes,
    name: str,
    path: str,
    convention: str,
    *,
    origin: Origin = Origin.PROJECT,
    adapt: Adapt | None = None,
) -> tuple[Rule | None, tuple[Problem, ...]]:
    """Read one file to a rule, or None where it is none, and everything that is wrong with it.

    `path` is the shown one. A file without frontmatter is a rule with no fields. A rule whose
    file says `enabled: false` is returned with `enabled` unset; discovery leaves it out.
    `adapt` is what a convention makes of the rule and of fields of its own.
    """
    decoded, problems = decode(text, path)
    if decoded is None:
        return None, problems
    document, found = read_document(decoded, path)
    if not document.body:
        empty = Problem(Code.EMPTY_BODY, path)
        return None, (*problems, *found, *document.fields.problems, empty)
    rule = build_rule(document, Source(name, path, convention, origin))
    rule = adapt(rule, document.fields) if adapt else rule
    return rule, (*problems, *found, *document.fields.problems)


def decode(text: str | bytes, path: str) -> tuple[str | None, tuple[Problem, ...]]:
    """Give a file's text with LF line ends; None where it is no text or too large."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if len(raw) > LARGEST:
        found, allowed = f"{len(raw)} bytes", f"{LARGEST} bytes"
        return None, (Problem(Code.TOO_LARGE, path, found=found, allowed=allowed),)
    if b"\0" in raw:
        return None, (Problem(Code.BINARY, path),)
    decoded = raw.decode("utf-8-sig", "replace")
    if _is_utf8(raw):
        problems: tuple[Problem, ...] = ()
    else:
        line = decoded.count("\n", 0, max(0, decoded.find("\ufffd"))) + 1
        problems = (Problem(Code.BAD_UTF8, path, line=line),)
    return decoded.replace("\r\n", "\n").replace("\r", "\n"), problems


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def read_document(text: str, path: str) -> tuple[Document, tuple[Problem, ...]]:
    """Cut a decoded file and read its frontmatter, recovering what is not valid YAML."""
    block = cut(text)
    entries, problems = _read_block(block, path)
    return Document(Fields(entries, path, block.line), block.body), problems


def _read_block(block: Block, path: str) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    if block.unclosed:
        return {}, (Problem(Code.UNCLOSED_FRONTMATTER, path, line=block.line),)
    if block.yaml is None:
        return {}, ()
    if len(block.yaml) > LARGEST_FRONTMATTER:
        size, allowed = f"{len(block.yaml)} characters", f"{LARGEST_FRONTMATTER} characters"
        return {}, (Problem(Code.TOO_LARGE, path, line=block.line, found=size, allowed=allowed),)
    try:
        entries = load(block.yaml)
    except YamlError as fault:
        return _recovered(block, fault, path)
    if entries is None:
        return {}, (Problem(Code.NOT_A_MAPPING, path, line=block.line),)
    return entries, ()


def _recovered(
    block: Block, fault: YamlError, path: str
) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    yaml = block.yaml or ""
    line = block.line + fault.line
    if fault.duplicate is not None:
        problem = Problem(
            Code.DUPLICATE_KEY, path, field=fault.duplicate, line=line, found=fault.duplicate
        )
    else:
        rows = yaml.split("\n")
        found = rows[fault.line].strip() if fault.line < len(rows) else ""
        problem = Problem(Code.BAD_YAML, path, line=line, found=found, detail=fault.reason)
        try:
            # Tabs alone are no fault to oh-my-pi: it reads them as two blanks.
            untabbed = load(yaml.replace("\t", "  ")) if "\t" in yaml else None
        except YamlError:
            untabbed = None
        if untabbed is not None:
            return untabbed, ()
    return recover(yaml), (problem,)


def build_rule(document: Document, source: Source) -> Rule:
    """Judge the fields; what is wrong is added to the document's problems."""
    fields = document.fields
    conditions = read_conditions(fields)
    globs = _globs(fields, source.path)
    scope = read_scope(fields, conditions.tokens, source.path)
    if globs and scope and all(token.surface is not Surface.TOOL for token in scope):
        fields.report(Code.GLOBS_WITHOUT_TOOL, "globs", ", ".join(glob.pattern for glob in globs))
    return Rule(
        name=source.name,
        path=source.path,
        convention=source.convention,
        origin=source.origin,
        body=document.body,
        description=fields.text("description"),
        always_apply=fields.flag("alwaysApply", default=False),
        enabled=fields.flag("enabled", default=True),
        conditions=conditions.patterns,
        catch_all=conditions.catch_all,
        ast_conditions=read_structures(fields),
        question=_question(fields),
        scope=scope,
        globs=globs,
        agents=_agents(fields, source.path),
        interrupt_mode=_interrupt_mode(fields),
        context_mode=fields.choice("contextMode", ContextMode, Code.BAD_VALUE),
        repeat_mode=fields.choice("repeatMode", RepeatMode, Code.BAD_VALUE),
        repeat_gap=fields.count("repeatGap"),
        reminder=_reminder(fields),
        lines=fields.lines(),
    )


def _globs(fields: Fields, path: str) -> tuple[Glob, ...]:
    written = fields.strings("globs")
    if not written:
        return ()
    globs, problems = parse_globs(written, file=path, field="globs", line=fields.line("globs"))
    fields.problems.extend(problems)
    return globs


def _question(fields: Fields) -> str | None:
    question = fields.text("question")
    return question.strip() if question else None


def _interrupt_mode(fields: Fields) -> InterruptMode | None:
    """Take a misspelt mode as `never`: a typo must not make a quiet rule interrupt everything."""
    mode = fields.choice("interruptMode", InterruptMode, Code.BAD_INTERRUPT_MODE)
    return InterruptMode.NEVER if mode is None and fields.has("interruptMode") else mode


def _agents(fields: Fields, path: str) -> tuple[str, ...]:
    """Roles in lower case; blanks around commas go, inside braces too."""
    written = fields.strings("agents") or ()
    entries = (written,) if isinstance(written, str) else written
    roles = [
        ",".join(piece.strip() for piece in part.lower().split(","))
        for entry in entries
        for part in split_commas(entry)
    ]
    for role in roles:
        if Glob(role).malformed:
            line = fields.line("agents")
            fields.problems.append(Problem(Code.BAD_GLOB, path, "agents", line, role))
    return tuple(dict.fromkeys(roles))


def _reminder(fields: Fields) -> str | None:
    """Give the reminder if it is not blank and at most 1,024 bytes of UTF-8, else none."""
    written = fields.value("reminder")
    if written is None:
        return None
    reminder = fields.text("reminder")
    size = len(reminder.encode("utf-8", "replace")) if reminder else 0
    if reminder and size <= LONGEST_REMINDER:
        return reminder
    if isinstance(written, str):
        found, allowed = f"{size} bytes", f"1 to {LONGEST_REMINDER} bytes of text"
        fields.report(Code.BAD_REMINDER, "reminder", found, allowed)
    return None
