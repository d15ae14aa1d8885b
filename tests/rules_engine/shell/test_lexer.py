from __future__ import annotations

import pytest

from rules_engine.growth import Growth
from rules_engine.patches import EnvelopeReader
from rules_engine.shell.documents import Document
from rules_engine.shell.lexer import Lexer
from rules_engine.shell.parts import Kind, Word


class Told:
    """Writes down everything that the lexer tells. `prints`: what each substitution comes to."""

    def __init__(self, prints: str | None = None) -> None:
        self.events: list[str] = []
        self.source = Growth()
        self.whole = False
        self._prints = prints

    def word_begins(self, word: Word) -> None:
        assert not word.growth.text

    def word_has_lines(self, word: Word) -> None:
        assert "\n" in word.growth.text

    def word_ends(self, word: Word) -> None:
        self.events.append(word.growth.text + ("'" if word.quoted else ""))

    def sign(self, sign: str, descriptor: str, at: int) -> None:
        self.events.append(f"[{descriptor}{sign}]{at}")

    def line_ends(self, at: int) -> None:
        self.events.append(f"[line]{at}")

    def begins(self, kind: Kind) -> None:
        self.events.append(f"({kind.name.lower()}")

    def ends(self, at: int) -> str | None:
        self.events.append(f"){at}")
        return self._prints

    def document(self, document: Document) -> None:
        self.events.append(f"<<{document.delimiter}")

    def body_begins(self, document: Document) -> None:
        assert not document.read

    def body_line(self, document: Document, at: int) -> None:
        assert document.lines == 1
        self.events.append(f"[body]{at}")

    def body_ends(self, document: Document) -> None:
        self.events.append(f"{{{document.growth.text}}}")

    def envelope(self) -> EnvelopeReader:
        self.events.append("[patch]")
        return EnvelopeReader(self.source, in_shell=True)

    def finished(self, at: int, *, whole: bool) -> None:
        self.whole = whole
        self.events.append(f"[end]{at}")


def lex(text: str, step: int, prints: str | None = None) -> Told:
    told = Told(prints)
    lexer = Lexer(told.source, told)
    for start in range(0, len(text), step):
        piece = text[start : start + step]
        told.source.append(piece, start + 1)
        lexer.feed(piece)
    lexer.close()
    return told


def events(text: str, prints: str | None = None) -> list[str]:
    whole = lex(text, max(1, len(text)), prints).events
    for step in (1, 2, 3, 5):
        assert lex(text, step, prints).events == whole
    return whole[:-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b", ["a", "b"]),
        ("a 'b c'd", ["a", "b cd'"]),
        ("a\\ b \\\\", ["a b'", "\\'"]),
        ("a;b", ["a", "[;]2", "b"]),
        ("a&&b||c|d|&e&", ["a", "[&&]3", "b", "[||]6", "c", "[|]9", "d", "[|&]11", "e", "[&]13"]),
        ("a>b 2>>c 3<d", ["a", "[>]3", "b", "[2>>]7", "c", "[3<]12", "d"]),
        ("a<<<b &>c &>>d >&e >|f <>g", [
            "a", "[<<<]4", "b", "[&>]9", "c", "[&>>]13", "d", "[>&]17", "e", "[>|]21", "f",
            "[<>]25", "g"]),
        ("a\nb # c'\nd", ["a", "[line]2", "b", "[line]9", "d"]),
        ("(a)", ["(subshell", "a", ")3"]),
        ("a)", ["a", "[)]2"]),
        ("<(a) b", ["(process", "a", ")4", "<(a)", "b"]),
        ("a$(b)c", ["(substitution", "b", ")5", "a$(b)c"]),
        ('"$(b "$(c)")"', [
            "(substitution", "b", "(substitution", "c", ")10", "$(c)'", ")12", '$(b "$(c)")\'']),
        ("$x ${y:-a b} $((1 + (2))) `c d` $", ["$x", "${y:-a b}", "$((1 + (2)))", "`c d`", "$"]),
        ('"${x:-\'}" "${y:-"}"}" ${z#\\}}', ["${x:-'}'", '${y:-"}"}\'', "${z#\\}}"]),
        ("\"a$\" \"\\q\\$\" '\\'", ["a$'", "\\q$'", "\\'"]),
        ("$'a\\tb\\x4a\\u00e9\\'' $\"c\"", ["a\tbJ\u00e9''", "c'"]),
        ("<<A <<-'B' x\n1\nA\n\t2\nB\ny", [
            "[<<]3", "<<A", "[<<-]7", "<<B", "x", "[line]13", "[body]14", "{1}", "[body]19", "{2}",
            "y"]),
        ("a *** Begin Patch\nb\n*** End Patch\nc", ["a", "[patch]", "c"]),
        ("*** Begin", ["***", "Begin"]),
    ],
)  # fmt: skip
def test_text_is_cut_into_words_and_signs(text: str, expected: list[str]) -> None:
    """Quotes are undone, expansions kept; a sign is told where it can become no other."""
    assert events(text) == expected


def test_substitution_that_is_known_stands_for_what_it_prints() -> None:
    """It is a part of the word like any other text."""
    assert events("a$(b)c", "X") == ["(substitution", "b", ")5", "aXc"]


def test_deep_substitutions_are_not_written_out() -> None:
    """Their text would be copied at every level; the outer ones are."""
    text = "$(" * 40 + "a" + ")" * 40
    words = [event for event in events(text) if event.startswith("$(")]
    assert (words[0], words[-1]) == ("$(…)", text)


@pytest.mark.parametrize("text", ["'a", '"a', "$'a", "${a", "$((1", "`a", "a 'b\n"])
def test_text_that_ends_inside_of_quotes_is_not_whole(text: str) -> None:
    """A shell would wait for the rest of it."""
    assert not lex(text, 1).whole


@pytest.mark.parametrize("text", ["", "a", "a # b", "a <<E", "a <<E\nb", "a \\", "(a"])
def test_other_text_is_whole(text: str) -> None:
    """A shell would run what there is of it, or nothing but it."""
    assert lex(text, 1).whole
