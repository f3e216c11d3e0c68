"""Where a page says that it comes from: its commit, version, source and profile.

A page can say anything. Its commit must be in this repository and hold the page's template; what it
says of its trials must be what the trials say.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from sizebook.book.audit.bundles import AuditedBundle
from sizebook.book.audit.contents import WrongResult
from sizebook.book.audit.findings import AuditReport
from sizebook.book.audit.outputs import ExecutedPage, cited_by, parameters_of
from sizebook.book.audit.rules import Severity
from sizebook.book.audit.targets import AuditTarget
from sizebook.book.chapters import Chapter
from sizebook.book.notebooks import hash_cells
from sizebook.report.evidence import git_environment
from sizebook.store import Project

RENEWED = "replay"
"""Commit in the evidence of a page that was made again from its own trials: that of the run counts.
"""
CHANGES = "+changes"
MEASURED = "measure"
PUBLISHED = "published"
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_VERSION = re.compile(rb"""^__version__ = ["']([^"']{1,40})["']$""", re.MULTILINE)
_PACKAGE = "src/sizebook/__init__.py"
_TIMEOUT_S = 60

Cited = Mapping[str, Sequence[AuditedBundle]]


class History:
    """The commits that a project's repository has, if it has any."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @cached_property
    def known(self) -> bool:
        """Whether the project is in a repository with commits; git must be there."""
        return self._ask("rev-parse", "--verify", "--quiet", "HEAD") is not None

    @cached_property
    def whole(self) -> bool:
        """Whether no commits were left out of the repository when it was cloned."""
        return self._ask("rev-parse", "--is-shallow-repository") == b"false\n"

    @cached_property
    def begin_s(self) -> int:
        """Clock time of the oldest commit that HEAD stands on, in seconds since 1970."""
        dates = self._ask("log", "--max-parents=0", "--format=%ct", "HEAD") or b""
        return min(map(int, dates.split()), default=0)

    def has(self, commit: str) -> bool:
        """Return whether there is such a commit."""
        return self._ask("cat-file", "-e", f"{commit}^{{commit}}") is not None

    def read(self, commit: str, name: str) -> bytes | None:
        """Return a file below the project's folder as a commit has it, None where it has none."""
        return self._ask("show", f"{commit}:./{name}")

    def _ask(self, *words: str) -> bytes | None:
        try:
            done = subprocess.run(
                ["git", *words],
                cwd=self._root,
                env=git_environment(),
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout


def audit_provenance(
    page: ExecutedPage,
    chapter: Chapter,
    bundles: Cited,
    history: History,
    target: AuditTarget,
    report: AuditReport,
) -> None:
    """Report what a page says of its origin that is not so, and what cannot be checked.

    A page from elsewhere may be from a repository of its own, and from a folder that is not here.
    """
    found = [*_stamp(page, chapter), *_evidence(page), *_trials(page, bundles)]
    if target.own and target.project is not None:
        found += _source(page, bundles, target.project)
    for wrong in found:
        report.add(
            wrong.rule, page.file.name, wrong.message,
            found=wrong.found, expected=wrong.expected, spoils=[page.item],
        )  # fmt: skip
    _commit(page, chapter, bundles, history, report, foreign=target.foreign)


def _stamp(page: ExecutedPage, chapter: Chapter) -> Iterator[WrongResult]:
    said = str(page.run.get("template"))
    if page.run and said != chapter.notebook.name:
        yield _wrong("the template is", said, chapter.notebook.name)


def _evidence(page: ExecutedPage) -> Iterator[WrongResult]:
    """Yield what the evidence of results says otherwise than the page: it was one run."""
    run = page.run
    source = parameters_of(page).get("source")
    expected = {"commit": run.get("commit"), "harness": run.get("harness"), "source": source}
    found: dict[str, set[str]] = {name: set() for name in expected}
    for output in page.results:
        evidence = (output.fields or {}).get("evidence")
        if not isinstance(evidence, dict):
            continue
        made_with = evidence.get("parameters")
        for name in ("commit", "harness"):
            if name in evidence:  # AU214 names a record without it
                found[name].add(str(evidence[name]))
        if isinstance(made_with, dict) and "source" in made_with:
            found["source"].add(str(made_with["source"]))
    found["commit"].discard(RENEWED)
    for name, said in found.items():
        if run and not said <= {str(expected[name])}:
            yield _wrong(f"{name} in the evidence is", min(said - {str(expected[name])}),
                         str(expected[name]))  # fmt: skip


def _trials(page: ExecutedPage, bundles: Cited) -> Iterator[WrongResult]:
    """Yield what the page says of its trials and these say otherwise."""
    said = parameters_of(page).get("profile")
    profiles = {str(each.bundle.record.trial.profile) for each in _cited(page, bundles)}
    if said is not None and not profiles <= {str(said)}:
        yield _wrong("the profile is", said, ", ".join(sorted(profiles)))


def _source(page: ExecutedPage, bundles: Cited, project: Project) -> Iterator[WrongResult]:
    """Yield a source of the own run's page in which its trials are not.

    Of what was measured they may be in the runs, or in the round from which the page was taken.
    """
    said = parameters_of(page).get("source")
    if said is None:
        return
    if "\0" in str(said):
        yield _wrong("the source is", said, "the name of a folder")
        return
    published = (project.published, project.state / "published")
    places = {MEASURED: (project.runs, *published), PUBLISHED: published}
    folders = places.get(str(said), (project.root / str(said),))
    for each in _cited(page, bundles):
        place = each.bundle.path.resolve()
        if not any(place.is_relative_to(folder.resolve()) for folder in folders):
            yield _wrong("the source is", said, each.place)
            return
    if str(said) not in places and not folders[0].is_dir():
        yield _wrong("the source is", said, f"{MEASURED}, {PUBLISHED} or a folder with bundles")


def _cited(page: ExecutedPage, bundles: Cited) -> list[AuditedBundle]:
    names = {source.bundle for output in page.results for source in cited_by(output)}
    return [each for name in sorted(names) for each in bundles.get(name, ())]


def _commit(
    page: ExecutedPage,
    chapter: Chapter,
    bundles: Cited,
    history: History,
    report: AuditReport,
    *,
    foreign: bool,
) -> None:
    said = str(page.run.get("commit", "unknown"))
    commit, changed = said.removesuffix(CHANGES), said.endswith(CHANGES)
    if said == "unknown":  # AU211 says so
        return
    if not _COMMIT.fullmatch(commit):
        _unknown(page, commit, "no commit", report, "error")
    elif not history.known:
        _unchecked(page, commit, "there is no git history here", report)
    elif history.has(commit):
        template = history.read(commit, f"notebooks/{chapter.notebook.name}")
        recorded = page.run.get("template_sha256")
        if template is not None and _hash(template) != recorded and not changed:
            _unknown(page, commit, "another template than the page's", report, "error")
        elif template is None and not changed:
            _unknown(page, commit, f"no {chapter.notebook.name}", report, "error")
        elif (version := _version(history, commit)) not in (None, page.run.get("harness")):
            _unknown(page, commit, f"version {version} of the harness", report, "error")
    elif not history.whole:
        _unchecked(page, commit, "the git history here is not whole", report)
    elif history.begin_s > _measured_s(page, bundles):
        _unchecked(page, commit, "the git history here begins after its trials", report)
    else:
        _unknown(page, commit, "not in this repository", report, "warning" if foreign else "error")


def _measured_s(page: ExecutedPage, bundles: Cited) -> float:
    """Return when the newest trial of the page's chapter was measured; 0 without any."""
    return max(
        (
            each.bundle.record.execution.wall_ns / 1e9
            for group in bundles.values()
            for each in group
            if each.bundle.record.trial.chapter == page.file.chapter
        ),
        default=0.0,
    )


def _version(history: History, commit: str) -> str | None:
    """Return the version of the harness at a commit; None where the harness is not in it."""
    found = _VERSION.search(history.read(commit, _PACKAGE) or b"")
    return found[1].decode(errors="replace") if found else None


def _hash(notebook: bytes) -> str | None:
    try:
        return hash_cells(json.loads(notebook)["cells"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _unknown(
    page: ExecutedPage, commit: str, words: str, report: AuditReport, severity: Severity
) -> None:
    report.add(
        "AU217-unknown-source", page.file.name,
        f"the page is from an unknown source: commit {commit[:60]}: {words}",
        found=f"{commit[:60]}: {words}", expected="a commit here that holds the page's template",
        spoils=[page.item], severity=severity,
    )  # fmt: skip


def _unchecked(page: ExecutedPage, commit: str, words: str, report: AuditReport) -> None:
    report.add(
        "AU218-commit-unchecked", page.file.name,
        f"commit {commit[:12]} of the page cannot be checked: {words}",
        found=words, expected="a repository that has the commit",
    )  # fmt: skip


def _wrong(what: str, found: Any, expected: Any) -> WrongResult:
    said, should = str(found)[:120], str(expected)[:120]
    return WrongResult("AU219-provenance", f"{what} {said}, not {should}", said, should)
