"""Bundles beside each other: missing replicates, trials that are there twice, stale ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sizebook.book.audit.bundles import AuditedBundle
from sizebook.book.audit.findings import AuditReport
from sizebook.book.audit.rules import Severity
from sizebook.checks.design_rules import good_per_s
from sizebook.lab.measurement_cache import present_fingerprints
from sizebook.lab.profiles import PROFILES
from sizebook.lab.search import ATTEMPT
from sizebook.lab.trials import compare_fingerprints
from sizebook.model.errors import UserError
from sizebook.model.trial import treatment_words
from sizebook.store import Project
from sizebook.store.bundles import HISTOGRAMS
from sizebook.store.tables import REQUESTS

Group = tuple[str, str, str, str]
"""Chapter, profile, experiment, fingerprints."""


def audit_designs(
    audited: Sequence[AuditedBundle], cited: set[str], report: AuditReport, *, own: bool
) -> None:
    """Report replicates that are missing and trials that are there twice.

    ``cited`` are the ids of the bundles that pages cite. Of an own run, designs that no page
    cites are left-overs, and what they lack is a warning.
    """
    _find_copies(audited, cited, report)
    _find_same_data(audited, report)
    for (chapter, profile, experiment, _), group in _by_design(audited).items():
        used = any(each.bundle.id in cited for each in group)
        severity: Severity = "error" if used or not own else "warning"
        place = f"{chapter}/{experiment}"
        _find_gaps(place, group, report, severity)
        _count_blocks(place, profile, group, report)
    _find_session_gaps(audited, cited, report, own=own)


def audit_freshness(
    audited: Sequence[AuditedBundle], project: Project, report: AuditReport, *, own: bool
) -> None:
    """Report, once a chapter, trials that were measured with other sources or elsewhere."""
    odd: dict[tuple[str, str], list[AuditedBundle]] = defaultdict(list)
    for each in audited:
        spec, then = each.bundle.record.trial, each.bundle.record.fingerprints
        try:
            now = present_fingerprints(project, spec, then.data)
        except UserError:  # its load profile is not here
            odd[spec.chapter, "a load profile that is not here"].append(each)
            continue
        changed = [f"another {what}" for what in compare_fingerprints(then, now)]
        if (then.machine, then.jvm) != (now.machine, now.jvm):
            changed.append("another machine or JVM")
        if changed:
            odd[spec.chapter, " and ".join(changed)].append(each)
    for (chapter, what), group in sorted(odd.items()):
        report.add(
            "AU112-stale",
            chapter,
            f"{_count(len(group), 'trial')} measured with {what} than the present one"
            if what.startswith("another")
            else f"{_count(len(group), 'trial')} measured with {what}",
            found=what,
            expected="the present sources and this machine",
            severity="warning" if own else "note",
        )


def _find_copies(audited: Iterable[AuditedBundle], cited: set[str], report: AuditReport) -> None:
    by_key: dict[str, list[AuditedBundle]] = defaultdict(list)
    for each in audited:
        by_key[each.bundle.record.key].append(each)
    for group in by_key.values():
        seen: dict[str, AuditedBundle] = {}
        for each in group:
            first = seen.setdefault(each.bundle.record.execution.started_utc, each)
            if first is not each:
                same = first.bundle.sha256 == each.bundle.sha256
                report.add(
                    "AU109-same-trial",
                    each.place,
                    f"the same trial as {first.place}" + ("" if same else ", with another record"),
                    found="one trial under two names",
                    expected="each trial once",
                    spoils=[each.item],
                )
        whole = [each for each in seen.values() if each.bundle.record.outcome == "completed"]
        if len(whole) > 1:
            report.add(
                "AU110-measured-again",
                whole[-1].place,
                f"measured {len(whole)} times: {_measurements(whole, cited)}",
                found=f"{len(whole)} completed trials of one key",
                expected="one",
            )


def _find_same_data(audited: Iterable[AuditedBundle], report: AuditReport) -> None:
    """Report trials whose requests or histograms are another trial's, byte for byte.

    Both hold the nanoseconds of this start's clock: no two measurements have the same. Neither is
    verified, for nobody can tell which of them was measured.
    """
    first: dict[str, AuditedBundle] = {}
    for each in audited:
        record = each.bundle.record
        if record.generator is None or not record.generator.completed:
            continue
        for name in (REQUESTS, HISTOGRAMS):
            file = record.files.get(name)
            other = first.setdefault(file.sha256, each) if file is not None else each
            if other.bundle.record.key != record.key or (
                other.bundle.record.execution.started_utc != record.execution.started_utc
            ):
                report.add(
                    "AU109-same-trial",
                    each.place,
                    f"has the same {name} as {other.place}",
                    found="one measurement in two trials",
                    expected="each trial measured for itself",
                    spoils=[each.item, other.item],
                )
                break


def _measurements(whole: Iterable[AuditedBundle], cited: set[str]) -> str:
    """Return what each measurement of one trial found, oldest first; "shown" by a page."""
    words = []
    for each in sorted(whole, key=lambda one: one.bundle.record.execution.wall_ns):
        rate = good_per_s(each.bundle)
        found = "no rate" if rate is None else f"{rate:,.1f} good answers/s"
        verdict = "" if each.judgement is None else f", {each.judgement.verdict}"
        shown = ", shown" if each.bundle.id in cited else ""
        words.append(f"{found} ({each.bundle.id}{verdict}{shown})")
    return ", then ".join(words)


def _by_design(audited: Iterable[AuditedBundle]) -> dict[Group, list[AuditedBundle]]:
    groups: dict[Group, list[AuditedBundle]] = defaultdict(list)
    for each in audited:
        spec = each.bundle.record.trial
        if spec.purpose == "measured" and ATTEMPT not in spec.treatment:
            prints = each.bundle.record.fingerprints.model_copy(update={"locustfile": ""})
            key = spec.chapter, spec.profile, spec.experiment, prints.canonical_json()
            groups[key].append(each)
    return groups


def _find_gaps(
    place: str, group: Sequence[AuditedBundle], report: AuditReport, severity: Severity
) -> None:
    """Report treatments without a trial in a block in which there should be one."""
    specs = [each.bundle.record.trial for each in group]
    treatments = {tuple(sorted(spec.treatment.items())): spec.treatment for spec in specs}
    have = {(tuple(sorted(spec.treatment.items())), spec.replicate) for spec in specs}
    blocks = range(1 + max(spec.replicate for spec in specs))
    for key, treatment in treatments.items():
        missing = [block + 1 for block in blocks if (key, block) not in have]
        if missing:
            levels = treatment_words(treatment)
            listed = ", ".join(map(str, missing))
            report.add(
                "AU108-missing-trial",
                place,
                f"no trial of {levels or 'the treatment'} in block {listed}",
                found=f"{len(blocks) - len(missing)} of {len(blocks)} replicates",
                expected=f"{len(blocks)} replicates",
                spoils=[each.item for each in group],
                severity=severity,
            )


def _count_blocks(
    place: str, profile: str, group: Sequence[AuditedBundle], report: AuditReport
) -> None:
    blocks = 1 + max(each.bundle.record.trial.replicate for each in group)
    planned = PROFILES[profile].replicates
    if blocks < planned:
        report.add(
            "AU111-blocks",
            place,
            f"{_count(blocks, 'block')}, where profile {profile} has {planned}",
            found=_count(blocks, "block"),
            expected=_count(planned, "block"),
        )


def _find_session_gaps(
    audited: Iterable[AuditedBundle], cited: set[str], report: AuditReport, *, own: bool
) -> None:
    """Report trials that are missing between others that shared one start of the stack."""
    sessions: dict[tuple[str, str], list[AuditedBundle]] = defaultdict(list)
    for each in audited:
        record = each.bundle.record
        if record.execution.started:
            sessions[record.trial.chapter, record.execution.session].append(each)
    for (chapter, session), group in sessions.items():
        positions = {each.bundle.record.execution.position for each in group}
        missing = set(range(min(positions), max(positions))) - positions
        if missing:
            used = any(each.bundle.id in cited for each in group)
            report.add(
                "AU108-missing-trial",
                f"{chapter}/{group[0].bundle.record.trial.experiment}",
                f"{_count(len(missing), 'trial')} missing in session {session}",
                found=f"{len(positions)} trials, numbered up to {max(positions)}",
                expected="no gap in their numbers",
                spoils=[each.item for each in group],
                severity="error" if used or not own else "warning",
            )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
