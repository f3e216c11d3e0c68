"""What became of users when a node of several was lost: by their account, the balancer's, the
nodes' own.

A request that fails has a reason, told by where it ended: at the client without an answer, at the
balancer with one of its own (502, 503, 504), or at a node that does not know the session (401). A
page may come with status 200 and still be wrong: that of a session which has moved on, since a
request was sent to a second node after the first had done it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.chapters.failover.balancer_log import node_states, odd_requests
from sizebook.checks import accounting
from sizebook.checks.steady import counted
from sizebook.lab import Trial
from sizebook.lab.trials import Measure
from sizebook.model.bundle import StackEvent
from sizebook.report.charts import panels
from sizebook.report.theme import PALETTE
from sizebook.store import Bundle
from sizebook.store.columns import RequestColumns
from sizebook.store.derived import derived

LOST_SESSION = "session lost"
KINDS: Mapping[str, str] = {
    "refused": "connection refused",
    "silent": "no answer to the client",
    "502": "502: the node broke off",
    "503": "503: no node left",
    "504": "504: the node kept silent",
    LOST_SESSION: "401: session not known",
    "unexpected": "another page than expected",
    "other": "anything else",
}
"""Why requests fail, and the words for it."""
_OUTAGES = ("kill", "restart", "hang", "drain", "renew")
_PANEL_PX = 95
_PANEL_WIDTH_PX = 620


def outage(bundle: Bundle) -> StackEvent | None:
    """Return the first time that a node was taken from the users; None if it never was.

    Of a drain that is when it began.
    """
    events = bundle.record.execution.events
    return next((event for event in events if event.action in _OUTAGES), None)


@derived("failover.failures_by_kind")
def failures_by_kind(bundle: Bundle) -> dict[str, int]:
    """Return how many requests failed for each of ``KINDS``, all phases."""
    rows = bundle.columns
    bad = rows.where(~rows.has("error", ""))
    status, refused = bad["status"], bad.has("error", "connect")
    counts = dict.fromkeys(KINDS, 0)
    counts["refused"] = int(np.count_nonzero(refused & (status == 0)))
    counts["silent"] = int(np.count_nonzero(~refused & (status == 0)))
    for kind, code in (("502", 502), ("503", 503), ("504", 504), (LOST_SESSION, 401)):
        counts[kind] = int(np.count_nonzero(status == code))
    counts["unexpected"] = int(np.count_nonzero((status >= 200) & (status < 300)))
    counts["other"] = bad.height - sum(counts.values())
    return counts


def failed_of(kind: str) -> Measure:
    """Return a measure: requests that failed for one of ``KINDS``."""

    def measure(bundle: Bundle) -> float | None:
        return float(failures_by_kind(bundle)[kind])

    return measure


def failed(bundle: Bundle) -> float:
    """Return how many requests failed, all phases."""
    return float(sum(failures_by_kind(bundle).values()))


@derived("failover.mean_ms")
def mean_ms(bundle: Bundle) -> float | None:
    """Return the mean latency of the good requests that count, in ms; None without any."""
    rows = counted(bundle).only("error", "")
    return float(rows["latency_ns"].mean()) / 1e6 if rows.height else None


def acknowledged(table: str) -> Measure:
    """Return a measure: rows of a table that clients were told are safe, all phases."""

    @derived("failover.acknowledged", table)
    def measure(bundle: Bundle) -> float | None:
        filled = bundle.record.trial.stored().get(table)
        return None if filled is None else float(accounting.acknowledged(bundle.columns, filled))

    return measure


def unsure(table: str) -> Measure:
    """Return a measure: rows of a table that may be there though nobody was told so."""

    @derived("failover.unsure", table)
    def measure(bundle: Bundle) -> float | None:
        filled = bundle.record.trial.stored().get(table)
        return None if filled is None else float(accounting.unsure(bundle.columns, filled))

    return measure


@derived("failover.first_failure_s")
def first_failure_s(bundle: Bundle) -> float | None:
    """Return the seconds from the outage to the start of the first request after it that failed."""
    event = outage(bundle)
    starts = _failed_rows(bundle)["start_ns"]
    later = starts[starts >= event.begin_ns] if event is not None else starts[:0]
    return None if event is None or not later.size else float(later.min() - event.begin_ns) / 1e9


@derived("failover.last_failure_s")
def last_failure_s(bundle: Bundle) -> float | None:
    """Return the seconds from the outage until the last failed request was over; None without."""
    event, rows = outage(bundle), _failed_rows(bundle)
    if event is None or not rows.height:
        return None
    return float((rows["start_ns"] + rows["service_ns"]).max() - event.begin_ns) / 1e9


def recovered_s(limit_ms: float, width_s: float = 0.5) -> Measure:
    """Return a measure: seconds from the outage until users work as if nothing had happened.

    Time after the outage is cut into windows; the answer is the begin of the first one from which
    on, until the measured phase is over, no request that starts fails and the mean latency of each
    window is at most ``limit_ms``. None if there is no such window, or no outage.
    """

    @derived("failover.recovered_s", limit_ms, width_s)
    def measure(bundle: Bundle) -> float | None:
        event, mark = outage(bundle), bundle.record.execution.phase("measured")
        if event is None or mark is None:
            return None
        rows = bundle.columns
        start, good = rows["start_ns"], rows.has("error", "")
        inside = (start >= event.begin_ns) & (start < mark.end_ns)
        window = ((start[inside] - event.begin_ns) / (width_s * 1e9)).astype(np.int64)
        if not window.size:
            return None
        counts = np.bincount(window)
        late = np.bincount(window, weights=rows["latency_ns"][inside] / 1e6) > limit_ms * counts
        wrong = np.flatnonzero(late | (np.bincount(window, weights=~good[inside]) > 0))
        first = int(wrong[-1]) + 1 if wrong.size else 0
        return first * width_s if first < counts.size else None

    return measure


@derived("failover.users_hit")
def users_hit(bundle: Bundle) -> float:
    """Return how many users had a request that failed, for whatever reason."""
    return float(np.unique(_failed_rows(bundle)["user"]).size)


def found_down_s(bundle: Bundle) -> float | None:
    """Return the seconds from the outage until the balancer sent that node nothing more.

    None if it never noticed, or its log is not there.
    """
    event = outage(bundle)
    if event is None:
        return None
    known = node_states(bundle).filter(
        (pl.col("node") == event.node)
        & (pl.col("at_ns") >= event.begin_ns)
        & pl.col("state").is_in(["down", "taken out"])
    )
    return (int(known["at_ns"][0]) - event.begin_ns) / 1e9 if known.height else None


def found_up_s(bundle: Bundle) -> float | None:
    """Return the seconds from the outage until the balancer trusted that node again; None: not."""
    event, states = outage(bundle), node_states(bundle)
    if event is None:
        return None
    mine = states.filter((pl.col("node") == event.node) & (pl.col("at_ns") >= event.begin_ns))
    lost = mine.filter(pl.col("state").is_in(["down", "taken out"]))
    if not lost.height:
        return None
    back = mine.filter((pl.col("at_ns") > lost["at_ns"][0]) & (pl.col("state") == "up"))
    return (int(back["at_ns"][-1]) - event.begin_ns) / 1e9 if back.height else None


def sent_elsewhere(bundle: Bundle) -> float:
    """Return how many requests the balancer sent to another node after a first try, by its log."""
    return float(odd_requests(bundle)["elsewhere"].sum())


def balancer_failures(bundle: Bundle) -> pl.DataFrame:
    """Return what the balancer said for a node, by its log: ``status``, ``ended_by``, ``requests``.

    Answers of its own only: 502, 503 and 504.
    """
    own = odd_requests(bundle).filter(pl.col("status").is_in([502, 503, 504]))
    return own.group_by("status", "ended_by").agg(requests=pl.len()).sort("status", "ended_by")


def disagreement(bundle: Bundle) -> float:
    """Return by how many the failures with 502, 503 and 504 differ, client's count and log."""
    counts = failures_by_kind(bundle)
    client = sum(counts[kind] for kind in ("502", "503", "504"))
    return float(abs(client - int(balancer_failures(bundle)["requests"].sum())))


def around(trials: Sequence[Trial], factor: str, width_s: float = 0.25) -> pl.DataFrame:
    """Return what users saw around the outage, by windows of time.

    One row a trial, window and quantity: ``factor``'s level, ``replicate``, ``t_s`` (begin of the
    window, seconds after the outage), ``what`` (``good`` and ``failed``: requests that ended so,
    per second; ``latency``: mean of the good ones in ms), ``value``. A failed trial has none.
    """
    parts = []
    for trial in trials:
        found = _course_around(trial.bundle, width_s) if trial.completed else None
        if found is not None:
            parts.append(
                found.select(
                    pl.lit(str(trial.treatment[factor])).alias(factor),
                    pl.lit(trial.replicate).alias("replicate"),
                    "t_s",
                    "what",
                    pl.col("value").cast(pl.Float64),
                )
            )
    schema = {factor: pl.String, "replicate": pl.Int32, "t_s": pl.Float64, "what": pl.String,
              "value": pl.Float64}  # fmt: skip
    return pl.concat(parts, how="vertical_relaxed") if parts else pl.DataFrame(schema=schema)


def around_chart(frame: pl.DataFrame, *, factor: str, titles: Mapping[str, str]) -> alt.ConcatChart:
    """Return answers and failures over time, a panel a level of the factor, a line a trial.

    ``frame`` is what ``around`` gives; ``titles`` are the levels that get a panel.
    """
    return panels(
        {
            title: _panel(frame.filter((pl.col(factor) == level) & (pl.col("what") != "latency")))
            for level, title in titles.items()
        },
        width_px=_PANEL_WIDTH_PX,
        height_px=_PANEL_PX,
        share="x",
    )


def _panel(frame: pl.DataFrame) -> alt.LayerChart:
    names = ["good", "failed"]
    lines = (
        alt.Chart(frame)
        .mark_line(interpolate="step-after", strokeWidth=1.5, opacity=0.8)
        .encode(
            x=alt.X("t_s:Q", title="seconds after the outage began", scale=alt.Scale(nice=False)),
            y=alt.Y("value:Q", title="requests per second", scale=alt.Scale(type="symlog")),
            color=alt.Color(
                "what:N",
                title="Requests",
                scale=alt.Scale(domain=names, range=[PALETTE[0], PALETTE[1]]),
            ),
            detail="replicate:N",
            tooltip=[
                "what:N",
                "replicate:N",
                alt.Tooltip("t_s:Q", format=".2f"),
                alt.Tooltip("value:Q", title="per second", format=".3g"),
            ],
        )
    )
    rule = (
        alt.Chart(pl.DataFrame({"t_s": [0.0]}))
        .mark_rule(strokeWidth=1.75, color=PALETTE[7])
        .encode(x="t_s:Q")
    )
    layers: alt.LayerChart = lines + rule
    return layers


@derived("failover.course_around")
def _course_around(bundle: Bundle, width_s: float) -> pl.DataFrame | None:
    """Return ``t_s``, ``what``, ``value`` as in ``around``; None if nothing was taken away."""
    event, mark = outage(bundle), bundle.record.execution.phase("measured")
    if event is None or mark is None:
        return None
    rows = bundle.columns
    end_s = (rows["start_ns"] + rows["service_ns"] - event.begin_ns) / 1e9
    good, latency_ms = rows.has("error", ""), rows["latency_ns"] / 1e6
    ends = [(at_ns - event.begin_ns) / 1e9 for at_ns in (mark.begin_ns, mark.end_ns)]
    edges = np.arange(np.floor(ends[0] / width_s), np.ceil(ends[1] / width_s) + 1) * width_s
    frames = [
        pl.DataFrame({"t_s": edges[:-1], "value": value})
        .fill_nan(None)
        .drop_nulls()
        .select("t_s", pl.lit(what).alias("what"), "value")
        for what, value in _quantities(end_s, good, latency_ms, edges, width_s)
    ]
    return pl.concat(frames, how="vertical_relaxed")


def _quantities(
    end_s: NDArray[np.float64],
    good: NDArray[np.bool_],
    latency_ms: NDArray[np.float64],
    edges: NDArray[np.float64],
    width_s: float,
) -> list[tuple[str, NDArray[np.float64]]]:
    answered, _ = np.histogram(end_s[good], edges)
    failed_, _ = np.histogram(end_s[~good], edges)
    sums, _ = np.histogram(end_s[good], edges, weights=latency_ms[good])
    mean = np.where(answered > 0, sums / np.maximum(answered, 1), np.nan)
    return [("good", answered / width_s), ("failed", failed_ / width_s), ("latency", mean)]


def _failed_rows(bundle: Bundle) -> RequestColumns:
    rows = bundle.columns
    return rows.where(~rows.has("error", ""))
