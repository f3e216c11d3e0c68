"""What the trials of networks tell: frames, and the quantities of their tables."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from sizebook.chapters.network import links
from sizebook.chapters.network.wiring import APPS, DB, WEB
from sizebook.lab import Trials
from sizebook.lab.trials import Measure
from sizebook.model.deployment import LOCAL
from sizebook.model.records import Scalar
from sizebook.report import charts, measures, summaries
from sizebook.report.curve_panels import curve_panels
from sizebook.report.quantities import Quantity
from sizebook.store import Bundle

_CPU, _LATENCY = "CPU per MB (ms)", "Latency (ms)"
_OFFLOADS, _FRAME = Quantity("offloads", "Offloads"), Quantity("frame", "Frame (B)")
COSTS = (
    Quantity("frames_per_mb", "Frames per MB", 0),
    Quantity("cpu_ms", "all", 2, _CPU),
    Quantity("system_ms", "kernel", 2, _CPU),
    Quantity("irq_ms", "interrupts", 2, _CPU),
    Quantity("lost", "Frames lost", 0),
    Quantity("p50_ms", "median", 2, _LATENCY),
    Quantity("p95_ms", "95th percentile", 2, _LATENCY),
)
"""What a megabyte costs."""
CUTS = (Quantity("answers", "Answers"), Quantity("way", "Way"), _OFFLOADS, _FRAME, *COSTS)
"""Answers of the null server."""
ROWS = (_OFFLOADS, _FRAME, Quantity("mb_per_s", "MB/s", 1), *COSTS)
"""Rows between tiers."""
SHARING = (
    Quantity("network", "Network"),
    Quantity("users", "Users"),
    Quantity("throughput_per_s", "Answers per second", 1),
    Quantity("mb_per_s", "MB/s at both app nodes", 2),
    Quantity("used", "Used by the first one (%)", 0),
    Quantity("p50_ms", "median", 1, _LATENCY),
    Quantity("p95_ms", "95th percentile", 1, _LATENCY),
)
"""A router, or links."""


def _latency() -> dict[str, Measure]:
    return {"p50_ms": measures.latency_ms(0.5), "p95_ms": measures.latency_ms(0.95)}


def _cost(hosts: Sequence[str], host: str, peer: str, cpus: Sequence[int]) -> dict[str, Measure]:
    """Return the measures of ``COSTS``: processor time of ``hosts``, frames of one link."""
    return {
        "frames_per_mb": links.frames_per_mb(host, peer),
        "cpu_ms": links.cpu_ms_per_mb(hosts, host, peer),
        "irq_ms": links.core_ms_per_mb("irq", cpus, host, peer),
        "system_ms": links.core_ms_per_mb("system", cpus, host, peer),
        "lost": links.lost_frames(host, peer),
        **_latency(),
    }


def answers_frame(trials: Trials, cpus: Sequence[int]) -> pl.DataFrame:
    """Return one row a trial of the null server, first those on links, then those on the bridge.

    ``cpus`` are those of the stack.
    """
    peers = {"link": LOCAL, "shared": links.SHARED}
    return pl.concat(
        trials.frame(**_cost((WEB,), WEB, peer, cpus)).filter(pl.col("way") == way)
        for way, peer in peers.items()
    )


def rows_frame(trials: Trials, cpus: Sequence[int]) -> pl.DataFrame:
    """Return one row a trial of rows between tiers."""
    return trials.frame(
        **_cost((WEB, DB), DB, WEB, cpus),
        mb_per_s=links.mb_per_s(DB, WEB),
        throughput_per_s=measures.throughput_per_s,
    )


def sharing_frame(trials: Trials, capacity_mbit_per_s: float) -> pl.DataFrame:
    """Return one row a trial of sharing; what crosses the network is that of both app nodes."""
    ends = {"links": DB, "router": links.SHARED}
    return pl.concat(
        trials.frame(
            mb_per_s=across(*((app, end) for app in APPS)),
            throughput_per_s=measures.throughput_per_s,
            used=links.utilization_percent(APPS[0], end, capacity_mbit_per_s),
            **_latency(),
        ).filter(pl.col("network") == network)
        for network, end in ends.items()
    )


def full_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial at full load: how much the link carried, and what that stands for."""
    return trials.frame(
        used=links.utilization_percent(WEB, DB),
        mb_per_s=links.mb_per_s(WEB, DB),
        throughput_per_s=measures.throughput_per_s,
        cpu_web=links.cpu_ms_per_mb((WEB,), WEB, DB),
        cpu_db=links.cpu_ms_per_mb((DB,), WEB, DB),
        **_latency(),
    )


def means(frame: pl.DataFrame, by: Sequence[str], columns: Sequence[Quantity]) -> pl.DataFrame:
    """Return the means of a table's columns by treatment, sorted."""
    names = [one.name for one in columns if one.name not in by]
    return summaries.means(frame, by, *names).sort(by)


def across(*pairs: tuple[str, str]) -> Measure:
    """Return a measure: the sum of what these links carried per second, in MB."""
    each = [links.mb_per_s(host, peer) for host, peer in pairs]

    def measure(bundle: Bundle) -> float | None:
        found = [value for one in each if (value := one(bundle)) is not None]
        return sum(found) if len(found) == len(each) else None

    return measure


def frame_cost_us(frame: pl.DataFrame, least: int, most: int) -> float:
    """Return microseconds that a frame costs: how CPU and frames of two sizes differ."""

    def cut(size: int) -> dict[str, Scalar]:
        return {"frame": size, "offloads": "off"}

    def more(column: str) -> float:
        few, many = cut(most), cut(least)
        return summaries.mean_of(frame, column, many) - summaries.mean_of(frame, column, few)

    return 1e3 * more("cpu_ms") / more("frames_per_mb")


def cost_charts(on_link: pl.DataFrame) -> alt.ConcatChart:
    """Return frames and processor time for each megabyte by how it is cut."""
    named = on_link.with_columns(cut=pl.format("{} bytes, offloads {}", "frame", "offloads"))
    panels = {
        title: charts.dots(
            summaries.summarize(named, ["cut", "frame"], column),
            value="mean",
            category="cut",
            low="low",
            high="high",
            x_title=title,
            category_title="Frames",
        )
        for title, column in (("frames per MB", "frames_per_mb"), (_CPU, "cpu_ms"))
    }
    return charts.panels(panels)


def sharing_charts(shared: pl.DataFrame) -> alt.ConcatChart:
    """Return throughput and latency over users by network."""
    titles = {"mb_per_s": "MB/s at both app nodes", "p95_ms": "95th percentile (ms)"}
    return curve_panels(
        shared, titles, x="users", series="network", x_title="users", series_title="Network"
    )
