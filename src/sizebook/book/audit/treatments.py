"""Each treatment of a page's designs: its trials are there, and specified as the design says.

The replay knows the designs. It places them as on the machine that measured, and notes what is not
as designed (``lab.design_notes``).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

from sizebook.book.audit.bundles import AuditedBundle
from sizebook.book.audit.findings import AuditReport
from sizebook.book.audit.outputs import ExecutedPage, parameters_of
from sizebook.book.notebooks import SO_FAR
from sizebook.lab.design_notes import NOTES, MissingTrial, Note, OtherSpec, read_notes
from sizebook.lab.placement import AS_PLACED, placed_as
from sizebook.model.bundle import USABLE_MEMORY_MIB
from sizebook.model.trial import levels_of, treatment_words
from sizebook.store import Bundle

_SUFFIX = ".designs"
_MOST_LISTED = 4


def placements_of(shown: Iterable[AuditedBundle]) -> dict[str, set[str]]:
    """Return how the machines placed the trials that they measured, with their bundles' ids.

    Each is a value of ``AS_PLACED``, empty where no trial names CPUs; the first is that of the
    newest bundle's machine.
    """
    machines: dict[str, list[Bundle]] = {}
    bundles = (each.bundle for each in shown)
    for bundle in sorted(bundles, key=lambda bundle: -bundle.record.execution.wall_ns):
        machines.setdefault(bundle.record.fingerprints.machine, []).append(bundle)
    placements: dict[str, set[str]] = {}
    for measured in machines.values():
        newest = measured[0].record
        usable = newest.execution.facts.get(USABLE_MEMORY_MIB, newest.machine.memory_mib)
        placement = placed_as((bundle.record.trial for bundle in measured), int(usable))
        words = placement.as_words() if placement is not None else ""
        placements.setdefault(words, set()).update(bundle.id for bundle in measured)
    return placements or {"": set()}


def as_designed(placement: str, executed: Path) -> dict[str, str]:
    """Return the environment of a replay into ``executed`` that tells of its designs."""
    return {NOTES: str(executed.with_suffix(_SUFFIX)), AS_PLACED: placement}


def notes_of(executed: Path, placed: Container[str]) -> tuple[Note, ...]:
    """Return what the replay into ``executed`` noted of its designs.

    Of bundles that are not among those ``placed`` as the replay's it knows nothing.
    """
    notes = read_notes(executed.with_suffix(_SUFFIX))
    return tuple(one for one in notes if isinstance(one, MissingTrial) or one.bundle in placed)


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
        (record.chapter, record.profile, record.identity)
        for group in bundles.values()
        for each in group
        for record in (each.bundle.record.trial,)
    }
    missing: dict[str, list[MissingTrial]] = {}
    for note in notes:
        if isinstance(note, OtherSpec):
            _report_other(page, note, bundles, report)
            continue
        key = note.experiment, "measured", levels_of(note.treatment), note.replicate
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
        words = treatment_words(note.treatment)
        lacking.setdefault(words or "the treatment", []).append(note.replicate + 1)
    listed = [
        f"{words} in block {', '.join(map(str, sorted(blocks)))}"
        for words, blocks in lacking.items()
    ]
    more = f" and {len(listed) - _MOST_LISTED} more" if len(listed) > _MOST_LISTED else ""
    whole = all(note.whole for note in notes)
    told = whole or page.run.get(SO_FAR) is True
    report.add(
        "AU309-missing-treatment", f"{page.file.name}:{experiment}",
        f"no trial of {'; '.join(listed[:_MOST_LISTED])}{more}",
        found="no trial" if whole else f"{len(notes)} trials fewer",
        expected="the trials of the design with the page's parameters",
        spoils=[page.item], severity="warning" if told else "error",
    )  # fmt: skip
