"""What became of a load while a part of the stack was killed and came back.

The account is the client's: what was sent, what was acknowledged, how long nothing was. Rows and
counters of the stack stand beside it as witnesses (``stored_rows``, ``rises``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.lab import Trial
from sizebook.lab.trials import Measure
from sizebook.model.bundle import StackEvent
from sizebook.report.charts import panels
from sizebook.report.theme import PALETTE
from sizebook.store import Bundle
from sizebook.store.derived import derived

_PANEL_PX = 130
_PANEL_WIDTH_PX = 620
_MARKS = ["killed", "ready again"]


def things_sent(*names: str) -> Measure:
    """Return a measure: passes of the scenario that sent something, however often they tried.

    ``names`` are those of the requests, such as that of an attempt and that of a failed one.
    """

    @derived("outages.things_sent", names)
    def measure(bundle: Bundle) -> float | None:
        rows = bundle.columns
        mine = np.zeros(rows.height, dtype=np.bool_)
        for name in names:
            mine |= rows.has("name", name)
        return float(np.unique(rows["iteration"][mine]).size)

    return measure


def requests_made(name: str, *, good: bool) -> Measure:
    """Return a measure: requests of a name in all phases that succeeded, or that did not."""

    @derived("outages.requests_made", name, good)
    def measure(bundle: Bundle) -> float | None:
        mine = bundle.columns.only("name", name)
        succeeded = mine.only("error", "").height
        return float(succeeded if good else mine.height - succeeded)

    return measure


def silence_s(name: str) -> Measure:
    """Return a measure: longest time without a good answer, from the first outage on, in seconds.

    None if nothing was done to the stack, or if no good answer came after it.
    """

    @derived("outages.silence_s", name)
    def measure(bundle: Bundle) -> float | None:
        event = first_event(bundle)
        ends = _good_ends(bundle, name)
        if event is None or not ends.size or ends[-1] < event.begin_ns:
            return None
        before = ends[ends < event.begin_ns]
        begin_ns = int(before[-1]) if before.size else event.begin_ns
        around = np.concatenate([[begin_ns], ends[ends >= event.begin_ns]])
        return float(np.diff(around).max()) / 1e9

    return measure


def away_s(bundle: Bundle) -> float | None:
    """Return the seconds from the kill until the killed process was ready again."""
    event = first_event(bundle)
    return None if event is None else (event.end_ns - event.begin_ns) / 1e9


def first_event(bundle: Bundle) -> StackEvent | None:
    """Return the first kill of a part of the stack, None if there was none."""
    events = bundle.record.execution.events
    return next((event for event in events if event.is_end), None)


def answers_around(trials: Sequence[Trial], name: str, width_s: float = 0.1) -> pl.DataFrame:
    """Return good answers of a name by windows of time around the kill.

    One row a trial and window: the treatment's levels, ``replicate``, ``t_s`` (begin of the
    window, seconds after the kill), ``answers`` (in the window), ``ready_s`` (when the killed
    process was ready). Trials in which nothing was killed, or that failed, have no rows.
    """
    parts = []
    for trial in trials:
        if not trial.completed:
            continue
        event, counted = first_event(trial.bundle), _answers_by_window(trial.bundle, name, width_s)
        if event is None or counted is None:
            continue
        first, counts = counted
        parts.append(
            pl.DataFrame(
                {
                    **{factor: [level] * counts.size for factor, level in trial.treatment.items()},
                    "replicate": trial.replicate,
                    "t_s": (first + np.arange(counts.size)) * width_s,
                    "answers": counts,
                    "ready_s": (event.end_ns - event.begin_ns) / 1e9,
                }
            )
        )
    schema = {"replicate": pl.Int64, "t_s": pl.Float64, "answers": pl.Int64, "ready_s": pl.Float64}
    return pl.concat(parts, how="vertical_relaxed") if parts else pl.DataFrame(schema=schema)


def outage_chart(
    frame: pl.DataFrame, *, factor: str, titles: Mapping[str, str], y_title: str
) -> alt.ConcatChart:
    """Return good answers over time, a panel a level of a factor, a line a replicate.

    ``frame`` is what ``answers_around`` gives; time counts from the kill, which is marked, and so
    is when each killed process was ready again. ``titles`` are the levels that get a panel.
    """
    return panels(
        {
            title: _panel(
                frame.filter(pl.col(factor) == level) if factor in frame.columns else frame, y_title
            )
            for level, title in titles.items()
        },
        width_px=_PANEL_WIDTH_PX,
        height_px=_PANEL_PX,
        share="x",
    )


def _panel(frame: pl.DataFrame, y_title: str) -> alt.LayerChart:
    x_title = "seconds after the kill"
    lines = (
        alt.Chart(frame)
        .mark_line(interpolate="step-after", strokeWidth=1.25, opacity=0.75, color=PALETTE[0])
        .encode(
            x=alt.X("t_s:Q", title=x_title, scale=alt.Scale(nice=False)),
            y=alt.Y("answers:Q", title=y_title),
            detail="replicate:N",
            tooltip=["replicate:N", alt.Tooltip("t_s:Q", format=".1f"), "answers:Q"],
        )
    )
    ready = frame.select(t_s="ready_s", what=pl.lit(_MARKS[1])).unique(maintain_order=True)
    marks = pl.concat([pl.DataFrame({"t_s": [0.0], "what": [_MARKS[0]]}), ready])
    rules = (
        alt.Chart(marks)
        .mark_rule(strokeWidth=1.75)
        .encode(
            x="t_s:Q",
            color=alt.Color(
                "what:N",
                title=None,
                scale=alt.Scale(domain=_MARKS, range=[PALETTE[1], PALETTE[2]]),
                legend=alt.Legend(symbolType="stroke"),
            ),
            strokeDash=alt.StrokeDash(
                "what:N", title=None, scale=alt.Scale(domain=_MARKS, range=[[1, 0], [4, 3]])
            ),
        )
    )
    layers: alt.LayerChart = lines + rules
    return layers


@derived("outages.answers_by_window")
def _answers_by_window(
    bundle: Bundle, name: str, width_s: float
) -> tuple[int, NDArray[np.int64]] | None:
    """Return the first window with a good answer, counted from the kill, and how many are in each.

    None if nothing was killed, or nothing answered.
    """
    event, ends = first_event(bundle), _good_ends(bundle, name)
    if event is None or not ends.size:
        return None
    window = np.floor((ends - event.begin_ns) / (width_s * 1e9)).astype(np.int64)
    first = int(window[0])
    return first, np.bincount(window - first)


def _good_ends(bundle: Bundle, name: str) -> NDArray[np.int64]:
    """Return when good answers of a name were complete, in order, CLOCK_MONOTONIC ns."""
    good = bundle.columns.only("name", name).only("error", "")
    ends: NDArray[np.int64] = np.sort(good["start_ns"] + good["service_ns"])
    return ends
