"""``sizebook audit``: everything recomputed from bundles and compared."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sizebook.cli.output import print_json, say
from sizebook.model.errors import BundleError, UsageError
from sizebook.store import Project, find_project

if TYPE_CHECKING:
    from sizebook.book.audit.findings import AuditReport
    from sizebook.book.audit.targets import AuditTarget

_SHOWN = 12


def audit(
    path: Path | None = typer.Argument(
        None, help="A bundle, a folder of bundles, or an archive of them, that somebody sent."
    ),
    published: bool = typer.Option(False, help="Audit data/published instead of the own run."),
    chapter: list[str] = typer.Option([], "--chapter", help="Only this chapter; may be repeated."),
    replay: bool = typer.Option(True, help="Execute the templates again and compare."),
    site: bool = typer.Option(True, help="Build the site again and compare."),
    quick: bool = typer.Option(False, "--quick", help="Neither replay nor site."),
    every: bool = typer.Option(False, "--all", help="Print every finding, however many."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for another program."),
) -> None:
    """Recompute every figure, table, number and claim from bundles, and compare.

    Without PATH: this checkout's own run. Measures nothing and needs no measurement lock. Exit
    code 0 if no error was found, 1 if there was one.
    """
    from sizebook.book.audit.auditing import (
        Options,
        audit_published,
        refuse_archive,
        run_audit,
    )

    if path is not None and published:
        raise typer.BadParameter("PATH and --published are two different things to audit")
    options = Options(replay=replay and not quick, site=site and not quick)
    with tempfile.TemporaryDirectory(prefix="sizebook-audit-") as folder:
        try:
            target = None if published else _find_target(path, chapter, Path(folder).resolve())
        except BundleError as error:
            assert path is not None  # none but an archive is unpacked here
            report = refuse_archive(path.name, error)
        else:
            if target is None:
                report = audit_published(find_project(), chapter, options, _say)
            else:
                report = run_audit(target, options, _say)
    if as_json:
        print_json(report.as_json())
    else:
        _show(report, every)
    raise typer.Exit(1 if report.number_of("error") else 0)


def _find_target(path: Path | None, chapters: list[str], into: Path) -> AuditTarget:
    """Return what the words on the command line name; an archive is unpacked into a folder."""
    from sizebook.book.audit.targets import folder_target, own_target
    from sizebook.book.crate.received import is_crate_archive, unpack_crate
    from sizebook.store.plain_files import need_plain
    from sizebook.store.received import is_archive, unpack_bundles

    if path is None:
        return own_target(find_project(), chapters)
    if not path.exists():
        raise UsageError(
            found=f"nothing at {path}",
            expected="a bundle, a folder of bundles, or an archive of them",
            next_step="sizebook audit --help",
        )
    if path.is_dir():
        return folder_target(path.resolve(), _try_project(), chapters)
    need_plain(path, "an archive of bundles")
    if not is_archive(path):
        raise UsageError(
            found=f"{path.name}, a file that is no archive",
            expected="a bundle's folder, a folder of bundles, or an archive of them: a .zip",
            next_step="name one of these; without a path, sizebook audit recomputes the own run",
        )
    unpack = unpack_crate if is_crate_archive(path) else unpack_bundles
    unpack(path, into)
    return dataclasses.replace(folder_target(into, _try_project(), chapters), words=path.name)


def _try_project() -> Project | None:
    """Return the checkout around this folder, None if there is none: bundles need none."""
    try:
        return find_project()
    except UsageError:
        return None


def _say(words: str) -> None:
    say(f"audit: {words}", aside=True)


def _show(report: AuditReport, every: bool) -> None:
    from sizebook.book.audit.rules import SEVERITIES

    shown: dict[str, int] = {}
    for finding in report.sorted_findings:
        shown[finding.rule] = shown.get(finding.rule, 0) + 1
        if every or shown[finding.rule] <= _SHOWN:
            say(str(finding))
    for rule, number in shown.items():
        if number > _SHOWN and not every:
            say(f"{rule}: {number - _SHOWN} more findings (--all, or --json, shows them)")
    steps: dict[str, dict[str, None]] = {}
    for finding in report.sorted_findings:
        if finding.severity == "error":
            short = finding.rule.partition("-")[0]
            steps.setdefault(finding.next_step, {})[short] = None
    for step, rules in steps.items():
        say(f"next ({', '.join(rules)}): {step}")
    counts = report.counts()
    words = [f"{counts[kind].verified} of {counts[kind].checked} {kind}"
             for kind in ("figures", "tables", "numbers", "claims")]  # fmt: skip
    say(f"{report.target}: {', '.join(words)} verified; "
          f"{counts['bundles'].verified} of {counts['bundles'].checked} bundles, "
          f"{counts['pages'].verified} of {counts['pages'].checked} pages")  # fmt: skip
    if report.skipped:
        say(f"not the whole audit: {', '.join(report.skipped)} left out")
    numbers = {name: report.number_of(name) for name in SEVERITIES}
    say(", ".join(f"{n} {name}" if n == 1 else f"{n} {name}s" for name, n in numbers.items()))
