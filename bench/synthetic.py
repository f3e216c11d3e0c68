"""A made-up bundle of any number of requests, written by the project's own writer.

``python -m bench.synthetic FOLDER REQUESTS`` writes one; ``--csv FILE`` writes the same number of
samples as JMeter writes them instead.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.lab.deployments import app_stack
from sizebook.lab.placement import Placement
from sizebook.model.bundle import (
    COUNTER_COLUMNS,
    REQUEST_COLUMNS,
    BundleRecord,
    Execution,
    Fingerprints,
    GeneratorFacts,
    MachineFacts,
    PhaseMark,
)
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.trial import TrialSpec
from sizebook.stats.histograms import write_interval_log
from sizebook.store import Bundle, BundleWriter
from sizebook.store.bundles import COUNTERS, HISTOGRAMS, REQUESTS

USERS = 20
FLIGHTS = 400
MEAN_LATENCY_NS = 1_000_000
GAP_NS = 5_000
"""Between an answer and the same user's next request: the generator's own part."""
BEGIN_NS = 1_000_000_000_000
WARMUP_NS = 2_000_000_000
SERIES: Mapping[str, Mapping[str, float]] = {
    "host": {"core_steal_s/0": 0, "core_steal_s/1": 0, "swap_in_bytes": 0, "swap_out_bytes": 0},
    "server/app-1": {"requests_total": 1.0},
    "process/app-1": {"cpu_user_s": 2e-5, "cpu_system_s": 1e-5},
    "process/database-1": {"cpu_user_s": 1e-5, "cpu_system_s": 5e-6},
    "jvm/app-1": {"jit_code_bytes": 0, "space_used_bytes/old": 0, "space_capacity_bytes/old": 0},
}
"""By source: the counters that checks and measures read, and by how much a request raises them."""
OTHERS_A_SOURCE = 30
"""Further series at 1 Hz, so that there are as many as the probes of a chapter's stack read."""


def requests_frame(count: int, seed: int = 1) -> pl.DataFrame:
    """Return the requests of 20 users that read a list and then its 400 flights, again and again.

    Latencies are lognormal; users follow one another without pause, as in a closed loop.
    """
    each = -(-count // USERS)
    random = np.random.default_rng(seed)
    sigma = 0.5
    latency = random.lognormal(np.log(MEAN_LATENCY_NS) - sigma**2 / 2, sigma, (USERS, each))
    service: NDArray[np.int64] = latency.astype(np.int64)
    del latency
    start = np.cumsum(service + GAP_NS, axis=1) - service
    order = np.argsort(start.ravel(), kind="stable")[:count]
    start_ns = start.ravel()[order] + BEGIN_NS
    service_ns = service.ravel()[order]
    number = (order % each).astype(np.uint32)  # of the user's own requests
    user = (order // each).astype(np.uint32)
    runs = np.uint32(-(-each // (FLIGHTS + 1)))
    is_list = number % np.uint32(FLIGHTS + 1) == 0
    body = np.where(is_list, np.uint32(60_000), np.uint32(2_000) + number % np.uint32(50))
    columns = {
        "intended_ns": pl.Series(start_ns),
        "start_ns": pl.Series(start_ns),
        "latency_ns": pl.Series(service_ns),
        "service_ns": pl.Series(service_ns),
        "name": _words(("list", "detail"), ~is_list),
        "status": pl.repeat(200, count, dtype=pl.UInt16, eager=True),
        "error": _words(("",), np.zeros(count, dtype=bool)),
        "received_bytes": pl.Series(body + np.uint32(150)),
        "body_bytes": pl.Series(body),
        "sent_bytes": pl.repeat(120, count, dtype=pl.UInt32, eager=True),
        "iteration": pl.Series(user * runs + number // np.uint32(FLIGHTS + 1)),
        "user": pl.Series(user),
        "worker": pl.repeat(0, count, dtype=pl.UInt8, eager=True),
        "phase": _words(("warm-up", "measured"), start_ns >= BEGIN_NS + WARMUP_NS),
    }
    return pl.DataFrame({name: columns[name] for name in REQUEST_COLUMNS})


def counters_frame(begin_ns: int, end_ns: int, requests: int) -> pl.DataFrame:
    """Return readings once a second from before the first to after the last request."""
    times = np.arange(begin_ns - 500_000_000, end_ns + 1_500_000_000, 1_000_000_000)
    done = np.clip((times - begin_ns) / (end_ns - begin_ns), 0, 1) * requests
    frames = []
    for source, named in SERIES.items():
        others = {f"counter_{number}": 1.0 for number in range(OTHERS_A_SOURCE)}
        for metric, step in {**named, **others}.items():
            words = {"host": "local", "source": source, "metric": metric}
            frame = pl.DataFrame({"time_ns": times, "value": 1e6 + np.floor(done) * step})
            frames.append(frame.with_columns(**{k: pl.lit(v) for k, v in words.items()}))
    whole = pl.concat(frames).sort("time_ns", maintain_order=True).select(*COUNTER_COLUMNS)
    return whole.cast({name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()})


def write_synthetic(folder: Path, count: int) -> Bundle:
    """Write the bundle of a trial with so many requests below ``folder``."""
    requests = requests_frame(count)
    measured_ns = BEGIN_NS + WARMUP_NS
    end_ns = max(int(requests["start_ns"][-1]), measured_ns) + 1
    marks = (
        PhaseMark(name="warm-up", begin_ns=BEGIN_NS, end_ns=measured_ns),
        PhaseMark(name="measured", begin_ns=measured_ns, end_ns=end_ns),
        PhaseMark(name="drain", begin_ns=end_ns, end_ns=end_ns + 100_000_000),
    )
    wall_s = (end_ns - BEGIN_NS) * 1e-9
    record = BundleRecord(
        key="0" * 64,
        trial=TrialSpec(
            chapter="bench",
            experiment="summary",
            profile="full",
            treatment={"representation": "rest-json"},
            replicate=0,
            deployment=app_stack(Placement((0,), (1,), 1024)),
            load=LoadProfile(
                locustfile="odata_rest.py",
                arrivals=ClosedLoop(users=USERS),
                phases=Phases(
                    warmup_s=WARMUP_NS * 1e-9, measured_s=max(1.0, wall_s - WARMUP_NS * 1e-9)
                ),
                settings={"representation": "rest-json", "flights": FLIGHTS},
                cpus=(1,),
            ),
        ),
        fingerprints=Fingerprints(stack="", jvm="", locustfile="", machine=""),
        machine=MachineFacts(
            system="made up",
            kernel="",
            architecture="",
            cpu_model="",
            logical_cpus=2,
            memory_mib=8192,
            virtualization="unknown",
        ),
        versions={},
        execution=Execution(
            started_utc="2000-01-01T00:00:00Z",
            wall_ns=0,
            monotonic_ns=BEGIN_NS,
            session="made up",
            position=0,
            phases=marks,
            commands=(),
        ),
        outcome="completed",
        generator=GeneratorFacts(
            issued=count,
            completed=count,
            failed=0,
            dropped=0,
            cpu_s=0.5 * wall_s,
            wall_s=wall_s,
            lag_p99_ms=0.2,
            lag_max_ms=1.0,
        ),
        files={},
    )
    with BundleWriter(folder, f"made-up-{count}") as writer:
        writer.table(REQUESTS, requests)
        write_interval_log(writer.path / HISTOGRAMS, requests, BEGIN_NS)
        writer.table(COUNTERS, counters_frame(BEGIN_NS, end_ns, count))
        return writer.commit(record)


def write_jmeter_csv(path: Path, count: int) -> None:
    """Write the same requests as JMeter writes its samples."""
    requests = requests_frame(count)
    elapsed = pl.col("latency_ns") // 1_000_000
    label = pl.col("name").cast(pl.String)
    wall_ms = (pl.col("start_ns") - BEGIN_NS) // 1_000_000 + 1_700_000_000_000
    requests.select(
        timeStamp=wall_ms,
        elapsed=elapsed,
        label=label,
        responseCode=pl.col("status"),
        responseMessage=pl.lit("OK"),
        threadName=pl.format("readers 1-{}", pl.col("user") + 1),
        dataType=pl.lit("text"),
        success=pl.lit("true"),
        failureMessage=pl.lit(""),
        bytes=pl.col("received_bytes"),
        sentBytes=pl.col("sent_bytes"),
        grpThreads=pl.lit(USERS),
        allThreads=pl.lit(USERS),
        URL=pl.format("http://127.0.0.1:8101/rest/{}", label),
        Latency=elapsed,
        IdleTime=pl.lit(0),
        Connect=pl.lit(0),
    ).write_csv(path)


def _words(words: tuple[str, ...], indexes: NDArray[np.bool_]) -> pl.Series:
    return pl.Series(words, dtype=pl.Categorical).gather(indexes.astype(np.uint32))


def main() -> None:
    """Write what the command line asks for."""
    options = argparse.ArgumentParser(description="write a made-up bundle")
    options.add_argument("folder", type=Path)
    options.add_argument("requests", type=int)
    options.add_argument("--csv", action="store_true", help="JMeter's samples instead")
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.csv:
        write_jmeter_csv(given.folder / "samples.csv", given.requests)
    else:
        write_synthetic(given.folder, given.requests)


if __name__ == "__main__":
    main()
