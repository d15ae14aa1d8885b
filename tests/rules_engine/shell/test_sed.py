from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.shell.sed import Edit, added, edit_of


@pytest.mark.parametrize(
    ("script", "texts"),
    [
        ("s/OLD/NEW/", ["NEW"]),
        ("s/OLD/NEW/g; s|OLD|a/b|2p", ["NEW", "a/b"]),
        ("s,OLD,a\\,b,", ["a,b"]),
        ("s/O\\/D/a\\/b/", ["a/b"]),
        ("s/OLD/a\\nb\\tc\\\nd/", ["a\nb\tc\nd"]),
        ("s/\\(OLD\\)/\\1 & \\& \\\\ \\U\\1\\E/", ["\\1 & & \\ \\1"]),
        ("s/OLD/\\x27x\\x27 \\o101 \\d065/", ["'x' A A"]),
        ("sxOLDxa\\xbx", ["axb"]),
        ("s/OLD//", []),
        ("s/OLD/NEW/w file\ns/OLD/MORE/", ["NEW", "MORE"]),
        ("1,/OLD/s/OLD/NEW/", ["NEW"]),
        ("/OLD/I,+3!s/x/NEW/", ["NEW"]),
        ("\\,OLD,s/x/NEW/", ["NEW"]),
        ("0~4s/x/NEW/;$s/x/MORE/", ["NEW", "MORE"]),
        ("/OLD/{s/x/NEW/;s/y/MORE/}", ["NEW", "MORE"]),
        ("/OLD/a NEW", ["NEW"]),
        ("$a\\\nNEW\\\nMORE", ["NEW\nMORE"]),
        ("1i\\  NEW", ["  NEW"]),
        ("2c NEW; not a command", ["NEW; not a command"]),
        ("i\\\n\\  NEW", ["  NEW"]),
        ("a NEW\ns/x/MORE/", ["NEW", "MORE"]),
        ("y/OLD/NEW/;s/x/MORE/", ["MORE"]),
        (":a;N;$!ba;s/\\n/NEW/", ["NEW"]),
        ("/OLD/d;n;p;q5", []),
        ("r OLD\ns/x/NEW/", ["NEW"]),
        ("# s/x/OLD/\ns/x/NEW/", ["NEW"]),
        ("s/x/NEW/;?;s/x/OLD/", ["NEW"]),
        ("s/OLD/OLD", []),
        ("/OLD", []),
        ("\\", []),
        ("s", []),
        ("a", []),
        ("", []),
    ],
)
def test_script_adds_its_new_text(script: str, texts: list[str]) -> None:
    """The new side of `s` and the lines of `a`, `i` and `c`; never what is looked for."""
    assert list(added(script)) == texts


@pytest.mark.parametrize(
    ("arguments", "edit"),
    [
        (["-i", "s/a/NEW/", "f"], Edit(("NEW",), ("f",))),
        (["-i", "", "s/a/NEW/", "f", "g"], Edit(("NEW",), ("f", "g"))),
        (["-i", ".bak", "-e", "s/a/NEW/", "f"], Edit(("NEW",), ("f",))),
        (["-i.bak", "s/a/NEW/", "f"], Edit(("NEW",), ("f",))),
        (["-I", "", "s/a/NEW/", "f"], Edit(("NEW",), ("f",))),
        (["-nEi", "s/a/NEW/p", "f"], Edit(("NEW",), ("f",))),
        (["-i", "-es/a/NEW/", "--", "-f"], Edit(("NEW",), ("-f",))),
        (["-ibak", "-e", "s/a/1/", "-e", "a\\", "-e", "2", "f"], Edit(("1", "2"), ("f",))),
        (["--in-place", "--expression", "s/a/NEW/", "f"], Edit(("NEW",), ("f",))),
        (["f", "--in-place=.b", "--expression=s/a/NEW/", "-s"], Edit(("NEW",), ("f",))),
        (["-i", "-f", "script", "f"], Edit((), ("f",))),
        (["-i", "--file=script", "-l", "5", "f"], Edit((), ("f",))),
        (["-i", "-e"], Edit((), ())),
        (["-i"], Edit((), ())),
        (["s/a/b/", "f"], None),
        (["-n", "1p", "-"], None),
        ([], None),
    ],
)
def test_arguments_say_what_is_edited(arguments: list[str], edit: Edit | None) -> None:
    """In the spelling of GNU or of BSD; without `-i` no file is."""
    assert edit_of(arguments) == edit


@given(st.text(st.sampled_from("saic/\\\n;{}!,$0~&xo1 "), max_size=24))
def test_any_script_is_read(script: str) -> None:
    """Nothing raises."""
    added(script)
    edit_of(["-i", script, "f"])
