from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.triggers.structure import (
    CODE,
    LONGEST_OBJECT,
    LONGEST_PATTERN,
    SourceTree,
    StructureError,
    StructureTrigger,
    compile_structure,
    language_among,
    language_of,
    languages_named,
)

GO = frozenset({"go"})


def structure(source: str, named: frozenset[str] = frozenset()) -> StructureTrigger:
    compiled = compile_structure(source, named)
    assert isinstance(compiled, StructureTrigger), compiled
    return compiled


def core(**fields: object) -> str:
    return json.dumps(fields)


def fault(source: str, named: frozenset[str] = frozenset()) -> str:
    compiled = compile_structure(source, named)
    assert isinstance(compiled, StructureError)
    return compiled.reason


# One construct a language, as it stands in a file.
SAMPLES = {
    "a.sh": ("echo $A", "set -e\necho hello\n"),
    "a.c": ("if ($C) { $$$B }", "int f(int a) { if (a) { g(); } return 0; }"),
    "a.hpp": ("throw $E;", "void f() { throw Error(); }"),
    "a.cs": ("Console.WriteLine($A);", "class P { void M() { Console.WriteLine(1); } }"),
    "a.css": (core(rule={"kind": "important"}), "p { color: red !important; }"),
    "a.dart": (core(rule={"kind": "import_or_export"}), "import 'a.dart';\n"),
    "a.ex": ("IO.puts($A)", 'defmodule A do\n  def f, do: IO.puts("x")\nend\n'),
    "a.go": ("panic($A)", "package p\nfunc f() { panic(1) }\n"),
    "a.hs": (core(rule={"kind": "do"}), "main = do\n  print 1\n"),
    "a.tf": (core(rule={"kind": "block"}), 'resource "a" "b" {\n}\n'),
    "a.html": (core(rule={"kind": "script_element"}), "<p><script>1</script></p>"),
    "a.java": ("System.exit($A)", "class A { void f() { System.exit(1); } }"),
    "a.js": ("debugger", "function f() { debugger; }"),
    "a.json": (core(rule={"kind": "null"}), '{"a": [null]}'),
    "a.kt": ("println($A)", "fun main() { println(1) }"),
    "a.lua": ("print($A)", "local function f() print(1) end"),
    "a.nix": (core(rule={"kind": "with_expression"}), "with import <nixpkgs> {}; hello"),
    "a.php": ("eval($A)", "<?php function f() { eval($x); }"),
    "a.py": ("print($A)", "def f():\n    print(1)\n"),
    "a.rb": ("puts $A", "def f\n  puts 1\nend\n"),
    "a.rs": ("$A.unwrap()", "fn f() { g().unwrap(); }"),
    "a.scala": ("println($A)", "object A { def f() = println(1) }"),
    "a.sol": (
        core(rule={"kind": "call_expression"}),
        "contract C { function f() public { selfdestruct(a); } }",
    ),
    "a.swift": ("print($A)", "func f() { print(1) }"),
    "a.tsx": ("<b>$A</b>", "const x = <p><b>{y}</b></p>;"),
    "a.ts": ("$A as any", "const x = (y as any).z;"),
    "a.yml": (core(rule={"kind": "anchor"}), "a: &x 1\nb: *x\n"),
    "a.zig": (core(rule={"kind": "call_expression"}), "pub fn main() void { f(1); }"),
}


@pytest.mark.parametrize("path", SAMPLES)
def test_every_language_can_be_searched(path: str) -> None:
    """A construct is found in each language whose grammar is there, and the right text is told."""
    source, text = SAMPLES[path]
    language = language_of(path)
    assert language is not None
    span = structure(source, frozenset({language})).matches(text, language)
    assert span is not None
    assert 0 <= span.start < span.end <= len(text)


def test_samples_are_of_every_language() -> None:
    """No language is left out of the samples."""
    assert {language_of(path) for path in SAMPLES} == CODE


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/App.TSX", "tsx"),
        ("a.mts", "typescript"),
        ("a.d.cts", "typescript"),
        ("a.jsx", "javascript"),
        ("src\\a.cjs", "javascript"),
        ("main_test.go", "go"),
        ("README.md", "markdown"),
        ("a.unknown", None),
        ("Makefile", None),
        (".bashrc", None),
        ("dir.go/file", None),
        ("dir/.ts", None),
        ("a.", None),
        ("", None),
    ],
)
def test_language_is_that_of_the_extension(path: str, language: str | None) -> None:
    """Any case counts; a dot file has no extension."""
    assert language_of(path) == language


def test_language_of_a_section_is_that_of_its_first_extension() -> None:
    """A path without one is passed over, an unknown one is not."""
    assert language_among(("Makefile", "a.go", "b.rs")) == "go"
    assert language_among(("a.unknown", "b.rs")) is None
    assert language_among(()) is None


@pytest.mark.parametrize(
    ("glob", "languages"),
    [
        ("*.{ts,tsx}", {"typescript", "tsx"}),
        ("src/**/*_test.go", {"go"}),
        ("*.test.ts", {"typescript"}),
        ("src/**", set()),
        ("*", set()),
        ("go", set()),
    ],
)
def test_a_glob_names_languages_by_their_extensions(glob: str, languages: set[str]) -> None:
    """What stands behind the first dot of the last segment says it."""
    assert languages_named(glob) == languages


@pytest.mark.case(101)
def test_a_construct_is_found_in_its_language_alone() -> None:
    """A `.ts` file with it is a match; the same words in prose or in no language are none."""
    call = structure("console.log($A)")
    text = "function f() {\n  console.log(1);\n}\n"
    span = call.matches(text, language_of("a.ts"))
    assert span is not None
    assert text[span.start : span.end] == "console.log(1)"
    for path in ("a.md", "a.txt", "Makefile"):
        assert call.matches(text, language_of(path)) is None
    assert structure("debugger").matches("debugger", "markdown") is None


def test_prose_is_searched_for_rules_that_name_it() -> None:
    """A glob or an object may ask for Markdown."""
    fence = {"kind": "fenced_code_block"}
    text = "# A\n\n```\nx\n```\n"
    assert structure(core(rule=fence), frozenset({"markdown"})).matches(text, "markdown")
    assert structure(core(rule=fence, language="md")).matches(text, "markdown")


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("", frozenset()),
        ("foo($A", frozenset()),
        ("foo($A", GO),
        ("function (", frozenset()),
        (")))(((", frozenset()),
        ("for $I := range $N { $$$ }", frozenset({"python"})),
        ("a; b", GO),
        (core(rule={"kind": "no_such_kind"}), frozenset()),
        (core(rule={"rubbish": "x"}), frozenset()),
        (core(rule={"pattern": 3}), frozenset()),
        (core(rule={}), frozenset()),
        (core(rule={"matches": "absent"}), frozenset()),
        (core(rule={"any": [{"pattern": "x"}, {"pattern": "f($A"}]}), GO),
        (core(rule={"kind": "comment", "regex": "("}), frozenset()),
        (core(rule={"kind": "comment"}, constrants={}), frozenset()),
        (core(rule={"kind": "comment"}, language="klingon"), frozenset()),
        ("x" * (LONGEST_PATTERN + 1), frozenset()),
        (core(rule={"pattern": "x" * LONGEST_OBJECT}), frozenset()),
    ],
)
def test_a_broken_structure_is_an_error_with_a_reason(source: str, named: frozenset[str]) -> None:
    """The reason is short, and tells nothing of the native stack."""
    reason = fault(source, named)
    assert reason
    assert "backtrace" not in reason.lower()
    assert "\n    at " not in reason


def test_an_error_says_what_is_wrong() -> None:
    """The language and the cause, or the key."""
    assert fault("foo(", GO) == "go: `foo(` does not parse"
    assert fault(core(rule={"kind": "nope"}), GO) == "go: Kind `nope` is invalid."
    assert (
        fault(core(rule={"kind": "x"}, constrants={})) == "unknown key `constrants` beside `rule`"
    )


@pytest.mark.parametrize(
    "source",
    [
        "if err != nil { $$$ }", "Box::leak($A)", "def $F($$$A): $$$B", ".$A { $$$B }", "<br>",
        "a: $B", "$A.unwrap()", "match $X { $$$A }", "echo $A", "malloc($A)", "$A == nil",
    ],
)  # fmt: skip
def test_a_pattern_of_any_language_is_no_error(source: str) -> None:
    """Without a named language one that can read it is enough."""
    structure(source)


@pytest.mark.parametrize(
    ("pattern", "language", "text"),
    [
        ("panic($A)", "go", "func f() { panic(1) }"),
        ("$A == nil", "go", "func f() bool { return x == nil }"),
        ("std::cout << $A", "cpp", "int main() { std::cout << 1; }"),
        ("@Deprecated", "java", "class A { @Deprecated void f() {} }"),
        ("$A.unwrap()", "rust", "fn f() { g().unwrap(); }"),
    ],
)
def test_an_expression_that_cannot_stand_alone_is_no_error(
    pattern: str, language: str, text: str
) -> None:
    """The file around it does not parse, but it is the expression that is asked for."""
    assert structure(pattern, frozenset({language})).matches(text, language)


def test_a_language_that_cannot_read_the_structure_has_no_match() -> None:
    """It is no error either."""
    loop = structure("for $I := range $N { $$$ }")
    assert loop.matches("for i := range n { f() }", "go")
    assert loop.matches("for i in n: f()", "python") is None
    assert structure(core(rule={"kind": "short_var_declaration"})).matches("x", "rust") is None


def test_a_rule_object_may_carry_constraints_and_utilities() -> None:
    """They decide, and what a whole rule file has besides does not."""
    one = structure(
        core(
            id="x",
            severity="error",
            message="no",
            rule={"pattern": "f($A)", "inside": {"matches": "loop", "stopBy": "end"}},
            constraints={"A": {"regex": "^[0-9]$"}},
            utils={"loop": {"kind": "for_statement"}},
        ),
        frozenset({"typescript"}),
    )
    assert one.matches("for (;;) { f(1); }", "typescript")
    assert one.matches("for (;;) { f(x); }", "typescript") is None
    assert one.matches("f(1);", "typescript") is None


def test_a_rule_object_may_name_its_language() -> None:
    """It is looked for nowhere else."""
    one = structure(core(rule={"pattern": "f($A)"}, language="TypeScript"))
    assert one.languages == {"typescript"}
    assert one.matches("f(1)", "typescript")
    assert one.matches("f(1)", "javascript") is None
    assert structure(core(rule={"pattern": "f($A)"}, language="C++")).languages == {"cpp"}
    assert structure(core(rule={"pattern": "f($A)"}, language="py")).languages == {"python"}


def test_json_without_a_rule_is_a_pattern() -> None:
    """Rule objects have a key `rule` that holds an object."""
    assert structure('{"a": 1}').matches('[{"a": 1}]', "json")
    assert structure('{"rule": 1}').matches('[{"rule": 1}]', "json")


def test_strictness_is_smart() -> None:
    """What the pattern does not spell may stand in the text; what it spells must."""
    assert structure("function $F() {}").matches("async function f() {}", "typescript")
    assert structure("async function $F() {}").matches("function f() {}", "typescript") is None


@pytest.mark.parametrize(
    ("text", "pattern", "language"),
    [
        ("  return g(1);\n}\n", "g($A)", "typescript"),
        ("  name(): string {\n    return g(1);\n  }", "g($A)", "typescript"),
        ("\treturn g(1)\n", "g($A)", "go"),
        ("        g(1)\n", "g($A)", "python"),
        ("    } else {\n        g(1);\n", "g($A)", "rust"),
        ("case 1: g(1);", "g($A)", "javascript"),
    ],
)
def test_fragments_are_searched_as_they_stand(text: str, pattern: str, language: str) -> None:
    """What an edit adds is seldom a whole file; errors around a construct do not hide it."""
    assert structure(pattern).matches(text, language)


def test_what_needs_missing_surroundings_is_not_found_in_a_fragment() -> None:
    """A method without its class is no method definition."""
    method = structure(core(rule={"kind": "method_definition"}), frozenset({"typescript"}))
    assert method.matches("class A { f() {} }", "typescript")
    assert method.matches("f() {}", "typescript") is None


@pytest.mark.parametrize("text", ["", ")]}", "\0", "f(" * 5000, "\ud800", "{" * 2000])
def test_text_that_does_not_parse_has_no_match(text: str) -> None:
    """Whatever it is, there is an answer."""
    assert structure("g($A)").matches(text, "typescript") is None


@pytest.mark.parametrize(
    "before", ["'é'; ", "'😀'; ", "'\ud83d\ude00'; ", "'\udc00'; ", "// \u2028\n"]
)
def test_positions_are_those_of_the_text_as_given(before: str) -> None:
    """Characters beyond the first plane count once, split halves once each."""
    text = before + "g(1)"
    assert structure("g($A)").matches(text, "typescript") == (len(before), len(text))


@given(st.text(alphabet="é😀\ud83d\ude00 '\n;a", max_size=12))
def test_positions_never_leave_the_construct(noise: str) -> None:
    """Whatever stands in a comment in front."""
    before = "/* " + noise + " */ "
    assert structure("g($A)").matches(before + "g(1)", "typescript") == (
        len(before),
        len(before) + 4,
    )


@given(st.text(max_size=40))
def test_no_pattern_makes_it_raise(source: str) -> None:
    """Any text is a structure or an error."""
    compiled = compile_structure(source, frozenset({"typescript"}))
    if isinstance(compiled, StructureTrigger):
        compiled.matches("f(1); class A {}", "typescript")


def test_one_tree_is_searched_for_many_structures() -> None:
    """Parsing is the dear part, so it is done once."""
    tree = SourceTree("f(1); g(2);", "typescript")
    found = [structure(f"{name}($A)").find(tree) for name in "fgh"]
    assert found == [(0, 4), (6, 10), None]


def test_a_structure_can_be_sent_to_another_process() -> None:
    """It is the same there."""
    sent = pickle.loads(pickle.dumps(structure(core(rule={"pattern": "g($A)"}))))  # noqa: S301 - our own bytes
    assert sent.matches("g(1)", "go") == (0, 4)


def test_a_tree_of_another_language_has_no_match() -> None:
    """What is for one language is not looked for in another's tree."""
    one = structure(core(rule={"pattern": "f($A)"}, language="typescript"))
    assert one.find(SourceTree("f(1)", "javascript")) is None
