"""Bundles of SYNTHETIC trials, to test their pages: every number in them is made up here."""

from __future__ import annotations

import shutil
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import sample_book
from sample_book import HOSTILE, make_sample_book, write_alpha
from synthetic_bundles import BEGIN, END, S, rows_from, write_synthetic

from sizebook.model.bundle import COUNTER_COLUMNS, CommandRun
from sizebook.model.deployment import BalancerRole, DatabaseRole, Deployment, JvmRole
from sizebook.model.load import LoadProfile, OpenArrivals, Phases
from sizebook.model.trial import TrialSpec
from sizebook.report.page import EvidenceSource
from sizebook.stats.histograms import write_interval_log
from sizebook.store import Bundle, BundleWriter

Reading = tuple[float, float]
"""Seconds after the first request, value."""

FAILED = f"no database {HOSTILE}"


def make_trials_book(folder: Path) -> Path:
    """Write the sample book with bundles of every kind behind its first chapter; give ``folder``.

    Whole ones, one without requests, one failed, one exchanged, one damaged, two that are absent.
    """
    make_sample_book(folder)
    runs = folder / "data" / "runs" / "alpha"
    runs.mkdir(parents=True)
    levels = {"format": HOSTILE, "users": 5}
    bundles: list[tuple[Bundle, str]] = [
        (write_trial(runs, "whole-1", levels=levels), "valid"),
        (write_trial(runs, "whole-2", levels=levels, replicate=1), "noisy"),
        (write_trial(runs, "slim-1", levels={"users": 10}, slim=True), "valid"),
        (write_trial(runs, "failed-1", levels={"users": 20}, failure=FAILED), "failed"),
        (write_trial(runs, "other-1", levels={"users": 1}), "stale"),
        (write_trial(runs, "damaged-1", levels={"users": 2}), "valid"),
    ]
    sources = [EvidenceSource(each.id, each.sha256, verdict) for each, verdict in bundles]
    sources.append(EvidenceSource("absent-1", "c" * 64, "no steady state"))
    sources.append(EvidenceSource("../../escape", "d" * 64, "valid"))
    (runs / "damaged-1" / "trial.json").write_text('{"format": 1}')
    other = runs / "other-1" / "trial.json"
    other.write_text(other.read_text() + "\n")
    with mock.patch.object(sample_book, "SOURCES", tuple(sources)):
        write_alpha(folder)
    notes = folder / "book" / "notes.md"
    notes.write_text(notes.read_text() + "\n## Rules\n\n```{sbregistry} rules\n```\n")
    return folder


def open_requests(rate_per_s: float = 200.0) -> pl.DataFrame:
    """Return twelve seconds of open arrivals: late starts of 1 ms, one failure in a hundred."""
    step = round(S / rate_per_s)
    intended = np.arange(BEGIN, END, step, dtype=np.int64)
    wave = 5_000_000 + 2_000_000 * (np.arange(intended.size) % 7)
    rows = rows_from(intended, intended + 1_000_000, wave, np.arange(intended.size) % 50)
    failing = pl.int_range(pl.len()) % 100 == 99
    return rows.with_columns(
        error=pl.when(failing).then(pl.lit("status 500")).otherwise(pl.lit("")).cast(pl.Categorical)
    )


def readings(series: dict[tuple[str, str], list[Reading]]) -> pl.DataFrame:
    """Return a table of counters."""
    rows = [
        (BEGIN + round(t * S), "local", source, metric, value)
        for (source, metric), points in series.items()
        for t, value in points
    ]
    kinds = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
    return pl.DataFrame(rows, schema=kinds, orient="row").sort("time_ns", maintain_order=True)


def usual_readings() -> pl.DataFrame:
    """Return a counter, a gauge with a gap, two cores, and one that stays at zero."""
    ticks = [float(t) for t in range(13)]
    return readings(
        {
            ("process/app-1", "cpu_user_s"): [(t, 10 + 0.5 * t) for t in ticks],
            ("process/app-1", "cpu_system_s"): [(t, 3 + 0.25 * t) for t in ticks],
            ("process/database-1", "cpu_user_s"): [(t, 0.125 * t) for t in ticks],
            ("server/app-1", "threads_busy"): [(t, 7.0 + t) for t in ticks if t not in (5.0, 6.0)],
            ("server/app-1", "threads_limit"): [(t, 50.0) for t in ticks],
            ("host", "core_user_s/0"): [(t, 0.9 * t) for t in ticks],
            ("host", "core_user_s/1"): [(t, 0.1 * t) for t in ticks],
            ("host", "core_steal_s/0"): [(t, 0.0) for t in ticks],
            ("host", f"disk_read_bytes/{HOSTILE}"): [(t, 1e6 * t * t) for t in ticks],
        }
    )


def write_trial(
    folder: Path,
    name: str,
    *,
    levels: dict[str, str | int] | None = None,
    replicate: int = 0,
    requests: pl.DataFrame | None = None,
    slim: bool = False,
    counters: pl.DataFrame | None = None,
    failure: str = "",
) -> Bundle:
    """Write a bundle below ``folder``: slim without its requests, or failed without phases."""
    spec = TrialSpec(
        chapter="alpha",
        experiment="formats",
        profile="smoke",
        treatment=levels or {"users": 5},
        replicate=replicate,
        deployment=Deployment(
            roles=(
                DatabaseRole(),
                JvmRole(role="app", settings={"threads": 50}),
                BalancerRole(sticky=True),
            )
        ),
        load=LoadProfile(
            locustfile="synthetic.py",
            arrivals=OpenArrivals(kind="poisson", rate_per_s=200.0),
            phases=Phases(warmup_s=2.0, measured_s=10.0),
            cpus=(1,),
        ),
    )
    rows = open_requests() if requests is None else requests
    outcome = "failed" if failure else "completed"
    draft = write_synthetic(
        folder, f"{name}-draft", spec=spec, rows=rows, outcome=outcome, with_facts=not failure
    )
    shutil.rmtree(draft.path)
    command = CommandRun(name="app-1", command=("java", f"-Dx={HOSTILE}"), exit_code=0)
    changed = {"commands": (command,)} | ({"phases": ()} if failure else {})
    record = draft.record.model_copy(
        update={
            "execution": draft.record.execution.model_copy(update=changed),
            "failure": failure,
        }
    )
    with BundleWriter(folder, name) as writer:
        if not failure:
            write_interval_log(writer.path / "latency.hlog", rows, BEGIN)
            if not slim:
                writer.table("requests.parquet", rows)
        writer.table("counters.parquet", usual_readings() if counters is None else counters)
        return writer.commit(record)
