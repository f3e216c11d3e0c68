"""A chapter packed for a round: its page rehearsed on whole trials, and proved on packed ones.

The template is executed twice. First on the whole bundles, while everything that is derived from
rows is noted; that must give the page as it stands. Then on what the pack holds, and that must give
the same page again, number for number.
"""

from __future__ import annotations

import hashlib
import math
import shlex
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sizebook.book.audit.bundles import AuditedBundle, BundleLook, look_at, read_through
from sizebook.book.audit.findings import AuditReport
from sizebook.book.audit.outputs import cited_by
from sizebook.book.audit.replay import compare_replay, replay_page
from sizebook.book.audit.treatments import audit_treatments
from sizebook.book.published.choosing import Chosen
from sizebook.book.published.stated import state_trials
from sizebook.book.trial_pages.pages import ask_requests
from sizebook.checks import JUDGED
from sizebook.lab import calibration
from sizebook.model.errors import BundleError, UserError
from sizebook.model.verdict import Finding, Judgement
from sizebook.stats.histograms import read_interval_log, write_phase_log
from sizebook.store import Bundle, Project, find_bundles
from sizebook.store.bundles import REQUESTS
from sizebook.store.derived import encode_answer
from sizebook.store.digest import write_digest
from sizebook.store.digest_recording import noted, rehearsing, used
from sizebook.store.left_out import PHASE_HISTOGRAMS
from sizebook.store.packs import pack, published_files, recorded_files
from sizebook.store.rounds import (
    BORROWED,
    PAGES,
    ArchiveRecord,
    PackRecord,
    Published,
    Round,
    RoundRecord,
    unpack_together,
)

Files = Mapping[str, bytes]
_SHORT = 12


def rehearse(project: Project, chosen: Chosen, scratch: Path) -> Files:
    """Return the files of a chapter's pack, by name.

    Raises BundleError for damaged trials, UserError if the page is not what its trials make.
    """
    notes = scratch / "notes"
    borrowed = audit_bundles(chosen.borrowed)
    with rehearsing(scratch / "judged"):
        own = audit_bundles(chosen.own)
    floor = _calibration(project.runs / calibration.CHAPTER, (*own, *borrowed))
    with rehearsing(notes):
        report = _replay(project, chosen, [*own, *borrowed, *floor])
    _refuse_errors(
        report, chosen, f"page of {chosen.chapter.id} that its trials do not make",
        f"sizebook run {shlex.quote(chosen.chapter.id)}",
    )  # fmt: skip
    shown = used(notes) | {each.sha256 for out in chosen.page.results for each in cited_by(out)}
    with rehearsing(scratch / "pages"):
        for each in own:
            if each.bundle.sha256 in shown:
                ask_requests(replace(each.bundle))  # an object of its own, which keeps the rows
    answers, judged, pages = (noted(scratch / name) for name in ("notes", "judged", "pages"))
    files: dict[str, bytes] = {}
    for each in own:
        bundle, sha256 = each.bundle, each.bundle.sha256
        if sha256 in shown or _tells_noise(bundle):
            told = (pages.get(sha256, {}), judged.get(sha256, {}), answers.get(sha256, {}))
            together = {question: answer for some in told for question, answer in some.items()}
            histograms = _phase_histograms(bundle, scratch / PHASE_HISTOGRAMS)
            named = published_files(bundle, _digest(bundle, together), histograms)
        else:
            verdict = {JUDGED: encode_answer(each.judgement, Judgement)}
            named = recorded_files(bundle, _digest(bundle, verdict))
        files |= {f"{bundle.id}/{name}": data for name, data in named.items()}
    files |= borrowed_digests([each.bundle for each in (*borrowed, *floor)], answers)
    files[f"{PAGES}/{chosen.chapter.id}.ipynb"] = chosen.page.file.path.read_bytes()
    return files


def borrowed_digests(
    bundles: Iterable[Bundle], answers: Mapping[str, Mapping[str, Any]]
) -> dict[str, bytes]:
    """Return the files of a pack that hold what its page asked of other chapters' trials."""
    return {
        f"{BORROWED}/{each.record.trial.chapter}/{each.id}/{each.sha256}.json": _digest(
            each, answers[each.sha256]
        )
        for each in bundles
        if each.sha256 in answers
    }


def write_packs(
    chosen: Chosen, files: Files, folder: Path, before: Published | None = None
) -> PackRecord:
    """Write a chapter's packs into a folder, under names of their contents; return their record.

    Where a round had the trials ``before``, their pack stays the very file that it was, and what
    was measured how is as it was.
    """
    page = {name: data for name, data in files.items() if _is_of_page(name)}
    trials = {name: data for name, data in files.items() if name not in page}
    chapter = chosen.chapter.id
    if not trials:
        packs = {**_write(page, folder, chapter), "page": None}
    elif before is not None and before.pack.page is not None:
        shutil.copyfile(before.paths[0], folder / before.pack.file)
        packs = {"page": ArchiveRecord(**_write(page, folder, f"{chapter}-page"))}
    else:
        apart = ArchiveRecord(**_write(page, folder, f"{chapter}-page"))
        packs = {**_write(trials, folder, chapter), "page": apart}
    packs["commit"] = str(chosen.page.run.get("commit", "unknown"))[:80]
    if before is not None:
        return before.pack.model_copy(update=packs)
    stated = state_trials([each.record for each in chosen.own])
    return PackRecord(chapter=chapter, profile=chosen.profile, **packs, **stated)


def _is_of_page(name: str) -> bool:
    """Return whether a file goes with the page, which may be made again, and not with trials."""
    return name.partition("/")[0] in (PAGES, BORROWED)


def _write(files: Files, folder: Path, name: str) -> dict[str, Any]:
    """Write a pack; return the fields of its record."""
    partial = folder / "partial.tar.xz"
    pack(partial, files)
    data = partial.read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    file = f"{name}-{sha256[:_SHORT]}.tar.xz"
    partial.rename(folder / file)
    return {"file": file, "sha256": sha256, "bytes": len(data)}


def prove(project: Project, chosen: Chosen, packs: Mapping[str, Published], scratch: Path) -> None:
    """Raise UserError unless a chapter's pack makes its page again and its trials' verdicts.

    ``packs`` are those that will be read together, this one among them.
    """
    view = unpack_together(packs, scratch / "unpacked")
    wanted = {each.id: each.sha256 for each in (*chosen.own, *chosen.borrowed)}
    there = {path.name: path for path in find_bundles(view)}
    found = [look_at(there[name]) for name in sorted(wanted) if name in there]
    same = {
        look.bundle.id: look
        for look in found
        if look.bundle is not None and look.bundle.sha256 == wanted[look.bundle.id]
    }
    if lacking := sorted({*wanted} - {*same}):
        lenders = {each.record.trial.chapter for each in chosen.borrowed if each.id in lacking}
        raise UserError(
            found=f"{len(lacking)} trials that {chosen.chapter.id} shows and no round would have"
            + (f", of {', '.join(sorted(lenders))}" if lenders else f", first {lacking[0]}"),
            expected="chapters published together with those that they borrow from",
            next_step=f"sizebook publish {shlex.join([*sorted(lenders), chosen.chapter.id])}",
        )
    packed = _checked(map(read_through, same.values()))
    floor = _calibration(view / calibration.CHAPTER, packed)
    judged = {each.bundle.id: each.judgement for each in packed}
    for each in chosen.own:
        whole = read_through(look_at(each.path)).judgement
        if not _same_judgement(judged[each.id], whole):
            raise _not_proved(f"trial {each.id}, judged otherwise without its rows")
    report = _replay(project, chosen, [*packed, *floor])
    _refuse_errors(
        report, chosen, f"page of {chosen.chapter.id} that the pack does not make again",
        "mark the functions that look at rows with store.derived, and publish again",
    )  # fmt: skip


def _same_judgement(packed: Judgement | None, whole: Judgement | None) -> bool:
    """Return whether every rule said the same, by the same numbers.

    Their last bits may differ: a sum depends on how its terms lie in the file.
    """
    one, other = ([] if each is None else each.findings for each in (packed, whole))
    return len(one) == len(other) and all(map(_same_finding, one, other))


def _same_finding(one: Finding, other: Finding) -> bool:
    words = [(each.rule, each.passed, each.verdict, each.message) for each in (one, other)]
    if words[0] != words[1] or one.numbers.keys() != other.numbers.keys():
        return False
    pairs = [(value, other.numbers[name]) for name, value in one.numbers.items()]
    return all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(a) and math.isnan(b))
        for a, b in pairs
    )


def staged(folder: Path, name: str, record: PackRecord) -> Published:
    """Return packs that lie in a folder as if it belonged to a round already."""
    known = RoundRecord(name=name, replicates=0, packs=(record,))
    return Published(Round(folder, known, ""), record)


def audit_bundles(bundles: Iterable[Bundle]) -> list[AuditedBundle]:
    """Return these trials, each judged. Raises BundleError for a damaged one."""
    return _checked(read_through(look_at(bundle.path)) for bundle in bundles)


def _checked(looks: Iterable[BundleLook]) -> list[AuditedBundle]:
    audited = []
    for look in looks:
        if look.problems or look.bundle is None:
            first = look.problems[0]
            raise BundleError(
                found=f"trial {look.path.name}: {first.message} ({first.rule})",
                expected=first.expected,
                next_step="measure it again; sizebook audit finds all that is wrong",
            )
        audited.append(AuditedBundle(look.bundle, look.path.name, look.judgement))
    return audited


def _calibration(folder: Path, known: Sequence[AuditedBundle]) -> list[AuditedBundle]:
    """Return the calibration's trials that are not known yet: pages tell noise by them."""
    there = {each.bundle.id for each in known}
    return audit_folders(folder, without=there)


def audit_folders(*folders: Path, without: Collection[str] = ()) -> list[AuditedBundle]:
    """Return the trials below folders that may be missing, each judged.

    Raises BundleError for a damaged one.
    """
    paths = [path for folder in folders if folder.is_dir() for path in find_bundles(folder)]
    return _checked(read_through(look_at(path)) for path in paths if path.name not in without)


def _replay(project: Project, chosen: Chosen, sound: Sequence[AuditedBundle]) -> AuditReport:
    report = AuditReport(chosen.chapter.id)
    by_id: dict[str, list[AuditedBundle]] = defaultdict(list)
    for each in sound:
        by_id[each.bundle.id].append(each)
    page, chapter = chosen.page, chosen.chapter
    again = replay_page(page, chapter, by_id, project, own=False)
    compare_replay(page, again, report, own=False)
    audit_treatments(page, again.notes, by_id, report)
    return report


def _refuse_errors(report: AuditReport, chosen: Chosen, what: str, next_step: str) -> None:
    errors = [each for each in report.findings if each.severity == "error"]
    if errors:
        more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
        raise UserError(
            found=f"a {what}: {errors[0].place}: {errors[0].message}{more}",
            expected=f"the {len(chosen.page.results)} results of the page",
            next_step=next_step,
        )


def _tells_noise(bundle: Bundle) -> bool:
    """Return whether other chapters may ask a trial for the noise of any of their metrics."""
    spec = bundle.record.trial
    return spec.chapter == calibration.CHAPTER and spec.purpose == "measured"


def _digest(bundle: Bundle, answers: Mapping[str, Any]) -> bytes:
    rows = bundle.columns.height if REQUESTS in bundle.record.files else 0
    return write_digest(rows, answers)


def _phase_histograms(bundle: Bundle, scratch: Path) -> bytes | None:
    path = bundle.open_histograms()
    if path is None:
        return None
    counting = [one for one in read_interval_log(path) if one.phase == "measured"]
    write_phase_log(scratch, counting, bundle.record.execution.monotonic_ns)
    return scratch.read_bytes()


def _not_proved(found: str) -> UserError:
    return UserError(
        found=found,
        expected="the same from the published form as from whole trials",
        next_step="mark the functions that look at rows with store.derived, and publish again",
    )
