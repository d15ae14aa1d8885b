"""Shell commands, and what each writes: the table that several tests share.

Reads a command in pieces of any size; every test that names no cuts tries several.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from rules_engine.growth import Growth
from rules_engine.shell import ShellReader

WRITE, EDIT, BOTH = ("write",), ("edit",), ("write", "edit")
PATCHED = ("edit", "write")  # by a patch that makes the file


@dataclass(frozen=True, slots=True)
class Written:
    """A text that a command adds to files, and what a scope may call that."""

    paths: tuple[str, ...]
    text: str
    names: tuple[str, ...] = WRITE


@dataclass(frozen=True, slots=True)
class Read:
    """What a reader told of one command. `offsets`: where what was known, by section."""

    written: tuple[Written, ...]
    offsets: tuple[tuple[int, ...], ...]


def read(command: str, cuts: Iterable[int] = (), directory: str = "") -> Read:
    """Read a command cut at `cuts`."""
    source = Growth()
    reader = ShellReader(source, directory)
    bounds = [0, *cuts, len(command)]
    for start, end in pairwise(bounds):
        source.append(command[start:end], start + 1)
        reader.feed(command[start:end], start)
    reader.close()
    assert reader.recognised == bool(reader.sections)
    return Read(
        tuple(Written(s.paths, s.growth.text, s.names or ()) for s in reader.sections),
        tuple(
            (
                s.source.arrival(s.named_at),
                s.source.arrival(s.opened_at),
                *(s.growth.arrival(length) for length in range(s.growth.length + 1)),
            )
            for s in reader.sections
        ),
    )


def every_read(command: str, directory: str = "") -> Read:
    """Read it whole, in pieces of few characters, and in two at every place; all must agree."""
    whole = read(command, (), directory)
    for step in (1, 2, 3, 7):
        assert read(command, range(step, len(command), step), directory) == whole, step
    for cut in range(1, len(command)):
        assert read(command, (cut,), directory) == whole, cut
    return whole


def written(command: str, directory: str = "") -> list[Written]:
    """Give what the command writes, the same for every cutting."""
    return list(every_read(command, directory).written)


def one(path: str, text: str, names: tuple[str, ...] = WRITE) -> list[Written]:
    """What a command comes to that writes one text to one file."""
    return [Written((path,), text, names)]


ENVELOPE = (
    "*** Begin Patch\n*** Update File: a.py\n@@\n SAME\n-OLD\n+NEW\n*** Add File: b.py\n+MADE\n"
    "*** End Patch"
)
PATCH = [Written(("a.py",), "NEW", EDIT), Written(("b.py",), "MADE", PATCHED)]

# By what they show; every command with all that it writes.
COMMANDS: dict[str, tuple[str, list[Written]]] = {
    # Here-documents.
    "cat behind": ("cat > a.py <<'EOF'\nx = 1\ny\nEOF\n", one("a.py", "x = 1\ny")),
    "cat in front": ("cat <<EOF >a.py\nx\nEOF", one("a.py", "x")),
    "append": ("cat >> a.py <<EOF\nx\nEOF\n", one("a.py", "x", BOTH)),
    "clobber": ("cat >| a.py <<EOF\nx\nEOF\n", one("a.py", "x")),
    "tee": ("tee a.py <<EOF\nx\nEOF\n", one("a.py", "x")),
    "tee appends": ("tee -a a.py <<EOF >/dev/null\nx\nEOF\n", one("a.py", "x", BOTH)),
    "tee to two": ("tee a b <<E\nx\nE\n", [Written(("a", "b"), "x")]),
    "sudo tee": ("sudo -u root tee a.py > /dev/null <<E\nx\nE\n", one("a.py", "x")),
    "pipe to tee": ("cat <<E | tee a | tee -a b\nx\nE\n", [Written(("a", "b"), "x", BOTH)]),
    "pipe in the next line": ("cat <<E |\nx\nE\ntee a.py\n", one("a.py", "x")),
    "two documents": (
        "cat > a <<A && cat > b <<B\n1\nA\n2\nB\n",
        [Written(("a",), "1"), Written(("b",), "2")],
    ),
    "the last document counts": ("cat > a <<A <<B\n1\nA\n2\nB\n", one("a", "2")),
    "tabs are dropped": ("cat > a <<-E\n\t\tx\n\ty\n\tE\n", one("a", "x\ny")),
    "tabs are kept": ("cat > a <<E\n\tx\n\tE\nE\n", one("a", "\tx\n\tE")),
    "escapes are undone": (
        "cat > a <<E\n\\$x \\`y\\` \\\\ \\n z\\\nw\nE\n",
        one("a", "$x `y` \\ \\n zw"),
    ),
    "escapes are text": ("cat > a <<'E'\n\\$x \\\nE\n", one("a", "\\$x \\")),
    "end of a document": ("cat > a <<EOF\nEO\nEOFF\n EOF\nEOF\n", one("a", "EO\nEOFF\n EOF")),
    "document without an end": ("cat > a <<EOF\nx\nEO", one("a", "x\nEO")),
    "document with returns": (
        "cat > a <<EOF\r\nx\r\nEOF\r\necho y > b",
        [Written(("a",), "x\r"), Written(("b",), "y")],
    ),
    "empty document": ("cat > a <<E\nE\n", []),
    "blank lines": ("cat > a <<E\n\nx\n\nE\n", one("a", "\nx\n")),
    "quoted delimiter": ('cat > a <<"A B"\nx\nA B\n', one("a", "x")),
    "shown only": ("cat <<E\nx\nE\n", []),
    "read by another": ("python3 - <<E\nx\nE\n", []),
    "changed on the way": ("cat <<E | sed s/a/b/ > f\nx\nE\n", []),
    "behind a document": (
        "cat > a <<E\nx\nE\necho y > b\n",
        [Written(("a",), "x"), Written(("b",), "y")],
    ),
    "quotes inside a document": (
        "cat > a <<'E'\ndon't \"\n$(\nE\necho y > b",
        [Written(("a",), "don't \"\n$("), Written(("b",), "y")],
    ),
    # Redirections.
    "echo": ("echo x > a.py", one("a.py", "x")),
    "echo joins words": ("echo x  'y z' > a.py", one("a.py", "x y z")),
    "echo without a line end": ("echo -n 'x' > a.py", one("a.py", "x")),
    "echo with escapes": ("echo -e 'x\\ty\\n' > a", one("a", "x\ty\n")),
    "echo without escapes": ("echo 'x\\ty' > a", one("a", "x\\ty")),
    "target in front": ("> a echo x", one("a", "x")),
    "words behind the target": ("echo x > a y", one("a", "x y")),
    "no blank": ("echo x>a", one("a", "x")),
    "printf": ("printf 'x\\n%s=%d\\n' k 3 >> a", one("a", "x\nk=3", BOTH)),
    "printf without arguments": ("printf 'a%%b\\n' > a", one("a", "a%b")),
    "here-string": ('cat > a <<< "x $y"', one("a", "x $y")),
    "pipe of echo": ("echo 'x' | sudo tee -a /etc/a", one("/etc/a", "x", BOTH)),
    "both outputs": (
        "echo x &> a; echo y &>> b; echo z >& c",
        [Written(("a",), "x"), Written(("b",), "y", BOTH), Written(("c",), "z")],
    ),
    "errors elsewhere": ("echo x 2> err > a 2>&1", one("a", "x")),
    "errors only": ("echo x 2> a; echo y >&2; echo z > /dev/null", []),
    "last target counts": ("echo x > a > b", one("b", "x")),
    "nothing to write": ("> a; : > b; echo > c; true >> d", []),
    "text of a file": ("cat < a > b; echo x 0<> c > d", one("d", "x")),
    "unknown text": ("grep x y > a; sort <<E > b\nx\nE\n", []),
    "quotes": ("echo 'a'\"b\"$'c\\x41\\''\\d > 'my file'", one("my file", "abcA'd")),
    "double quotes": ('echo "a \\"b\\" \\$c \\n" > "$HOME/x y"', one("$HOME/x y", 'a "b" $c \\n')),
    "lines in quotes": ("echo 'a\nb' > a", one("a", "a\nb")),
    "variables are kept": (
        "echo ${x:-'}'} $((1+(2))) `date` > a",
        one("a", "${x:-'}'} $((1+(2))) `date`"),
    ),
    "unknown substitution": ('echo "v $(git log) w" > a', one("a", "v $(git log) w")),
    "known substitution": ('echo "v $(echo w; printf x)" > a', one("a", "v w\nx")),
    "document in a substitution": (
        "echo \"$(cat <<'E'\ndon't ) \"\nE\n)\" > a",
        one("a", "don't ) \""),
    ),
    "process substitution": ("diff <(echo x > a) <(cat b) > c", one("a", "x")),
    "output to a process": ("echo x > >(cat)", []),
    "comment": ("# echo x > a\necho y > b # > c\n", one("b", "y")),
    "no comment": ("echo a#b > a", one("a", "a#b")),
    "joined lines": ("echo x \\\n  > a\\\nb", one("ab", "x")),
    "returns at line ends": (
        "echo x > a\r\necho y \\\r\n > b\r\n",
        [Written(("a",), "x"), Written(("b",), "y")],
    ),
    "descriptors": ("echo 1> a; echo 12>b; echo 1 >c", [Written(("c",), "1")]),
    # Lists.
    "list": (
        "echo 1 > a && echo 2 > b || echo 3 > c; echo 4 > d & echo 5 > e\necho 6 > f",
        [Written((path,), str(at)) for at, path in enumerate("abcdef", 1)],
    ),
    "group": ("{ echo a; echo b; } > f", one("f", "a\nb")),
    "group with what is unknown": (
        "{ echo a; ls; echo b; } > f",
        [Written(("f",), "a"), Written(("f",), "b")],
    ),
    "group with a document": ("{ echo a; cat <<E\nx\nE\n} > f", one("f", "a\nx")),
    "document behind a group": ("{ cat <<E; } > f\nx\nE\n", one("f", "x")),
    "group that is left open": ("({ echo a) > f", one("f", "a")),
    "subshell": ("(echo a; echo b) | tee f", one("f", "a\nb")),
    "condition": (
        "if [ -f a ]; then echo x > a; else cat > b <<E\ny\nE\nfi",
        [Written(("a",), "x"), Written(("b",), "y")],
    ),
    "loop": ('for f in a b; do echo x > "$f"; done', one("$f", "x")),
    "case": (
        "case $1 in a) echo x > a;; *) echo y > b;; esac",
        [Written(("a",), "x"), Written(("b",), "y")],
    ),
    "negated": ("! echo x > a", one("a", "x")),
    "prefixes": ("A=1 B='2 3' env -u C D=4 timeout -k 5 10 nice -n 3 echo x > a", one("a", "x")),
    # sed.
    "sed": ("sed -i 's/OLD/NEW/' a.py", one("a.py", "NEW", EDIT)),
    "sed of BSD": ("sed -i '' 's/OLD/NEW/' a.py", one("a.py", "NEW", EDIT)),
    "sed keeps a copy": ("sed -i.bak -E 's/OLD/NEW/' a.py", one("a.py", "NEW", EDIT)),
    "sed in long": ("sed --in-place=.o --expression='s|OLD|NEW|g' a.py", one("a.py", "NEW", EDIT)),
    "sed on two files": ("sed -i s/OLD/NEW/ a b", [Written(("a", "b"), "NEW", EDIT)]),
    "sed with two scripts": (
        "sed -i -e 's/a/X/;s/b/Y/' -e '2c\\' -e 'Z' f",
        [Written(("f",), text, EDIT) for text in "XYZ"],
    ),
    "sed over lines": ("sed -i '/OLD/a\\\nNEW \\\nMORE' f", one("f", "NEW \nMORE", EDIT)),
    "sed in double quotes": ('sed -i "s/OLD/a \\"b\\"/" f', one("f", 'a "b"', EDIT)),
    "sed prints": ("sed 's/OLD/NEW/' a > b; sed -n 1p f", []),
    "sed deletes": ("sed -i '/OLD/d; s/OLD//' f", []),
    "sed on found files": (
        "grep -rl OLD . | xargs -0 sed -i 's/OLD/NEW/'",
        [Written((), "NEW", EDIT)],
    ),
    "sed by find": (
        "find . -name '*.py' -exec sed -i 's/OLD/NEW/' {} \\;",
        [Written((), "NEW", EDIT)],
    ),
    # Patches.
    "patch in a document": (f"cd . && apply_patch <<'EOF'\n{ENVELOPE}\nEOF\n", PATCH),
    "patch in quotes": (f"apply_patch '{ENVELOPE}'", PATCH),
    "patch through a pipe": (f"cat <<'E' | apply_patch\n{ENVELOPE}\nE\n", PATCH),
    "patch without quotes": (f"apply_patch\n{ENVELOPE}\necho x > c", [*PATCH, *one("c", "x")]),
    "patch with escapes": (
        'apply_patch "*** Begin Patch\n*** Update File: a\n+\\"x\\"\n*** End Patch"',
        one("a", '"x"', EDIT),
    ),
    "diff": ("git apply <<'E'\n--- a/x\n+++ b/x\n@@\n-OLD\n+NEW\nE\n", one("x", "NEW", EDIT)),
    "diff of a new file": (
        "patch -p1 <<E\n--- /dev/null\n+++ b/x\n@@\n+NEW\nE",
        one("x", "NEW", PATCHED),
    ),
    "patch that is written": (
        f"cat > p <<'E'\n{ENVELOPE}\nE\n",
        [Written(("p",), ENVELOPE), *PATCH],
    ),
    # Scripts.
    "script": ("bash -c 'echo x > a'", one("a", "x")),
    "script in double quotes": ('sh -lc "cat > a <<E\n\\"x\\"\nE\n"', one("a", '"x"')),
    "options of a script": (
        "sudo env A=1 bash -eu -o pipefail -c 'echo x > a' name",
        one("a", "x"),
    ),
    "script of another user": ("su - user -c 'echo x > a'", one("a", "x")),
    "eval": ("eval 'echo x > a'", one("a", "x")),
    "script that is read": ("bash -s <<'E'\necho x > a\nE\n", one("a", "x")),
    "script in a script": ("bash -c \"bash -c 'echo x > a'\"", one("a", "x")),
    "no script": ("bash a.sh -c 'echo x > a'; echo bash -c 'echo x > a'", []),
    # Directories.
    "cd": ("cd src && echo x > a.ts", one("src/a.ts", "x")),
    "cd twice": ("cd a; cd ../b; echo x > c", one("b/c", "x")),
    "cd in a line": ("cd src\ncat > a.ts <<E\nx\nE\n", one("src/a.ts", "x")),
    "absolute paths stay": (
        "cd src; echo x > /a; echo y > ~/b; echo z > $C/d",
        [Written(("/a",), "x"), Written(("~/b",), "y"), Written(("$C/d",), "z")],
    ),
    "cd to a variable": ('cd "$DIR" && echo x > a', one("$DIR/a", "x")),
    "cd home": ("cd; echo x > a", one("~/a", "x")),
    "cd back": ("cd a; cd b; cd -; echo x > c", one("a/c", "x")),
    "pushd": (
        "pushd a; echo 1 > x; popd; echo 2 > y",
        [Written(("a/x",), "1"), Written(("y",), "2")],
    ),
    "cd in a subshell": (
        "(cd a && echo 1 > x); echo 2 > y",
        [Written(("a/x",), "1"), Written(("y",), "2")],
    ),
    "cd in a group": ("{ cd a; }; echo 1 > x", one("a/x", "1")),
    "cd in a pipe": ("cd a | cat; echo 1 > x", one("x", "1")),
    "cd if another failed": ("cd a || cd b; echo 1 > x", one("a/x", "1")),
    "cd in a function": ("f() { cd a; }; echo 1 > x", one("x", "1")),
    "cd in a script": (
        "bash -c 'cd a; echo 1 > x'; echo 2 > y",
        [Written(("a/x",), "1"), Written(("y",), "2")],
    ),
    "cd for sed": (
        "cd src && sed -i s/OLD/NEW/ a.ts ../b.ts",
        [Written(("src/a.ts", "b.ts"), "NEW", EDIT)],
    ),
    "cd for a patch": (
        "cd w && apply_patch <<E\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE",
        one("w/a", "x", PATCHED),
    ),
    "cd for a script": ("cd w && bash -c 'echo x > a'", one("w/a", "x")),
    # What is no command, and what cannot be read.
    "open quote": ("echo x > a; echo 'y > b", one("a", "x")),
    "lone signs": ("; && | > > < << ) } ;; & ( { $( \n", []),
    "nothing": ("", []),
}
