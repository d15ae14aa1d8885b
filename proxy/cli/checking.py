"""`test` and `scan`: text and files against the rules, by the server's own turn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from proxy import inventory, rulecheck
from proxy import scan as scanning
from proxy.cli.options import (
    CLEAN,
    VIOLATIONS,
    Agent,
    Config,
    Json,
    Workspace,
    console,
    document,
    reporting,
    settings_of,
)
from proxy.config import Settings
from proxy.inventory import Inventory
from proxy.places import lies_in, real_path
from proxy.quantities import how_many, size
from proxy.sarif import github, message, sarif
from proxy.scan import FileReport, ScanOptions, ScanReport, Skipped
from proxy.snippet import Given
from proxy.snippet import take as take_snippet
from proxy.trial import Ground
from proxy.verdict import Report, Verdict, shown
from proxy.verdict import fields as verdict_fields
from rules_engine.scope import Surface

Format = Literal["text", "json", "sarif", "github"]

_SKIPPED: Mapping[Skipped, str] = MappingProxyType(
    {
        "binary": "binary",
        "large": "too large",
        "unreadable": "unreadable",
        "noRelevantRules": "without a rule for such files",
    }
)


def try_output(  # noqa: PLR0917 - one parameter a flag
    snippet: Annotated[
        str | None,
        typer.Argument(
            help="The text, or a file that holds it (else it is taken for the text); - for stdin."
        ),
    ] = None,
    file: Annotated[str | None, typer.Option(help="File that holds the text; - for stdin.")] = None,
    rule: Annotated[
        Path | None, typer.Option("--rule", "-r", help="Try this rule file, and no other.")
    ] = None,
    surface: Annotated[
        Surface | None,
        typer.Option("--surface", "--source", help="What a model would have written it as."),
    ] = None,
    tool: Annotated[
        str | None, typer.Option(help="The tool that is called; edit where none is named.")
    ] = None,
    path: Annotated[
        str | None, typer.Option("--path", "-p", help="The file that the call would change.")
    ] = None,
    agent: Agent = "main",
    workspace: Workspace = None,
    config: Config = None,
    *,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Explain every gate of every rule.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Try a text on the rules, and explain each gate. Status 1: a rule is broken."""
    with reporting(as_json=as_json):
        settings = settings_of(workspace, config)
        ground = Ground.of(settings)
        given = Given(snippet, file, surface, tool, path)
        taken = take_snippet(
            given,
            ground.workspace,
            _piped if snippet is None and file is None else sys.stdin.buffer.read,
        )
        found = inventory.alone(rule, agent) if rule else inventory.take(settings, agent)
        report = rulecheck.check(found, taken.output, ground)
    if as_json:
        document(verdict_fields(report, agent, taken.inferred))
    else:
        _print_report(report, agent, taken.inferred, verbose=verbose)
    raise typer.Exit(VIOLATIONS if report.triggered else CLEAN)


def _piped() -> bytes:
    """Standard input where something is piped in; nobody is made to wait for a terminal."""
    return b"" if sys.stdin.isatty() else sys.stdin.buffer.read()


def _print_report(report: Report, agent: str, inferred: str | None, *, verbose: bool) -> None:
    out = console()
    output = report.output
    tool = f" {output.tool}" if output.tool else ""
    path = f" on {output.path}" if output.path else ""
    how = f" (inferred, {inferred})" if inferred else ""
    length = len(output.text.encode("utf-8", "surrogatepass"))
    out.print(
        Text(f"{output.surface}{tool}{path}{how}, agent {agent}, {length} bytes: "
             f"{shown(output.text)}"), soft_wrap=True,
    )  # fmt: skip
    evaluated = [verdict for verdict in report.verdicts if verdict.evaluated]
    hits = len(report.triggered)
    out.print(f"{len(evaluated)} evaluated, {hits} triggered, {len(evaluated) - hits} not")
    told = [
        verdict
        for verdict in report.verdicts
        if verbose or verdict.triggered or not verdict.bundled
    ]
    for verdict in sorted(told, key=lambda each: not each.triggered):
        _print_verdict(out, verdict, full=verbose or verdict.triggered)
    left = len(report.verdicts) - len(told)
    if left:
        out.print(f"{left} bundled rules did not hit; --verbose explains them")


def _print_verdict(out: Console, verdict: Verdict, *, full: bool) -> None:
    head = f"{verdict.entry.name} ({verdict.entry.path})"
    stopped = verdict.stopped_by
    if verdict.triggered or stopped is None:
        out.print(Text(f"✗ {head}: {verdict.deed}", "bold red"), soft_wrap=True)
    else:
        says = stopped.says.replace("\n", "\n    ")
        out.print(Text(f"· {head}: stopped at {stopped.name}: {says}"), soft_wrap=True)
    for gate in [each for each in verdict.gates if each.passed] if full else ():
        out.print(Text(f"    passed {gate.name}: {gate.says}"), soft_wrap=True)
    if full and verdict.held:
        held = verdict.held
        where = f" behind the first {held.released}" if held.released else ""
        says = f"    held: {held.characters} characters{where}; {held.says}"
        out.print(Text(says), soft_wrap=True)


def scan(  # noqa: PLR0917 - one parameter a flag
    directory: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="What to scan.", show_default=False)
    ] = Path(),
    agent: Agent = "main",
    workspace: Workspace = None,
    config: Config = None,
    form: Annotated[
        Format,
        typer.Option("--format", help="What to print; github: annotations of a workflow's run."),
    ] = "text",
    max_bytes: Annotated[
        str, typer.Option(help="Larger files are skipped, such as 5MiB; 0 for no limit.")
    ] = "5MiB",
    *,
    gitignore: Annotated[bool, typer.Option(help="Leave out what git ignores.")] = True,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Violations do not fail.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Name the skipped files too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Try files on the rules, each as if it were edited and written. Status 1: violations.

    Every rule tells the first place in a file where it hits, as it would tell a model.
    """
    form = "json" if as_json else form
    with reporting(as_json=form == "json"):
        settings = _around(settings_of(workspace, config), directory, workspace)
        found = inventory.take(settings, agent)
        options = ScanOptions(real_path(directory), gitignore, _bytes(max_bytes))
        with _progress() as progress:
            report = scanning.scan(found.ruleset, Ground.of(settings), options, progress)
    _print_scan(report, form, verbose=verbose)
    _warn(found, report)
    raise typer.Exit(VIOLATIONS if report.matched and not exit_zero else CLEAN)


def _around(settings: Settings, directory: Path, workspace: Path | None) -> Settings:
    """The rules of the workspace, or of the directory itself where it lies elsewhere."""
    inside = lies_in(str(real_path(directory)), str(real_path(settings.workspace)))
    if inside or workspace is not None:
        return settings
    return settings.model_copy(update={"workspace": real_path(directory)})


def _bytes(written: str) -> int:
    try:
        return int(written) if written.strip().isdigit() else int(str(size(written)))
    except ValueError as problem:
        raise typer.BadParameter(f"--max-bytes {written}: {problem}") from None


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, where that is a terminal."""
    columns = (TextColumn("scanning"), BarColumn(), MofNCompleteColumn())
    hidden = not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=hidden) as bar:
        task = bar.add_task("scan")
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _print_scan(report: ScanReport, form: Format, *, verbose: bool) -> None:
    match form:
        case "json":
            document(scanning.fields(report))
        case "sarif":
            document(sarif(report))
        case "github":
            for line in github(report):
                typer.echo(line)
        case "text":
            _print_text(report, verbose=verbose)


def _print_text(report: ScanReport, *, verbose: bool) -> None:
    out = console()
    for file in report.matched:
        for each in file.violations:
            line = Text.assemble(
                (f"{file.path}:{each.line}:{each.column}", "bold"),
                f": {message(each)}  ",
                (shown(each.text), "italic"),
            )
            out.print(line, soft_wrap=True)
    for file in report.files if verbose else ():
        if file.skipped:
            out.print(
                Text(f"{file.path}: skipped, {_SKIPPED[file.skipped]}", "dim"), soft_wrap=True
            )
    out.print(_summary(report.files, report), soft_wrap=True)


def _summary(files: Sequence[FileReport], report: ScanReport) -> str:
    told = scanning.fields(report)["summary"]
    reasons = told["skipped"].items()
    skipped = ", ".join(f"{count} {_SKIPPED[why]}" for why, count in reasons if count)
    return (
        f"{how_many(told['totalMatches'], 'violation')} in {told['matchedFiles']} of "
        f"{how_many(len(files), 'file')}, {how_many(told['evaluatedRules'], 'rule')}, "
        f"{how_many(told['skippedFiles'], 'file')} skipped" + (f" ({skipped})" if skipped else "")
    )


def _warn(found: Inventory, report: ScanReport) -> None:
    for path, name in report.quarantined:
        typer.echo(
            f"warning: {name} was not decided on {path}, which is too large or too slow to search.",
            err=True,
        )
    errors = inventory.counted(found.problems)["errors"]
    if errors:
        told = how_many(errors, "error")
        typer.echo(f"warning: {told} in rule files, so rules may be missing: ttsr lint", err=True)
