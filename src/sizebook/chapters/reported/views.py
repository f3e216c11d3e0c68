"""What tables and charts show of each report: its rows with names for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from sizebook.chapters.reported import wording
from sizebook.chapters.reported.printed import PrintedReport
from sizebook.report import charts


def counts(reports: Sequence[PrintedReport]) -> pl.DataFrame:
    """Return how many measurements, parameters and claims each report gave: ``wording.COUNTS``."""
    rows = [(one.report.id, *one.counts) for one in reports]
    return pl.DataFrame(rows, schema=[column.name for column in wording.COUNTS], orient="row")


def messages(mii: PrintedReport) -> pl.DataFrame:
    """Return messages and their rates by platform, connector and layout."""
    names, metrics = ("platform", "nodes", "connector"), ("throughput_msgs_per_s", "total_msgs")
    found = mii.take("sync-communication", *names, metric=metrics)
    return found.with_columns(
        layout=pl.col("nodes").replace_strict(wording.LAYOUTS),
        connector=pl.col("connector").replace_strict(wording.CONNECTORS),
        platform=pl.col("platform").str.replace("mii-", "MII "),
    ).sort("platform", maintain_order=True)


def message_charts(rates: pl.DataFrame) -> alt.ConcatChart:
    """Return messages per second over layouts, a panel a platform."""
    panels = {
        platform: charts.lines(
            rates.filter(platform=platform),
            x="layout",
            y="value",
            series="connector",
            x_title="JVMs × heap",
            y_title="messages per second",
            series_title="Connector",
            ordered=True,
        )
        for platform in ("MII 12.0", "MII 12.1")
    }
    return charts.panels(panels, columns=2, width_px=260, height_px=260, share="y")


def users(mii: PrintedReport) -> pl.DataFrame:
    """Return the system's counters under 500 and 100 users by layout and statistic."""
    found = mii.take("web-users-background", "users", "nodes", said=("platform",))
    return found.with_columns(
        layout=pl.col("nodes").replace_strict(wording.LAYOUTS),
        users=pl.col("users") + " users",
        meter=pl.col("metric").replace_strict(wording.METERS),
    )


def span_chart(
    users: pl.DataFrame, metric: str, title: str, **options: Any
) -> alt.Chart | alt.LayerChart:
    """Return the mean of a counter between its least and greatest reading, by layout and load."""
    spans = users.pivot(on="statistic", index=["metric", "users", "layout"], values="value")
    return charts.dots(
        spans.filter(metric=metric),
        value="mean",
        low="min",
        high="max",
        category="layout",
        series="users",
        x_title=title,
        series_title="Load",
        **options,
    )


def run_times(gateway: PrintedReport) -> pl.DataFrame:
    """Return the seconds of a run by service and client threads."""
    names = ("stack", "protocol", "threads", "wp_no_dia", "failed_requests")
    found = gateway.take("flight-list-and-details", *names, metric="total_time_s")

    def more(column: str, names: Mapping[str, str], default: str = "") -> pl.Expr:
        return pl.col(column).replace_strict(names, default=default, return_dtype=pl.String)

    service = pl.col("stack").replace_strict(wording.STACKS) + more("wp_no_dia", wording.WORKERS)
    return found.with_columns(
        service=service + more("failed_requests", wording.FAILED),
        clients=more("threads", wording.CLIENTS, "not said"),
    )


def answer_sizes(gateway: PrintedReport) -> pl.DataFrame:
    """Return the size of answers by part of a run and format: in words, and in kilobytes."""
    metrics = ("response_bytes", "test_data_mb")
    names, said = ("format", "request"), ("request",)
    found = gateway.take("flight-list-and-details", *names, metric=metrics, said=said)
    is_mb = pl.col("metric") == "test_data_mb"
    return found.with_columns(
        part=pl.col("request").replace_strict(wording.SENT),
        format=pl.col("format").replace_strict({"atom": "Atom", "json": "JSON"}),
        size=pl.col("words") + " " + pl.col("unit"),
        kilobytes=pl.when(is_mb).then(pl.col("value") * 1e3).otherwise(pl.col("value") / 1e3),
    )


def by_mode(itanium: PrintedReport, scenario: str, *names: str, **choice: Any) -> pl.DataFrame:
    """Return the rows of a scenario by virtualization mode, bare metal first."""
    frame = itanium.take(scenario, "platform", *names, **choice)
    return frame.sort(_mode_order(), maintain_order=True).with_columns(
        mode=pl.col("platform").replace_strict(wording.MODES)
    )


def copies(itanium: PrintedReport) -> pl.DataFrame:
    """Return the rates of copying by set of files and mode."""
    found = by_mode(itanium, "disk-copy", "file_set", metric="throughput_mb_per_s")
    return found.with_columns(files=pl.col("file_set").replace_strict(wording.FILES))


def stages(itanium: PrintedReport) -> pl.DataFrame:
    """Return the seconds of the stages of a report by mode."""
    found = by_mode(itanium, "fs10n", "stage")
    return found.with_columns(stage=pl.col("stage").replace_strict(wording.STAGES))


def tips(itanium: PrintedReport) -> pl.DataFrame:
    """Return the run times of small statements by test, variant and system."""
    names = ("system", "platform", "test", "variant")
    smaller = {"bis": " (BIS)"}
    return (
        itanium.take("se30-tips", *names, metric="runtime_us")
        .with_columns(
            system=pl.col("platform").replace_strict(wording.MODES)
            + pl.col("system").replace_strict(smaller, default="", return_dtype=pl.String),
            test=pl.col("test").str.replace_all("-", " "),
        )
        .sort(_mode_order(), pl.col("system").str.contains("BIS"), maintain_order=True)
    )


def tips_charts(tips: pl.DataFrame) -> alt.ConcatChart:
    """Return the run times by test and system, a panel a variant."""
    panels = {
        f"variant “{variant}”": charts.dots(
            tips.filter(variant=variant),
            value="value",
            category="test",
            series="system",
            scale="log",
            x_title="microseconds (log)",
            series_title="System",
        )
        for variant in ("similar", "main")
    }
    return charts.panels(panels, share="x")


def steps(itanium: PrintedReport) -> pl.DataFrame:
    """Return the response times of steps by kind, part and mode."""
    found = by_mode(itanium, "st03n-workload", "task_type", "part")
    return found.with_columns(part=pl.col("part").replace_strict(wording.STEPS))


def steps_charts(steps: pl.DataFrame) -> alt.ConcatChart:
    """Return the response times by mode and part, a panel a kind of step."""
    panels = {
        f"{kind} steps": charts.dots(
            steps.filter(task_type=kind),
            value="value",
            category="mode",
            series="part",
            label="words",
            x_title="milliseconds",
            series_title="Part",
        )
        for kind in ("dialog", "background")
    }
    return charts.panels(panels)


def jobs(itanium: PrintedReport) -> pl.DataFrame:
    """Return the times of long jobs and of one query by mode."""
    found = [by_mode(itanium, name, metric=metric) for name, metric in wording.JOB_METRICS.items()]
    return pl.concat(found).with_columns(job=pl.col("metric").replace_strict(wording.JOBS))


def bindings(wps: PrintedReport) -> pl.DataFrame:
    """Return the time of a call by binding, the fastest first."""
    found = wps.take("binding-comparison", "binding")
    return found.with_columns(binding=pl.col("binding").replace_strict(wording.BINDINGS)).sort(
        "value"
    )


def warm_up(wps: PrintedReport) -> pl.DataFrame:
    """Return time of a call and free heap over the calls."""
    metrics = ("time_per_run_ms", "free_heap_mb")
    found = wps.take("warm-up", "runs", metric=metrics, said=("runs",))
    return found.with_columns(calls=pl.col("runs").cast(pl.Int64))


def warm_up_charts(warm: pl.DataFrame) -> alt.ConcatChart:
    """Return time of a call and free heap over the calls."""
    panels = {
        title: charts.lines(
            warm.filter(metric=metric), x="calls", y="value", x_title="calls", y_title=y_title
        )
        for title, metric, y_title in (
            ("time of a call", "time_per_run_ms", "mean of all calls so far (ms)"),
            ("heap", "free_heap_mb", "free heap (MB)"),
        )
    }
    return charts.panels(panels, columns=2, width_px=252, height_px=240)


def collections(log: pl.DataFrame) -> pl.DataFrame:
    """Return one row a collection: what the tool tells, the ``rest`` of its pause, ``used`` MB."""
    wide = log.pivot(on="metric", index="row", values="value")
    told = pl.sum_horizontal("mark_ms", "sweep_ms", "compact_ms")
    return wide.with_columns(
        rest=pl.col("gc_completed_ms") - told, used=pl.col("tenured_used_after_bytes") / 1e6
    )


def pauses(collections: pl.DataFrame) -> pl.DataFrame:
    """Return the pause of each collection by what the collector did."""
    long = collections.unpivot(on=list(wording.PAUSES), index="row", variable_name="work")
    return long.with_columns(pl.col("work").replace_strict(wording.PAUSES))


def runs(oneworld: PrintedReport) -> pl.DataFrame:
    """Return what the four configurations have as wholes, by metric."""
    found = oneworld.take("web-html-benchmark", "config", "date", said=("cpu",), unsaid=("tier",))
    return _named(found)


def in_words(whole: pl.DataFrame) -> pl.DataFrame:
    """Return ``runs`` with ``what`` each metric is."""
    return whole.with_columns(what=pl.col("metric").replace_strict(wording.WHAT))


def runs_charts(whole: pl.DataFrame) -> alt.ConcatChart:
    """Return users, users a processor and response time of the configurations."""
    panels = {
        title: charts.dots(
            whole.filter(metric=metric),
            value="value",
            category="name",
            label="words",
            x_title=unit,
        )
        for metric, (title, unit) in wording.RUN_PANELS.items()
    }
    return charts.panels(panels)


def tiers(oneworld: PrintedReport) -> pl.DataFrame:
    """Return the CPU of each tier of the configurations."""
    names = ("config", "date", "tier")
    found = _named(oneworld.take("web-html-benchmark", *names, metric="cpu_percent"))
    return found.with_columns(tier=pl.col("tier").replace_strict(wording.TIERS))


def pools(rules: pl.DataFrame) -> pl.DataFrame:
    """Return the rules that size a pool by the users."""
    found = rules.filter(pl.col("metric").is_in(list(wording.RULES)))
    return found.with_columns(rule=pl.col("metric").replace_strict(wording.RULES, default=None))


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows by date, with the configuration's ``name``."""
    name = (pl.col("config") + " " + pl.col("date")).replace_strict(wording.CONFIGS)
    return frame.sort("date", maintain_order=True).with_columns(name=name)


def _mode_order() -> pl.Expr:
    order = {mode: number for number, mode in enumerate(wording.MODES)}
    return pl.col("platform").replace_strict(order)
