"""The template executed again on the page's own bundles, and compared result by result.

Nothing is measured: in the kernel of a replay the machinery of measuring cannot be imported. Only
the project's own template is executed, never the code of a notebook that somebody sent.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from papermill.exceptions import PapermillExecutionError

from sizebook.book.audit.bundles import AuditedBundle
from sizebook.book.audit.differences import find_difference, is_same, without_newer
from sizebook.book.audit.findings import AuditedItem, AuditReport
from sizebook.book.audit.outputs import ExecutedPage, Output, cited_by, read_page
from sizebook.book.audit.places import OF_THE_MOMENT, compare_places
from sizebook.book.audit.provenance import RENEWED
from sizebook.book.audit.targets import PageFile
from sizebook.book.audit.treatments import as_designed, notes_of, placements_of
from sizebook.book.chapters import Chapter
from sizebook.book.kernel import NotebookLostError, NotebookRun, cannot_write
from sizebook.book.notebooks import first_words
from sizebook.lab import calibration
from sizebook.lab.design_notes import Note
from sizebook.lab.measurement_cache import AS_MEASURED
from sizebook.store import Project, find_bundles
from sizebook.store.bundles import RECORD
from sizebook.store.digest import list_digests
from sizebook.store.left_out import LEFT_OUT

_NOT_PART = {"_build", "data", ".git", ".venv", ".sizebook"}
_STOP_GRACE_S = 10.0

Places = Mapping[str, Sequence[AuditedBundle]]
Match = tuple[str, str, int]
"""Kind, key (of a paragraph: id of its cell), number among those."""


@dataclass(frozen=True)
class Replay:
    """A page's template executed again."""

    made: ExecutedPage | None
    """None where it could not be executed."""
    failure: str
    """Why, in words."""
    lacking: frozenset[str]
    """Ids of cited bundles that are not there, or damaged."""
    notes: tuple[Note, ...] = ()
    """What its designs say of its bundles."""


def replay_page(
    page: ExecutedPage,
    chapter: Chapter,
    bundles: Places,
    project: Project,
    over: threading.Event | None = None,
    *,
    own: bool,
) -> Replay:
    """Execute a page's template again in an empty folder, which may be done of several at a time.

    ``bundles`` are those audited, by their ids; the replay sees those that the page cites, and the
    conditioning loads of their sessions. Once the waiting is ``over``, it is stopped, and raises
    KeyboardInterrupt.
    """
    sound = [each for group in bundles.values() for each in group if each.judgement is not None]
    used, lacking = _cited(page, sound)
    shown = _with_conditioning(used, sound)
    try:
        with tempfile.TemporaryDirectory(prefix="sizebook-audit-") as folder:
            scratch = Path(folder).resolve()
            if not own:
                view = make_view(project, sound, scratch / "view")
            else:
                view = _view_of_own(project, used, sound, scratch)
            made, notes = None, list[Note]()
            for number, (placement, placed) in enumerate(placements_of(shown).items()):
                own_scratch = scratch / f"placed-{number}"
                own_scratch.mkdir()
                executed, failure = execute_again(
                    page, chapter, shown, view, own_scratch, over, placement
                )
                if failure:  # also where it is that of one machine only: its trials are unknown
                    return Replay(None, failure, frozenset(lacking))
                made = made or read_page(PageFile(page.file.name, executed))
                notes += [one for one in notes_of(executed, placed) if one not in notes]
    except OSError as error:
        return Replay(None, cannot_write(error), frozenset(lacking))
    return Replay(made, "", frozenset(lacking), tuple(notes))


def compare_replay(page: ExecutedPage, again: Replay, report: AuditReport, *, own: bool) -> None:
    """Report what differs between a page and its replay."""
    if again.made is None:
        report.add(
            "AU305-no-replay", page.file.name,
            f"the template cannot be executed again: {again.failure}",
            found=again.failure, expected="the page's results", spoils=page.every_item(),
        )  # fmt: skip
        return
    _compare(page, again.made, again.lacking, report, own=own)


def execute_again(
    page: ExecutedPage,
    chapter: Chapter,
    shown: Iterable[AuditedBundle],
    root: Path,
    scratch: Path,
    over: threading.Event | None = None,
    placement: str | None = None,
) -> tuple[Path, str | None]:
    """Execute the template with the page's parameters on bundles, in an empty folder ``scratch``.

    ``root`` is a project with the calibration that counts, ``placement`` tells which CPUs and how
    much heap its designs share out; None: as of those bundles that are the newest.

    Returns the executed notebook, in which the source is ``scratch / "bundles"``, and why that
    failed. Once the waiting is ``over`` it ends the notebook and raises KeyboardInterrupt.
    """
    bundles, output = scratch / "bundles", scratch / f"{chapter.id}.ipynb"
    shown = list(shown)
    _stage(shown, bundles)
    recorded = page.run.get("parameters")
    given = recorded if isinstance(recorded, dict) else {}
    names = {parameter.name for parameter in chapter.parameters}
    parameters = {name: value for name, value in given.items() if name in names}
    environment = {"SIZEBOOK_ROOT": str(root), "SIZEBOOK_COMMIT": RENEWED}
    if placement is None:
        placement = next(iter(placements_of(shown)))
    environment |= as_designed(placement, output)
    if parameters.get("source") == "measure":
        environment[AS_MEASURED] = "1"
    if "source" in names:
        parameters["source"] = str(bundles)
    run = NotebookRun(
        chapter.notebook,
        output,
        parameters,
        folder=chapter.notebook.parent,
        environment=environment,
        may_measure=False,
    )

    def go_on() -> None:
        if over is not None and over.is_set():
            raise KeyboardInterrupt

    try:
        run.finish(go_on, _STOP_GRACE_S)
    except PapermillExecutionError as error:
        return output, first_words(error.ename, error.evalue)
    except NotebookLostError as error:
        return output, str(error)
    return output, None


def _cited(
    page: ExecutedPage, sound: Iterable[AuditedBundle]
) -> tuple[list[AuditedBundle], set[str]]:
    """Return the bundles that a page cites, and the ids of those that are not there or damaged."""
    wanted = {(each.bundle, each.sha256) for output in page.results for each in cited_by(output)}
    found = {(each.bundle.id, each.bundle.sha256): each for each in sound}
    there = [each for key, each in found.items() if key in wanted]
    return there, {bundle for bundle, sha256 in wanted if (bundle, sha256) not in found}


def _with_conditioning(
    used: Sequence[AuditedBundle], sound: Iterable[AuditedBundle]
) -> list[AuditedBundle]:
    sessions = {each.bundle.record.execution.session for each in used}
    known = {each.bundle.id for each in used}
    more = [
        each
        for each in sound
        if each.bundle.record.trial.purpose == "conditioning"
        and each.bundle.record.execution.session in sessions
        and each.bundle.id not in known
    ]
    return [*used, *more]


def _stage(bundles: Iterable[AuditedBundle], folder: Path) -> None:
    """Put bundles into a folder, without copying where the file system can."""
    folder.mkdir(parents=True)
    for each in bundles:
        bundle = each.bundle
        names = [RECORD, *bundle.record.files]
        if bundle.left_out:
            names += [LEFT_OUT, *list_digests(bundle.path)]
        for name in names:
            target = folder / bundle.id / name
            target.parent.mkdir(parents=True, exist_ok=True)
            _put(bundle.path / name, target)


def _put(file: str | Path, target: str | Path) -> None:
    """Put a file into another place, without copying where the file system can."""
    try:
        os.link(file, target)
    except OSError:
        shutil.copyfile(file, target)


def _view_of_own(
    project: Project,
    used: Sequence[AuditedBundle],
    sound: Sequence[AuditedBundle],
    scratch: Path,
) -> Path:
    """Return the project in which a page of the own book is made again, of the trials ``used``.

    One that was measured here knows the calibrations of the project alone, as when it was made. One
    that was taken from a round tells noise by the round's: it sees a project with these as well,
    and finds that of its machine. One that shows no trials may show the project itself.
    """
    if not used or any(project.runs in each.bundle.path.parents for each in used):
        return project.root
    here = project.runs / calibration.CHAPTER
    taken = [
        each
        for each in sound
        if each.bundle.record.trial.chapter == calibration.CHAPTER
        and here not in each.bundle.path.parents
    ]
    if not taken:
        return project.root
    view = make_view(project, taken, scratch / "view")
    known = view / "data" / "runs" / calibration.CHAPTER
    for path in find_bundles(here) if here.is_dir() else ():
        if not (known / path.name).exists():
            shutil.copytree(path, known / path.name, copy_function=_put)
    return view


def make_view(project: Project, sound: Iterable[AuditedBundle], folder: Path) -> Path:
    """Return a project like this one whose calibration is that of the audited bundles."""
    data = folder / "data"
    data.mkdir(parents=True)
    for path in project.root.iterdir():
        if path.name not in _NOT_PART:
            (folder / path.name).symlink_to(path)
    for path in (project.root / "data").iterdir():
        if path not in (project.runs, project.published):
            (data / path.name).symlink_to(path)
    known = [each for each in sound if each.bundle.record.trial.chapter == calibration.CHAPTER]
    _stage(known, data / "runs" / calibration.CHAPTER)
    return folder


def _compare(
    page: ExecutedPage,
    again: ExecutedPage,
    lacking: frozenset[str],
    report: AuditReport,
    *,
    own: bool,
) -> None:
    compare_places(page, again, report)
    shown, made = _by_match(page), _by_match(again)
    for match, output in shown.items():
        if match not in made:
            report.add(
                "AU302-missing", output.place, f"the replay makes no such {output.kind}",
                found=f"a {output.kind}", expected="nothing",
                spoils=[page.item, *output.items()],
            )  # fmt: skip
            continue
        if not lacking.intersection(each.bundle for each in cited_by(output)):
            _compare_result(page, output, made[match], report, own=own)
    for match, output in made.items():
        if match not in shown:
            report.add(
                "AU303-new", output.place, f"the page lacks a {output.kind} of the replay",
                found="nothing", expected=f"a {output.kind}", spoils=[page.item],
            )  # fmt: skip


def _by_match(page: ExecutedPage) -> dict[Match, Output]:
    counts: Counter[tuple[str, str]] = Counter()
    matched: dict[Match, Output] = {}
    for output in page.results:
        name = output.kind, output.cell_id if output.kind == "prose" else output.name
        counts[name] += 1
        matched[*name, counts[name]] = output
    return matched


def _numbers(output: Output) -> dict[str, Any]:
    """Return the numbers of a paragraph by key; the page's may hold anything."""
    numbers = (output.fields or {}).get("numbers")
    listed = numbers if isinstance(numbers, list) else []
    return {str(each.get("key")): each for each in listed if isinstance(each, dict)}


def _shows_its_place(page: ExecutedPage, output: Output) -> bool:
    """Return whether a result is of the machine on which it was made.

    It is where the page shows no trials at all, and the result no files.
    """
    evidence = (output.fields or {}).get("evidence")
    files = evidence.get("files") if isinstance(evidence, dict) else None
    return not files and not any(cited_by(each) for each in page.results)


def _compare_result(
    page: ExecutedPage, shown: Output, made: Output, report: AuditReport, *, own: bool
) -> None:
    difference = find_difference(shown, made)
    if difference is None:
        return
    if OF_THE_MOMENT in made.tags or (not own and _shows_its_place(page, shown)):
        report.add(
            "AU304-moment", shown.place, "the machine is not as it was when the page was made",
            found=difference.shown, expected=difference.made,
        )  # fmt: skip
        return
    if shown.kind == "prose" and _compare_numbers(page, shown, made, report):
        return
    report.add(
        "AU301-differs", shown.place,
        f"{difference.where}: the page has {difference.shown!r}, the replay {difference.made!r}",
        found=difference.shown, expected=difference.made,
        spoils=[page.item, shown.items()[0]],
    )  # fmt: skip


def _compare_numbers(page: ExecutedPage, shown: Output, made: Output, report: AuditReport) -> bool:
    """Report each number of a paragraph that differs or that only one has; tell if there is one."""
    said, again = _numbers(shown), _numbers(made)
    differing = [
        key
        for key in [*said, *(key for key in again if key not in said)]
        if not is_same(said.get(key), without_newer(said.get(key), again.get(key)))
    ]
    for key in differing:
        one, other = (_number_words(each.get(key)) for each in (said, again))
        place = f"{page.file.name}#{key}"
        report.add(
            "AU301-differs", place[:200], f"the page says {one}, the replay {other}",
            found=one, expected=other,
            spoils=[page.item, shown.items()[0], AuditedItem("numbers", place)],
        )  # fmt: skip
    return bool(differing)


def _number_words(number: Mapping[str, Any] | None) -> str:
    if number is None:
        return "no such number"
    return f"{number.get('words')!r} ({number.get('value')!r} as {number.get('format')!r})"
