"""The workloads of other chapters, made of the trials that they lend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sizebook.chapters.layouts.workloads import Workload, java_of
from sizebook.lab import Trials
from sizebook.lab.trials import Measure
from sizebook.model.records import Scalar
from sizebook.report import drains, machine_course, measures, stored_rows

Lent = Mapping[tuple[str, str], Trials]
"""Trials by chapter and design."""
SAID = {"newer": "layouts", "older": "older"}
"""Generations, and the designs of the chapter itself that measure them."""
_CPU = measures.cpu_ms_per_request("app")
_BUSY = measures.stack_cpu_share


def missing_chapters(lent: Lent) -> list[str]:
    """Return the chapters that lend no trial at all, in the order asked."""
    chapters = dict.fromkeys(chapter for chapter, _ in lent)
    return [one for one in chapters if not any(len(lent[each]) for each in lent if each[0] == one)]


def workload(
    name: str,
    groups: Sequence[Trials],
    *,
    rate: Measure = measures.throughput_per_s,
    cpu: Measure = _CPU,
    busy: Measure = _BUSY,
    **levels: Scalar | None,
) -> Workload:
    """Return the workload of some designs: its rate, CPU time, resident memory and busy share.

    A level that is None is not known, for want of trials.
    """
    java = java_of(groups) or "not run"
    return Workload.of(
        f"{name} ({java})",
        groups,
        {factor: level for factor, level in levels.items() if level is not None},
        rate=rate,
        cpu=cpu,
        rss=measures.level("process/app-", "rss_bytes"),
        busy=busy,
    )


def lookups(trials: Mapping[str, Trials]) -> list[Workload]:
    """Return the chapter's own look-ups without pause, by generation."""
    return [
        workload(f"look-ups, {said}", [trials[name]] if name in trials else [], load="closed")
        for said, name in SAID.items()
    ]


def calls(lent: Lent) -> dict[tuple[str, str], Workload]:
    """Return calls to a back end by generation and way."""
    designs = {"newer": "connectors", "older": "older"}
    return {
        (said, way): workload(f"calls by {way}, {said}", [lent["connectors", name]], connector=way)
        for said, name in designs.items()
        for way in ("soap", "rpc", "logged")
    }


def documents(lent: Lent) -> list[Workload]:
    """Return documents that are transformed, by way."""
    groups = [lent["xml", "alone"], lent["xml", "shared"]]
    return [workload(f"documents by {way}", groups, way=way) for way in ("xslt-jdk", "actions")]


def events(lent: Lent) -> Workload:
    """Return events; their rate is that of rows stored."""
    groups = [lent["events", "layouts"]]
    return workload("events", groups, rate=stored_rows.rows_per_s("event"))


def messages(lent: Lent) -> dict[str, Workload]:
    """Return messages that are drained, by generation, as many consumers as all layouts have."""
    several = [
        (trial.treatment["nodes"], trial.treatment["consumers"])
        for trial in lent["messaging", "layouts"]
    ]
    consumers = max(several, default=(None, None))[1]  # with several nodes there is one number
    levels: dict[str, dict[str, Scalar | None]] = {"newer": {"consumers": consumers}, "older": {}}
    return {
        said: workload(
            f"messages, {said}",
            [lent["messaging", SAID[said]]],
            rate=drains.drained_per_s,
            cpu=drains.cpu_ms_per_message("app"),
            busy=_BUSY,
            **fixed,
        )
        for said, fixed in levels.items()
    }


def user_mix(lent: Lent) -> Workload:
    """Return the user mix with the most users, without background work.

    How busy it keeps the CPUs is measured as in its own chapter, whose claim is about that.
    """
    group = lent["user-mix", "mix"]
    most = max((trial.treatment["users"] for trial in group), default=None)
    busy = machine_course.machine("cpu_percent")
    return workload("user mix", [group], busy=busy, users=most, state="quiet")
