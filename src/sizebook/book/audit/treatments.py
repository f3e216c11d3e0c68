"""Each treatment of a page's designs: its trials are there, and specified as the design says.

The replay knows the designs. It places them as on the machine that measured, and notes what is not
as designed (``lab.design_notes``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sizebook.book.audit.bundles import AuditedBundle
from sizebook.book.audit.findings import AuditReport
from sizebook.book.audit.outputs import ExecutedPage, parameters_of
from sizebook.lab.design_notes import NOTES, MissingTrial, Note, OtherSpec, identity, read_notes
from sizebook.lab.placement import AS_PLACED, placed_as
from sizebook.model.bundle import USABLE_MEMORY_MIB

_SUFFIX = ".designs"
_MOST_LISTED = 4


def as_designed(shown: Iterable[AuditedBundle], executed: Path) -> dict[str, str]:
    """Return the environment of a replay into ``executed`` that tells of its designs.

    It has the placement of the newest of the bundles' machines.
    """
    environment = {NOTES: str(executed.with_suffix(_SUFFIX))}
    records = [each.bundle.record for each in shown]
    if records:
        newest = max(records, key=lambda record: record.execution.wall_ns)
        machine = newest.fingerprints.machine
        specs = [one.trial for one in records if one.fingerprints.machine == machine]
        usable = newest.execution.facts.get(USABLE_MEMORY_MIB, newest.machine.memory_mib)
        placement = placed_as(specs, int(usable))
        if placement is not None:
            environment[AS_PLACED] = placement.as_words()
    return environment


def notes_of(executed: Path) -> tuple[Note, ...]:
    """Return what the replay into ``executed`` noted of its designs."""
    return tuple(read_notes(executed.with_suffix(_SUFFIX)))


def audit_treatments(
    page: ExecutedPage,
    notes: Iterable[Note],
    bundles: Mapping[str, Sequence[AuditedBundle]],
    report: AuditReport,
) -> None:
    """Report bundles that are not what the page's designs say, and treatments without bundles.

    ``notes`` are those of the page's replay, ``bundles`` those audited, by their ids: one that no
    result cites is there all the same.
    """
    there = {
        (record.chapter, record.profile, identity(record))
        for group in bundles.values()
        for each in group
        for record in (each.bundle.record.trial,)
    }
    missing: dict[str, list[MissingTrial]] = {}
    for note in notes:
        if isinstance(note, OtherSpec):
            _report_other(page, note, bundles, report)
            continue
        levels = tuple(sorted(note.treatment.items()))
        key = note.experiment, "measured", levels, note.replicate
        if (page.file.chapter, parameters_of(page).get("profile"), key) not in there:
            missing.setdefault(note.experiment, []).append(note)
    for experiment, lacking in missing.items():
        _report_missing(page, experiment, lacking, report)


def _report_other(
    page: ExecutedPage,
    note: OtherSpec,
    bundles: Mapping[str, Sequence[AuditedBundle]],
    report: AuditReport,
) -> None:
    items = [each.item for each in bundles.get(note.bundle, ())]
    report.add(
        "AU308-other-treatment", page.file.name,
        f"bundle {note.bundle}: {note.where} is {note.found}, the design says {note.expected}",
        found=f"{note.where}: {note.found}", expected=note.expected, spoils=[page.item, *items],
    )  # fmt: skip


def _report_missing(
    page: ExecutedPage, experiment: str, notes: Sequence[MissingTrial], report: AuditReport
) -> None:
    lacking: dict[str, list[int]] = {}
    for note in notes:
        words = ", ".join(f"{name} {level}" for name, level in note.treatment.items())
        lacking.setdefault(words or "the treatment", []).append(note.replicate + 1)
    listed = [
        f"{words} in block {', '.join(map(str, sorted(blocks)))}"
        for words, blocks in lacking.items()
    ]
    more = f" and {len(listed) - _MOST_LISTED} more" if len(listed) > _MOST_LISTED else ""
    whole = all(note.whole for note in notes)
    report.add(
        "AU309-missing-treatment", f"{page.file.name}:{experiment}",
        f"no trial of {'; '.join(listed[:_MOST_LISTED])}{more}",
        found="no trial" if whole else f"{len(notes)} trials fewer",
        expected="the trials of the design with the page's parameters",
        spoils=[page.item], severity="warning" if whole else "error",
    )  # fmt: skip
