"""Closed statements: the part of a growing source whose reading nothing that follows can change.

A parser of the LR kind that has read on behind a statement has put it away: what comes later can
wrap it, in a block or in an error, but not read it anew. So a match that lies in such a statement
is a match in the finished source too, whatever becomes of it. That holds up to the first error
alone, since the mending of one competes with other readings, and in languages where property
tests against every kind of continuation found it so.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, cast

from ast_grep_py import Config, SgNode

from rules_engine.triggers.structure import SourceTree, Span, StructureTrigger

_PLAIN = """
    expression_statement return_statement if_statement for_statement break_statement
    continue_statement
"""
_COMMON = f"{_PLAIN} while_statement"
_SWITCHING = f"{_COMMON} do_statement switch_statement labeled_statement"
_C = f"""
    {_SWITCHING} goto_statement declaration field_declaration function_definition type_definition
    preproc_include preproc_def preproc_function_def
"""
_CPP = f"""
    {_C} using_declaration alias_declaration namespace_definition throw_statement try_statement
    template_declaration for_range_loop
"""
_CSHARP = f"""
    {_SWITCHING} empty_statement foreach_statement local_declaration_statement lock_statement
    throw_statement try_statement using_statement using_directive local_function_statement
    namespace_declaration class_declaration interface_declaration struct_declaration
    enum_declaration record_declaration method_declaration constructor_declaration
    field_declaration property_declaration
"""
_GO = f"""
    {_PLAIN} assignment_statement short_var_declaration var_declaration const_declaration
    type_declaration import_declaration package_clause function_declaration method_declaration
    inc_statement dec_statement defer_statement go_statement send_statement goto_statement
    labeled_statement select_statement expression_switch_statement type_switch_statement
"""
_JAVA = f"""
    {_COMMON} do_statement labeled_statement switch_expression enhanced_for_statement
    local_variable_declaration throw_statement try_statement try_with_resources_statement
    synchronized_statement assert_statement package_declaration import_declaration
    class_declaration interface_declaration enum_declaration record_declaration
    method_declaration constructor_declaration field_declaration
"""
_SCRIPT = f"""
    {_SWITCHING} empty_statement for_in_statement try_statement throw_statement with_statement
    debugger_statement import_statement export_statement function_declaration
    generator_function_declaration class_declaration lexical_declaration variable_declaration
    method_definition
"""
_TYPED_SCRIPT = f"""
    {_SCRIPT} public_field_definition interface_declaration type_alias_declaration
    enum_declaration abstract_class_declaration ambient_declaration
"""
_PHP = f"""
    {_COMMON} do_statement switch_statement foreach_statement try_statement echo_statement
    unset_statement namespace_definition namespace_use_declaration class_declaration
    interface_declaration trait_declaration function_definition method_declaration
    property_declaration const_declaration
"""
_PYTHON = f"""
    {_COMMON} import_statement import_from_statement future_import_statement assert_statement
    delete_statement raise_statement pass_statement try_statement with_statement match_statement
    global_statement nonlocal_statement print_statement exec_statement type_alias_statement
    function_definition class_definition decorated_definition
"""
_RUST = """
    expression_statement let_declaration use_declaration extern_crate_declaration function_item
    function_signature_item struct_item enum_item union_item impl_item trait_item mod_item
    const_item static_item type_item attribute_item inner_attribute_item macro_definition
"""

# The kinds of node that may be closed, by language.
_STATEMENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        language: tuple(kinds.split())
        for language, kinds in (
            ("c", _C),
            ("cpp", _CPP),
            ("csharp", _CSHARP),
            ("go", _GO),
            ("java", _JAVA),
            ("javascript", f"{_SCRIPT} field_definition"),
            ("php", _PHP),
            ("python", _PYTHON),
            ("rust", _RUST),
            ("tsx", _TYPED_SCRIPT),
            ("typescript", _TYPED_SCRIPT),
        )
    }
)
LANGUAGES = frozenset(_STATEMENTS)

_WITHOUT_BLOCK_COMMENTS = frozenset({"python"})
# A literal that is still open may be read as something else.
_BEGINNING = re.compile(r"[\w$@#]")
# A token that the parser made up has no text.
_MENDED = {"rule": {"any": [{"kind": "ERROR"}, {"regex": "^$"}]}}
# `a<b>` is a value of a type, or the beginning of a comparison that goes on in the next line.
_GREATER: Mapping[str, Any] = {
    "kind": "binary_expression",
    "regex": "<",
    "has": {"field": "operator", "regex": "^>$"},
}
_TYPED = frozenset({"tsx", "typescript"})
_DOUBTFUL = {"rule": {"any": [{"kind": "instantiation_expression"}, _GREATER]}}
_DEEPEST = 64  # levels; to read through what is nested deeper would take long
_PAIRS: Mapping[str, str] = MappingProxyType({"(": ")", "[": "]", "{": "}"})
# These look beyond the node, to where more may come.
_OUTWARD = frozenset({"inside", "follows", "precedes", "nthChild", "range"})


def closable(trigger: StructureTrigger) -> bool:
    """Whether what a structure matches depends on nothing but the match itself."""
    return not _OUTWARD & set(_keys(trigger.config))


class ClosedStatements:
    """The closed statements of a source that ends with a line, but may go on."""

    def __init__(self, text: str, tree: SourceTree) -> None:
        """Find them; parses once more where the source ends within brackets."""
        self._language = tree.language
        self._text = text
        self.tree = tree
        self.spans: tuple[Span, ...] = ()
        brackets = _open_brackets(tree.root)
        if brackets is None:
            return
        if brackets:
            self.tree = tree = SourceTree(f"{text}\n{brackets}\n", tree.language)
        self._sound = min(
            _open_comment(text, tree.language), _first_fault(tree.root, text, tree.language)
        )
        self.spans = tuple(self._closed(tree.root))

    def hold(self, span: Span) -> bool:
        """Whether a match lies in one of them."""
        return any(each.start <= span.start and span.end <= each.end for each in self.spans)

    def _closed(self, node: SgNode) -> Iterator[Span]:
        """Go down to where the source ends: statements with one in a later line are closed."""
        statements = _STATEMENTS[self._language]
        for _ in range(_DEEPEST):
            if node.kind() == "ERROR":
                return
            within: list[Span] = []
            last: SgNode | None = None
            for last in node.children():
                span = _span(last)
                if span.end >= self._sound:
                    break
                if last.kind() in statements:
                    within.append(span)
            if last is None:
                return
            if self._has_begun(last):
                within.append(_span(last))
            # The statements of one line may be put away together, with its end.
            line = self._text.rfind("\n", 0, within[-1].start) if within else 0
            yield from (span for span in within[:-1] if span.end <= line)
            node = last

    def _has_begun(self, node: SgNode) -> bool:
        """Whether a node is a statement that goes on behind what is sound, but begins before."""
        if node.kind() not in _STATEMENTS[self._language] or _span(node).end < self._sound:
            return False
        while (begin := node.child(0)) is not None:
            node = begin
        return _span(node).end < self._sound and _BEGINNING.match(node.text()) is not None


def _open_comment(text: str, language: str) -> int:
    """Give the position of what may be a comment that is still open; else that of the end.

    Until it is closed, some parsers read its beginning as operators and its words as code. What
    looks like one, in a string for example, is taken for one.
    """
    if language in _WITHOUT_BLOCK_COMMENTS:
        return len(text)
    at = text.find("/*", max(0, text.rfind("*/") - 1))
    return len(text) if at < 0 else at


def _open_brackets(root: SgNode) -> str | None:
    """Give what closes the brackets that are open where the source ends; None if too many are."""
    mended = _mended(root)
    pending: list[str] = []
    node = root
    for _ in range(_DEEPEST):
        inner: SgNode | None = None
        for child in node.children():
            kind, span = child.kind(), _span(child)
            if span.end > span.start and kind in _PAIRS:
                pending.append(_PAIRS[kind])
            elif span.end > span.start and pending and kind == pending[-1]:
                pending.pop()
            elif bisect_left(mended, span.start) < bisect_right(mended, span.end):
                inner = child
            if len(pending) > _DEEPEST:
                return None
        if inner is None:
            return "".join(reversed(pending))
        node = inner
    return None


def _mended(root: SgNode) -> list[int]:
    """Give the positions at which the parser mended what it read, in order."""
    return sorted(_span(node).start for node in root.find_all(cast("Config", _MENDED)))


def _first_fault(root: SgNode, text: str, language: str) -> int:
    """Give the position at which what was read was first mended; that of the end if never."""
    faults = _mended(root)
    if language in _TYPED:
        doubtful = root.find_all(cast("Config", _DOUBTFUL))
        faults += (_span(node).start for node in doubtful)
    kinds: list[dict[str, Any]] = [{"kind": kind} for kind in _STATEMENTS[language]]
    following = {"rule": {"any": kinds, "follows": {"any": kinds}}}
    for node in root.find_all(cast("Config", following)):
        # The end of a line that the parser made up shows nowhere.
        before = node.prev()
        if before is not None:
            start, end = _span(before)
            between = text[max(end - 1, 0) : _span(node).start]
            if not ("\n" in between or ";" in between):
                faults.append(start)
    return min(faults, default=len(text))


def _span(node: SgNode) -> Span:
    place = node.range()
    return Span(place.start.index, place.end.index)


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)
