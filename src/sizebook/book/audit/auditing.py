"""One audit from begin to end: bundles, pages, reported data, replay, site."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from sizebook.book.audit.agreement.checking import check_agreement
from sizebook.book.audit.agreement.shown import measurands_of
from sizebook.book.audit.bundles import AuditedBundle, audit_bundles
from sizebook.book.audit.contents import Draw, LookUp
from sizebook.book.audit.designs import audit_designs, audit_freshness
from sizebook.book.audit.drawing import Drawer
from sizebook.book.audit.findings import AuditReport
from sizebook.book.audit.outputs import ExecutedPage, cited_by
from sizebook.book.audit.pages import audit_page, check_up_to_date, open_page
from sizebook.book.audit.provenance import History, audit_provenance
from sizebook.book.audit.replay import Places, Replay, compare_replay, replay_page
from sizebook.book.audit.reported import audit_claims, audit_reported, audit_written
from sizebook.book.audit.rounds import audit_rounds
from sizebook.book.audit.site import audit_site
from sizebook.book.audit.targets import AuditTarget, published_target
from sizebook.book.audit.treatments import audit_treatments
from sizebook.book.chapters import Chapter, find_chapters
from sizebook.book.crate.rules import is_crate
from sizebook.book.ledger.tables import read_tables
from sizebook.model.claim import Claim
from sizebook.model.errors import BundleError, UsageError, UserError
from sizebook.model.measurand import Measurand
from sizebook.report.claims import find_claim
from sizebook.store import Project

_LOOK_EVERY_S = 0.5
Say = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """Which parts of the audit to do; what is left out is said in the report."""

    replay: bool = True
    site: bool = True


def audit_published(
    project: Project,
    chapters: Sequence[str] = (),
    options: Options = Options(),
    say: Say = lambda _: None,
) -> AuditReport:
    """Audit the rounds in ``data/published``: each as such, and the newest of each chapter in full.

    A round with a damaged pack is not looked into. Raises UsageError if there is none at all.
    """
    report = AuditReport("published data")
    rounds = audit_rounds(project, report, say)
    if not rounds and report.number_of("error"):
        return report
    return run_audit(published_target(project, rounds, chapters), options, say, report)


def run_audit(
    target: AuditTarget,
    options: Options = Options(),
    say: Say = lambda _: None,
    report: AuditReport | None = None,
) -> AuditReport:
    """Audit a target and return what was found; ``say`` is told what is being done.

    ``report`` is what was found of it before. Measures nothing and writes nothing but in a
    temporary folder, so that it may run while a measurement does.
    """
    report = report or AuditReport(target.words)
    report.skipped += _skipped(target, options)
    if not target.own and is_crate(target.base):
        say("crate: files and metadata")
        _audit_crate(target.base, report)
    audited = audit_bundles(target, report, lambda done, of: _tell(say, "bundles", done, of))
    pages = [page for file in target.pages if (page := open_page(file, report)) is not None]
    if target.chapters and not audited and not pages:
        raise UsageError(
            found=f"neither bundle nor page of {', '.join(target.chapters)} in {target.words}",
            expected="the id of a chapter that is there",
            next_step="sizebook chapters",
        )
    cited = {each.bundle for page in pages for out in page.results for each in cited_by(out)}
    audit_designs(audited, cited, report, own=target.own)
    project = target.project
    if project is not None:
        audit_freshness(audited, project, report, own=target.own)
    _audit_pages(pages, audited, target, options, report, say)
    if project is not None and target.own:
        audit_reported(project, report)
        if options.site and not target.chapters:
            say("site: building it again")
            with tempfile.TemporaryDirectory(prefix="sizebook-audit-") as folder:
                audit_site(project, report, Path(folder).resolve())
    return report


def refuse_archive(name: str, error: BundleError) -> AuditReport:
    """Return the report on an archive that could not be unpacked: one finding."""
    report = AuditReport(name)
    report.add("AU101-record", name, error.found, found=error.found, expected=error.expected,
               next_step=error.next_step)  # fmt: skip
    return report


def _audit_crate(folder: Path, report: AuditReport) -> None:
    from sizebook.book.crate.audit import audit_crate  # noqa: PLC0415 - rocrate is slow

    for each in audit_crate(folder):
        report.add(each.rule, each.place, each.message, found=each.found, expected=each.expected)


def _audit_pages(
    pages: Sequence[ExecutedPage],
    audited: Sequence[AuditedBundle],
    target: AuditTarget,
    options: Options,
    report: AuditReport,
    say: Say,
) -> None:
    project = target.project
    chapters = {each.id: each for each in find_chapters(project.root)} if project else {}
    look_up = _look_up(project)
    bundles: dict[str, list[AuditedBundle]] = defaultdict(list)
    for each in audited:
        bundles[each.bundle.id].append(each)
    replayed = [
        (page, chapter)
        for page in pages
        if options.replay and (chapter := chapters.get(page.file.chapter)) is not None
    ]
    with (
        Drawer() as drawer,
        _replays(replayed, bundles, project, say, own=target.own) as replays,
    ):
        _audit_results(pages, chapters, bundles, look_up, drawer.draw, target, report, say)
        measurands: dict[tuple[str, str], Measurand] = {}
        for page, again in replays:
            compare_replay(page, again, report, own=target.own)
            audit_treatments(page, again.notes, bundles, report)
            if again.made is not None:
                measurands |= measurands_of(again.made)
    treatments = {one: group[0].bundle.record.trial.treatment for one, group in bundles.items()}
    book = project.book if project is not None and not target.foreign else None
    check_agreement(pages, treatments, measurands, report, book)
    if project is not None:
        audit_claims(pages, look_up, report)
        audit_written(pages, read_tables(project.root), report)


def _audit_results(
    pages: Sequence[ExecutedPage],
    chapters: Mapping[str, Chapter],
    bundles: Places,
    look_up: LookUp,
    draw: Draw,
    target: AuditTarget,
    report: AuditReport,
    say: Say,
) -> None:
    """Report what is wrong with the pages as they stand."""
    project = target.project
    history = History(project.root) if project else None
    for page in pages:
        chapter = chapters.get(page.file.chapter)
        say(f"{page.file.name}: results")
        audit_page(page, chapter, bundles, look_up, draw, report)
        if chapter is not None and history is not None:
            audit_provenance(page, chapter, bundles, history, target, report)
        if chapter is None:
            report.add(
                "AU306-no-template", page.file.name, "there is no template of this page here",
                found=f"no notebook of chapter {page.file.chapter}", expected="its template",
                spoils=page.every_item(),
            )  # fmt: skip
        elif project is not None and target.own:
            check_up_to_date(page, project, chapter, report)


@contextlib.contextmanager
def _replays(
    pages: Sequence[tuple[ExecutedPage, Chapter]],
    bundles: Places,
    project: Project | None,
    say: Say,
    *,
    own: bool,
) -> Iterator[Iterator[tuple[ExecutedPage, Replay]]]:
    """Give the replays in the order of the pages; as many as there are CPUs go on at a time.

    Each is a process, which a thread of this one waits for. Whatever ends the audit ends them.
    """
    if project is None or not pages:
        yield iter(())
        return
    over = threading.Event()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        try:
            begun = deque(
                (page, pool.submit(replay_page, page, chapter, bundles, project, over, own=own))
                for page, chapter in pages
            )
            yield _in_order(begun, say)
        except BaseException:
            over.set()
            pool.shutdown(cancel_futures=True)
            raise


def _in_order(
    begun: deque[tuple[ExecutedPage, Future[Replay]]], say: Say
) -> Iterator[tuple[ExecutedPage, Replay]]:
    """Give each page with its replay, which nobody keeps after that."""
    while begun:
        page, replay = begun.popleft()
        say(f"{page.file.name}: replay")
        while not replay.done():  # a wait without end is not always woken by Ctrl-C
            wait([replay], _LOOK_EVERY_S)
        yield page, replay.result()


def _look_up(project: Project | None) -> LookUp:
    """Return what finds a report's claim by its id."""

    def look_up(claim_id: str) -> Claim | None:
        try:
            return find_claim(claim_id, project) if project else None
        except (UserError, OSError):
            return None

    return look_up


def _skipped(target: AuditTarget, options: Options) -> list[str]:
    skipped = [] if options.replay or not target.pages else ["replay"]
    if target.own:
        skipped += [] if options.site and not target.chapters else ["site"]
    return skipped + (["other chapters"] if target.chapters else [])


def _tell(say: Say, what: str, done: int, of: int) -> None:
    if done == of or done % 50 == 0:
        say(f"{what}: {done} of {of}")
