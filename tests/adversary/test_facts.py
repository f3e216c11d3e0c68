"""Facts of a bundle that follow from the rest of it, changed with all checksums mended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from audited_book import audit, bundle_of, change_record, found
from synthetic_bundles import BEGIN, END, MakeBundle, S, open_rows, readings_of

from sizebook.book.audit.auditing import run_audit
from sizebook.book.audit.facts import contradictions, recomputed
from sizebook.book.audit.outcomes import other_outcome
from sizebook.book.audit.targets import folder_target
from sizebook.load.clock import Clock
from sizebook.load.schedule import arrival_offsets, paced_offsets
from sizebook.load.vitals import SHORTEST_ROW_NS, TICK_NS, TICKS_PER_ROW, Vitals, _Mark
from sizebook.model.bundle import BundleRecord, PhaseMark
from sizebook.model.load import (
    Arrivals,
    ClosedLoop,
    OpenArrivals,
    PacedGroup,
    PacedUsers,
    Phases,
)
from sizebook.store import Bundle

Json = dict[str, Any]


def longer_phase(record: Json) -> None:
    marks = record["execution"]["phases"]
    marks[1]["end_ns"] += 100_000
    marks[2]["begin_ns"] += 100_000


def gap_between_phases(record: Json) -> None:
    record["execution"]["phases"][1]["begin_ns"] += 100_000


def no_warm_up(record: Json) -> None:
    marks = record["execution"]["phases"]
    marks[1]["begin_ns"] = marks[0]["begin_ns"]
    del marks[0]


def generator(**changes: Any) -> Callable[[Json], None]:
    return lambda record: record["generator"].update(changes)


def heap_of_another(record: Json) -> None:
    record["execution"]["commands"][0]["command"] = ["java", "-Xmx512m"]


def no_command(record: Json) -> None:
    record["execution"]["commands"] = []


def one_command_more(record: Json) -> None:
    commands = record["execution"]["commands"]
    commands.append({**commands[0], "name": "app-2"})


def version_to_come(record: Json) -> None:
    record["versions"]["sizebook"] = "99.0"


def other_generator(record: Json) -> None:
    record["generator"]["versions"] = {"locust": "2.0"}
    record["versions"]["locust"] = "3.0"


def count_of_locust(record: Json) -> None:
    record["execution"]["facts"]["locust_requests"] = 1


CHANGED: dict[str, tuple[Callable[[Json], None], str]] = {
    "a phase 100 us longer": (longer_phase, "AU113"),
    "a gap between phases": (gap_between_phases, "AU113"),
    "a phase taken out": (no_warm_up, "AU113"),
    "seconds of the load": (generator(wall_s=10.0), "AU113"),
    "CPU time of a worker": (generator(worker_cpu_s=[1.0]), "AU114"),
    "a worker more": (generator(worker_cpu_s=[1.5, 1.5]), "AU114"),
    "a percentile above the maximum": (generator(lag_p99_ms=2.0), "AU114"),
    "late starts": (generator(late_starts=3), "AU114"),
    "Locust's count": (count_of_locust, "AU114"),
    "another heap": (heap_of_another, "AU115"),
    "no command": (no_command, "AU115"),
    "a node more": (one_command_more, "AU115"),
    "a version to come": (version_to_come, "AU115"),
    "two versions of the generator": (other_generator, "AU115"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_fact_that_follows_from_others_is_found(book: Path, what: str) -> None:
    """The record alone, or with its requests, contradicts what was changed."""
    change, rule = CHANGED[what]
    change_record(bundle_of(book), change)
    assert rule in found(audit(book))


def test_a_name_tells_start_and_key(book: Path, tmp_path: Path) -> None:
    """A bundle whose name has a date has the date of its start, and its key."""
    record = run_audit(folder_target(bundle_of(book), None))
    assert found(record) == set()
    for name, wrong in (("20200101T000000Z-000000000000-abcd", True), ("json-0", False)):
        sent = tmp_path / name
        bundle_of(book).rename(sent)
        assert ("AU113" in found(run_audit(folder_target(sent, None)))) == wrong
        sent.rename(bundle_of(book))


SECONDS = tuple(
    (float(at), "generator", metric, value)
    for at in range(1, 13)
    for metric, value in (("cpu_share", 0.25), ("lag_max_ms", 1.0), ("lag_p99_ms", 0.4))
)
HONEST = {"cpu_s": 3.0, "worker_cpu_s": (3.0,), "lag_max_ms": 1.0, "lag_p99_ms": 0.4}


def rules_of(bundle: Bundle) -> set[str]:
    return {rule for rule, *_ in (*contradictions(bundle.record, bundle.id), *recomputed(bundle))}


def test_lag_and_cpu_time_follow_from_the_seconds(make_bundle: MakeBundle) -> None:
    """What the generator says of its lag and CPU time is what its counters say, within bounds."""
    readings = readings_of(*SECONDS)
    honest = make_bundle(readings=readings, facts=HONEST)
    assert "AU114-facts" not in rules_of(honest)
    for change in (
        {"lag_max_ms": 0.9},
        {"lag_max_ms": 1.1},
        {"lag_p99_ms": 0.1},
        {"cpu_s": 2.5, "worker_cpu_s": (2.5,)},
        {"cpu_s": 3.5, "worker_cpu_s": (3.5,)},
    ):
        assert "AU114-facts" in rules_of(make_bundle(readings=readings, facts=HONEST | change))


class Ticks(Vitals):
    """The generator's own account of ticks that are made up: no clock is read."""

    def __init__(self, late_ms: np.ndarray) -> None:
        super().__init__(Clock(), lambda: (0, 0, 0))
        self._marks = [_Mark(BEGIN, 0.0, 0, 0, 0, 0)]
        late_ns = np.round(late_ms * 1e6).astype(np.int64)
        for number, late in enumerate(late_ns, 1):
            self._due_ns.append(BEGIN + number * TICK_NS)
            self._late_ns.append(int(late))
            at_ns = BEGIN + number * TICK_NS + int(late)
            whole = number % TICKS_PER_ROW == 0
            if whole and at_ns - self._marks[-1].at_ns > SHORTEST_ROW_NS:
                self._marks.append(_Mark(at_ns, 0.0, number, 0, 0, 0))


def stalled(ticks: int, *stalls: tuple[float, float], quiet_ms: float = 0.1) -> np.ndarray:
    """Return how late ticks come, in ms, that stalls hold up from one second to another."""
    due_s = np.arange(1, ticks + 1) / 100
    late_ms = np.full(ticks, quiet_ms)
    for begin_s, end_s in stalls:
        late_ms = np.where((due_s > begin_s) & (due_s <= end_s), (end_s - due_s) * 1e3, late_ms)
    return late_ms


STALLS = {
    "none": (),
    "just before the phase": ((1.7, 1.995),),
    "over its begin": ((1.4, 2.3),),
    "longer than a second, over its begin": ((0.2, 2.6),),
    "within it": ((5.2, 5.9),),
    "over a second's end within it": ((3.8, 5.7),),
    "over its end": ((11.7, 12.4),),
    "in the drain": ((12.02, 12.6),),
    "in the last second before and in the first after": ((1.9, 1.99), (12.01, 12.3)),
}


@pytest.mark.parametrize("begin_s", [2.0, 2.37], ids=["on a second", "within a second"])
@pytest.mark.parametrize("where", STALLS)
def test_what_a_generator_says_of_its_lag_is_never_called_false(
    make_bundle: MakeBundle, where: str, begin_s: float
) -> None:
    """Stalls before, over, in and after the phase, whose seconds reach over its edges or do not."""
    ticks = Ticks(stalled(1420, *STALLS[where]))
    edges = (BEGIN + round(begin_s * S), END)
    p99_ms, max_ms = ticks.lag_ms(*edges)
    readings = readings_of(
        *(((at_ns - BEGIN) / S, "generator", metric, value)
          for at_ns, row in ticks.seconds() for metric, value in row.items())
    )  # fmt: skip
    marks = (
        PhaseMark(name="warm-up", begin_ns=BEGIN, end_ns=edges[0]),
        PhaseMark(name="measured", begin_ns=edges[0], end_ns=END),
        PhaseMark(name="drain", begin_ns=END, end_ns=END + 2 * S),
    )
    said = {"cpu_s": 0.0, "worker_cpu_s": (0.0,), "lag_max_ms": max_ms, "lag_p99_ms": p99_ms}
    assert lag_of(make_bundle(readings=readings, facts=said, phases=marks)) == []
    false = said | {"lag_max_ms": max_ms * 40 + 3000}
    assert lag_of(make_bundle(readings=readings, facts=false, phases=marks)) == ["largest lag"]
    false = said | {"lag_p99_ms": 0.0}
    assert lag_of(make_bundle(readings=readings, facts=false, phases=marks)) != []


def test_one_second_that_holds_the_whole_phase_bounds_only_from_above(
    make_bundle: MakeBundle,
) -> None:
    """A stall in the drain of a short trial is not what the measured phase had to wait for."""
    readings = readings_of(
        *((1.0, "generator", metric, value)
          for metric, value in (("cpu_share", 0.0), ("lag_max_ms", 300.0), ("lag_p99_ms", 200.0)))
    )  # fmt: skip
    marks = tuple(
        PhaseMark(name=name, begin_ns=BEGIN + begin * S // 10, end_ns=BEGIN + end * S // 10)
        for name, begin, end in (("warm-up", 0, 2), ("measured", 2, 6), ("drain", 6, 11))
    )
    said = {"cpu_s": 0.0, "worker_cpu_s": (0.0,), "lag_max_ms": 0.2, "lag_p99_ms": 0.1}
    assert lag_of(make_bundle(readings=readings, facts=said, phases=marks)) == []
    more = said | {"lag_max_ms": 301.0}
    assert lag_of(make_bundle(readings=readings, facts=more, phases=marks)) == ["largest lag"]


def lag_of(bundle: Bundle) -> list[str]:
    return [what for _, what, *_ in recomputed(bundle) if "lag" in what]


PHASES = Phases(warmup_s=2.0, measured_s=10.0)
POISSON = OpenArrivals(kind="poisson", rate_per_s=20.0)
PACED = PacedUsers(groups=(PacedGroup(users=20, period_s=1.0),))


def schedule_of(arrivals: Arrivals, seed: int) -> np.ndarray:
    if isinstance(arrivals, PacedUsers):
        return np.sort(np.concatenate(paced_offsets(arrivals, PHASES, seed)))
    assert not isinstance(arrivals, ClosedLoop)
    return arrival_offsets(arrivals, PHASES, seed)


@pytest.mark.parametrize("arrivals", [POISSON, PACED], ids=["open", "paced"])
def test_a_schedule_follows_from_its_seed(make_bundle: MakeBundle, arrivals: Arrivals) -> None:
    """The due times of another seed, or moved by a nanosecond, are not the trial's schedule."""
    due = schedule_of(arrivals, 1)
    rows = open_rows(BEGIN + due, np.full(due.size, 1_000_000))
    moved = due.copy()
    moved[5] += 1
    for offsets, wrong in ((due, False), (moved, True), (schedule_of(arrivals, 2), True)):
        bundle = make_bundle(arrivals=arrivals, rows=rows, due=BEGIN + offsets)
        assert ("AU114-facts" in rules_of(bundle)) == wrong


def test_a_closed_loop_has_no_schedule(make_bundle: MakeBundle) -> None:
    """A schedule beside users who start when they are free was put there."""
    bundle = make_bundle(due=BEGIN + np.arange(3))
    assert "AU114-facts" in rules_of(bundle)


def test_late_starts_are_counted_again(make_bundle: MakeBundle) -> None:
    """Requests that began two milliseconds late are late, whatever the generator says."""
    due = schedule_of(POISSON, 1)
    rows = open_rows(BEGIN + due, np.full(due.size, 1_000_000))
    rows = rows.with_columns(
        start_ns=pl.col("start_ns") + 2_000_000, service_ns=pl.col("service_ns") - 2_000_000
    ).with_columns(service_ns=pl.lit(1_000_000), latency_ns=pl.lit(3_000_000))
    late = {"late_starts": rows.height}
    kinds = {"service_ns": pl.Int64, "latency_ns": pl.Int64}
    honest = make_bundle(arrivals=POISSON, rows=rows.cast(kinds), due=BEGIN + due, facts=late)
    assert "AU114-facts" not in rules_of(honest)
    assert "AU114-facts" in rules_of(
        make_bundle(arrivals=POISSON, rows=rows.cast(kinds), due=BEGIN + due)
    )


def test_a_schedule_that_nobody_could_store_is_not_made(make_bundle: MakeBundle) -> None:
    """At a billion requests a second two due times are wrong without making the others."""
    due = BEGIN + np.array([0, 1])
    for kind in ("constant", "poisson"):
        arrivals = OpenArrivals.model_validate({"kind": kind, "rate_per_s": 1e9})
        assert "AU114-facts" in rules_of(make_bundle(arrivals=arrivals, due=due))


def said_to_have_failed(record: Json) -> None:
    record.update(outcome="failed", failure="app-1 ended with exit code 137")


def said_so_without_its_end(record: Json) -> None:
    said_to_have_failed(record)
    del record["execution"]["facts"]["wall_drift_ns"]


def said_so_without_a_reason(record: Json) -> None:
    record.update(outcome="failed")


def never_ended(record: Json) -> None:
    record["execution"]["facts"].pop("wall_drift_ns")


def with_a_failure(record: Json) -> None:
    record.update(failure="app-1 ended with exit code 137")


@pytest.mark.parametrize(
    "change",
    [
        said_to_have_failed,
        said_so_without_its_end,
        said_so_without_a_reason,
        never_ended,
        with_a_failure,
    ],
)
def test_an_outcome_that_the_rest_contradicts_is_found(
    book: Path, change: Callable[[Json], None]
) -> None:
    """Failed trials are in no result, so that one said to have failed would be hidden."""
    change_record(bundle_of(book, "json-0"), change)
    assert "AU116" in found(audit(book))


def ended(record: Json) -> None:
    record["execution"]["commands"][0]["exit_code"] = 137


def cut(record: Json) -> None:
    marks = record["execution"]["phases"]
    marks[-2]["end_ns"] = marks[-1]["begin_ns"] = marks[-1]["end_ns"] = marks[-2]["end_ns"] - 1000


def away(record: Json) -> None:
    record["trial"]["deployment"]["hosts"] = [{"name": "guest", "mode": "container"}]
    record["trial"]["deployment"]["roles"][0]["host"] = "guest"


def disturbed(record: Json) -> None:
    record["trial"]["disturbances"] = [
        {"action": "page-out", "node": "app-1", "at_s": 1, "for_s": 1}
    ]


@pytest.mark.parametrize("change", [ended, cut, away, disturbed])
def test_a_trial_that_can_have_failed_is_believed(
    make_bundle: MakeBundle, change: Callable[[Json], None]
) -> None:
    """A process that ended, a load that was cut, a host that may have been lost, and a disturbance:
    that it cannot be carried out is told when the load is over.
    """
    bundle = make_bundle(outcome="failed")
    plain = bundle.record.model_dump(mode="json")
    assert list(other_outcome(bundle.record))
    plain["execution"]["commands"] = [{"name": "app-1", "command": ["java"], "exit_code": None}]
    assert list(other_outcome(BundleRecord.model_validate(plain, strict=False)))
    change(plain)
    assert not list(other_outcome(BundleRecord.model_validate(plain, strict=False)))
