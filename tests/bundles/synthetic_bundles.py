"""Synthetic bundles: every number in them is made up here, none was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from sizebook.lab.trials import Trial, Trials
from sizebook.model.bundle import (
    COUNTER_COLUMNS,
    REQUEST_COLUMNS,
    BundleRecord,
    Execution,
    Fingerprints,
    GeneratorFacts,
    HostRun,
    MachineFacts,
    PhaseMark,
    StackEvent,
)
from sizebook.model.deployment import Deployment, JvmRole
from sizebook.model.design import Design, Factor
from sizebook.model.load import Arrivals, ClosedLoop, LoadProfile, Phases
from sizebook.model.trial import Allowance, TrialSpec
from sizebook.store import Bundle, BundleWriter

S = 1_000_000_000
BEGIN = 100 * S
"""First request; two seconds of warm-up, then ten measured ones."""
MEASURED = BEGIN + 2 * S
END = BEGIN + 12 * S
PHASES = (
    PhaseMark(name="warm-up", begin_ns=BEGIN, end_ns=MEASURED),
    PhaseMark(name="measured", begin_ns=MEASURED, end_ns=END),
    PhaseMark(name="drain", begin_ns=END, end_ns=END + S // 10),
)

MakeBundle = Callable[..., Bundle]


def closed_rows(users: int = 4, service_ns: int = 10_000_000, gap_ns: int = 0) -> pl.DataFrame:
    """Return the requests of users that each start the next one ``gap_ns`` after an answer."""
    step = service_ns + gap_ns
    start = np.concatenate(
        [np.arange(BEGIN + u * step // users, END, step, dtype=np.int64) for u in range(users)]
    )
    user = np.concatenate(
        [np.full(len(range(BEGIN + u * step // users, END, step)), u) for u in range(users)]
    )
    return rows_from(start, start, np.full(start.size, service_ns), user)


def open_rows(intended_ns: np.ndarray, latency_ns: np.ndarray) -> pl.DataFrame:
    """Return requests that start when they are due, each by a user of its own."""
    return rows_from(intended_ns, intended_ns, latency_ns, np.arange(intended_ns.size) % 100)


def rows_from(
    intended: np.ndarray,
    start: np.ndarray,
    service: np.ndarray,
    user: np.ndarray,
    **columns: Sequence[Any],
) -> pl.DataFrame:
    """Return one good request a time; ``columns`` are what else is known of them."""
    phases = [intended < MEASURED, intended < END]
    frame = pl.DataFrame(
        {
            "intended_ns": intended,
            "start_ns": start,
            "latency_ns": start + service - intended,
            "service_ns": service,
            "name": "detail",
            "status": 200,
            "error": "",
            "received_bytes": 1000,
            "body_bytes": 800,
            "sent_bytes": 100,
            "iteration": np.arange(intended.size),
            "user": user,
            "worker": 0,
            "phase": np.select(phases, ["warm-up", "measured"], "drain"),
        }
        | columns
    ).sort("start_ns")
    return frame.cast({name: getattr(pl, kind) for name, kind in REQUEST_COLUMNS.items()})


def counter_rows(changes: dict[tuple[str, str], float]) -> pl.DataFrame:
    """Return readings before and after the trial; each counter rises by the given amount."""
    rows: list[tuple[Any, ...]] = []
    for (source, metric), rise in changes.items():
        rows.append((BEGIN - S // 100, "local", source, metric, 1000.0))
        rows.append((END + S, "local", source, metric, 1000.0 + rise))
    kinds = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def readings_of(*rows: tuple[float, str, str, float | None]) -> pl.DataFrame:
    """Return readings on this machine: (seconds after the first request, source, metric, value)."""
    kinds = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
    given = [(BEGIN + round(at_s * S), "local", *rest) for at_s, *rest in rows]
    return pl.DataFrame(given, schema=kinds, orient="row")


def host_run(**changes: Any) -> HostRun:
    """Return how a host of the deployment's own was during a trial, its clock in step."""
    machine = MachineFacts(
        system="synthetic",
        kernel="",
        architecture="",
        cpu_model="",
        logical_cpus=1,
        memory_mib=512,
        virtualization="container",
    )
    return HostRun(
        **{
            "name": "box",
            "mode": "container",
            "machine": machine,
            "boot_s": {"all": 0.5},
            "clock_ahead_ns": 0,
            "clock_drift_ns": 0,
            "clock_uncertainty_ns": 50_000,
        }
        | changes
    )


def write_synthetic(
    folder: Path,
    name: str,
    *,
    rows: pl.DataFrame | None = None,
    arrivals: Arrivals = ClosedLoop(users=4),  # noqa: B008 - frozen
    counters: dict[tuple[str, str], float] | None = None,
    facts: dict[str, Any] | None = None,
    execution_facts: dict[str, Any] | None = None,
    allowance: Allowance = Allowance(),  # noqa: B008 - frozen
    phases: tuple[PhaseMark, ...] = PHASES,
    outcome: str = "completed",
    with_facts: bool = True,
    with_requests: bool = True,
    deployment: Deployment | None = None,
    cpus: tuple[int, ...] = (0,),
    spec: TrialSpec | None = None,
    due: np.ndarray | None = None,
    readings: pl.DataFrame | None = None,
    events: tuple[StackEvent, ...] = (),
    hosts: tuple[HostRun, ...] = (),
    logs: Mapping[str, str] = MappingProxyType({}),
    key: str = "0" * 64,
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> Bundle:
    """Write a synthetic bundle, good unless told otherwise, and return it."""
    rows = closed_rows() if rows is None else rows
    failed = int((rows["error"].cast(pl.String) != "").sum())
    said = {
        "issued": rows.height,
        "completed": rows.height - failed,
        "failed": failed,
        "dropped": 0,
        "cpu_s": 3.0,
        "wall_s": 12.1,
        "lag_p99_ms": 0.2,
        "lag_max_ms": 1.0,
    } | (facts or {})
    counted = (
        {
            ("server/app-1", "requests_total"): float(rows.height),
            ("host", "core_steal_s/0"): 0.0,
            ("host", "core_steal_s/1"): 0.0,
            ("host", "swap_in_bytes"): 0.0,
            ("host", "swap_out_bytes"): 0.0,
        }
        if counters is None
        else counters
    )
    ended = {"wall_drift_ns": 0} if outcome == "completed" else {}
    record = BundleRecord(
        key=key,
        trial=spec
        or TrialSpec(
            chapter="synthetic",
            experiment="synthetic",
            profile="smoke",
            treatment={},
            replicate=0,
            deployment=deployment or Deployment(roles=(JvmRole(role="app"),)),
            load=LoadProfile(
                locustfile="synthetic.py",
                arrivals=arrivals,
                phases=Phases(warmup_s=2.0, measured_s=10.0),
                settings=dict(settings),
                cpus=cpus,
            ),
            allowance=allowance,
            # Counters are read before and after only, unless readings are given.
            probe_interval_s=60.0 if readings is None else 1.0,
        ),
        fingerprints=Fingerprints(stack="", jvm="", locustfile="", machine=""),
        machine=MachineFacts(
            system="synthetic",
            kernel="",
            architecture="",
            cpu_model="",
            logical_cpus=2,
            memory_mib=1024,
            virtualization="unknown",
        ),
        versions={},
        execution=Execution(
            started_utc="2026-01-01T00:00:00Z",
            wall_ns=0,
            monotonic_ns=BEGIN,
            session="synthetic",
            position=0,
            phases=phases,
            commands=(),
            facts=ended if execution_facts is None else execution_facts,
            events=events,
            hosts=hosts,
        ),
        outcome=outcome,
        failure="" if outcome == "completed" else "the synthetic fault",
        generator=GeneratorFacts(**said) if with_facts else None,
        files={},
    )
    with BundleWriter(folder, name) as writer:
        if with_requests:
            writer.table("requests.parquet", rows)
        writer.table("counters.parquet", counter_rows(counted) if readings is None else readings)
        for log, text in logs.items():
            (writer.path / log).parent.mkdir(exist_ok=True)
            (writer.path / log).write_text(text)
        if due is not None:
            writer.table("schedule.parquet", pl.DataFrame({"offset_ns": due - BEGIN}))
        return writer.commit(record)


def with_fingerprints(bundle: Bundle, **changed: Any) -> Bundle:
    """Return the bundle as if it had been measured with other fingerprints."""
    prints = bundle.record.fingerprints.model_copy(update=changed)
    return Bundle(bundle.path, bundle.record.model_copy(update={"fingerprints": prints}))


def make_trials(
    make: Callable[..., Bundle], experiment: str, given: Mapping[Any, Mapping[str, Any]]
) -> Trials:
    """Return the trials of a design with one factor, ``level``: what is given of each level."""
    trials = []
    for level, more in given.items():
        base = make(**more)
        spec = base.record.trial.model_copy(
            update={"experiment": experiment, "treatment": {"level": level}}
        )
        trials.append(Trial(make(**more, spec=spec)))
    return Trials(Design(experiment, (Factor("level", tuple(given)),), 1, 1), trials)
