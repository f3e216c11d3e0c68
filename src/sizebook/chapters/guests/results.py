"""What the trials of guests tell: frames, and the quantities of their tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import altair as alt
import polars as pl

from sizebook.chapters.guests.rules import APP, NULL, Choice
from sizebook.checks.criteria import meet
from sizebook.lab import MODES, Trials
from sizebook.model.criterion import Criterion
from sizebook.report import charts, measures, summaries
from sizebook.report import guests as hosted
from sizebook.report.curve_panels import curve_panels
from sizebook.report.quantities import Quantity, frame_of, means_of

_MODE = Quantity("mode", "Mode")
_START, _FIRST, _LATENCY = "Start (s)", "First answer (s)", "Latency (ms)"
_P50, _P95 = measures.latency_ms(0.5), measures.latency_ms(0.95)
STARTS = (
    _MODE,
    Quantity("boot_s", "boot", 2, _START, hosted.boot_s()),
    Quantity("kernel_s", "its kernel", 2, _START, hosted.boot_s("kernel")),
    Quantity("mounts_s", "its disks", 2, _START, hosted.boot_s("mounts")),
    Quantity("ready_s", "null server", 2, _START, hosted.ready_s(NULL)),
    Quantity("first_answer_s", "null server", 2, _FIRST, hosted.first_answer_s(NULL)),
    Quantity("first_answer_s_app", "app and database", 2, _FIRST),
)
"""The start of a mode."""
RULES = (
    _MODE,
    Quantity("rule", "Rule"),
    Quantity("cpus", "CPUs used", 2, measure=hosted.cpus_used("box")),
    Quantity("stopped", "Stopped (%)", 0, measure=hosted.stopped_share("box")),
    Quantity(
        "switches_per_request",
        "Switches per request",
        1,
        measure=hosted.switches_per_request(NULL),
    ),
    Quantity("throughput_per_s", "Answers per second", 1, measure=measures.throughput_per_s),
    Quantity("p50_ms", "median", 2, _LATENCY, _P50),
    Quantity("p95_ms", "95th percentile", 2, _LATENCY, _P95),
)
"""A host under a rule."""
_SHARED = "CPU time of the hosts (CPUs)"
WEIGHTS = (
    _MODE,
    Quantity("weights", "Weights"),
    Quantity("left_cpus", "asked", 2, _SHARED, hosted.cpus_used("left")),
    Quantity("right_cpus", "other", 2, _SHARED, hosted.cpus_used("right")),
    Quantity("share", "share (%)", 0, _SHARED),
    Quantity("cpu_ratio", "ratio", 2, _SHARED, hosted.times_as_much("left", "right")),
    Quantity("throughput_per_s", "Answers per second", 0, measure=measures.throughput_per_s),
    Quantity("p50_ms", "median", 2, _LATENCY, _P50),
    Quantity("p95_ms", "95th percentile", 1, _LATENCY, _P95),
)
"""Two hosts on one CPU."""
MEMORY = (
    _MODE,
    Quantity("memory", "Memory"),
    Quantity("throughput_per_s", "Answers per second", 0, measure=measures.throughput_per_s),
    Quantity("p95_ms", "95th percentile (ms)", 1, measure=_P95),
    Quantity("held_mib", "Held (MiB)", 0),
)
"""A host that keeps its memory or not."""
DENSITY = (
    _MODE,
    Quantity("guests", "Guests"),
    Quantity("throughput_per_s", "Answers per second", 0, measure=measures.throughput_per_s),
    Quantity("p50_ms", "median", 1, _LATENCY, _P50),
    Quantity("p95_ms", "95th percentile", 1, _LATENCY, _P95),
    Quantity("each_mib", "Memory of each (MiB)", 0),
    Quantity("boot_s", "Slowest boot (s)", 2, measure=hosted.boot_s()),
    Quantity("holds", "Holds"),
)
"""Guests side by side."""


def modes_frame(choice: Choice, trials: Mapping[str, Trials]) -> pl.DataFrame:
    """Return one row a mode: what it is, its trials by experiment, and why not all were run."""
    rows = []
    for mode, what in MODES.items():
        reasons = (choice.why_not(mode, name) for name in trials)
        why = "; ".join(dict.fromkeys(filter(None, reasons)))
        counts = {
            name: sum(trial.treatment["mode"] == mode for trial in group)
            for name, group in trials.items()
        }
        rows.append({"mode": mode, "what": what, **counts, "why": why or None})
    return pl.DataFrame(rows, schema_overrides={"why": pl.String})


def modes_columns(trials: Mapping[str, Trials]) -> tuple[Quantity, ...]:
    """Return the columns of ``modes_frame``."""
    counts = (Quantity(name, name, under="Trials") for name in trials)
    return (
        _MODE, Quantity("what", "What the host is"), *counts, Quantity("why", "Why not all"),
    )  # fmt: skip


def start_frames(rules: Trials, memory: Trials) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return one row a start of a null server, and one a start of app node and database."""
    null = frame_of(rules, *STARTS).filter(pl.col("rule") == "pinned")
    app = memory.frame(first_answer_s=hosted.first_answer_s(APP))
    return null, app.filter(pl.col("memory") == "fixed")


def start_means(null: pl.DataFrame, app: pl.DataFrame) -> pl.DataFrame:
    """Return the means of ``start_frames`` by mode, those of the app beside the null server's."""
    beside = summaries.means(app, ["mode"], "first_answer_s")
    return means_of(null, ["mode"], *STARTS[1:-1]).join(
        beside, on="mode", how="left", suffix="_app"
    )


def first_answers(null: pl.DataFrame, app: pl.DataFrame) -> pl.DataFrame:
    """Return the seconds to the first answer by mode and server, with intervals."""
    frames = {"null server": null, "app node and database": app}
    return pl.concat(
        summaries.summarize(frame, ["mode"], "first_answer_s").with_columns(what=pl.lit(what))
        for what, frame in frames.items()
    )


def rules_frame(rules: Trials) -> pl.DataFrame:
    """Return one row a trial of the rules; ``beyond`` is CPU time that no guest's kernel counts."""
    beyond = rules.frame(beyond=hosted.cpus_beyond("box")).select("bundle", "beyond")
    return frame_of(rules, *RULES).join(beyond, on="bundle", how="left", maintain_order="left")


def shares_frame(weights: Trials) -> pl.DataFrame:
    """Return one row a trial of the weights, with the share of the host that is asked, in %."""
    left, right = pl.col("left_cpus"), pl.col("right_cpus")
    return frame_of(weights, *WEIGHTS).with_columns(share=100 * left / (left + right))


def memory_frame(memory: Trials) -> pl.DataFrame:
    """Return one row a trial of memories, with what the control group held."""
    held = memory.frame(held=measures.level("cgroup/box", "cgroup_memory_bytes"))
    return frame_of(memory, *MEMORY).with_columns(held_mib=held["held"] / 2**20)


def could_not_go_on(memory: Trials) -> str:
    """Return the hosts from which too much memory was taken, with what became of them."""
    gone = [trial for trial in memory if trial.bundle.record.outcome == "failed"]
    words = (
        f"{trial.treatment['mode']}, {trial.treatment['memory']}: {trial.bundle.record.failure}"
        for trial in gone
    )
    return "; ".join(words) or "none"


def crowd_frame(density: Trials, criterion: Criterion) -> pl.DataFrame:
    """Return one row a trial of guests side by side; ``holds``: 1 where the criterion was kept."""
    more = density.frame(
        held=measures.level("cgroup/guest-", "cgroup_memory_bytes"),
        holds=lambda bundle: float(meet(bundle, criterion).kept),
    )
    return frame_of(density, *DENSITY).with_columns(
        more["holds"], each_mib=more["held"] / pl.col("guests") / 2**20
    )


def crowd_means(crowd: pl.DataFrame) -> pl.DataFrame:
    """Return the means by mode and guests; ``holds``: whether every trial kept the criterion."""
    by = ["mode", "guests"]
    kept = summaries.usable(crowd).group_by(by).agg(holds=pl.col("holds").min() == 1.0)
    return means_of(crowd, by, *DENSITY[2:-1]).join(kept, on=by, how="left", maintain_order="left")


def shares_charts(shares: pl.DataFrame) -> alt.ConcatChart:
    """Return CPU share and latency of the host that is asked by the weights of both."""
    dots = partial(
        charts.dots,
        value="mean",
        category="weights",
        series="mode",
        low="low",
        high="high",
        category_title="Weights",
        series_title="Mode",
    )
    panels = {
        title: dots(summaries.summarize(shares, ["weights", "mode"], column), x_title=title)
        for title, column in (
            ("CPU share of the host that is asked (%)", "share"),
            ("95th percentile of the latency (ms)", "p95_ms"),
        )
    }
    return charts.panels(panels)


def crowd_charts(crowd: pl.DataFrame) -> alt.ConcatChart:
    """Return latency and memory of each guest over the number of guests."""
    titles = {"p95_ms": "95th percentile (ms)", "each_mib": "memory of each guest (MiB)"}
    return curve_panels(
        crowd, titles, x="guests", series="mode", x_title="guests", series_title="Mode"
    )
