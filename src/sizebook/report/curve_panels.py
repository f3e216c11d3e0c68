"""Several metrics over one factor: a line chart each, beside each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import altair as alt
import polars as pl

from sizebook.report import charts, summaries

_WIDTH_PX, _HEIGHT_PX = 270, 240


def curve_panels(
    frame: pl.DataFrame,
    titles: Mapping[str, str],
    *,
    x: str,
    series: str,
    x_title: str,
    series_title: str,
    log: Collection[str] = (),
) -> alt.ConcatChart:
    """Return the means of metrics over ``x``, a panel each and two in a row, a line a series.

    ``frame`` has one row a trial; ``titles`` names metrics with their units; those of ``log``
    have a logarithmic axis. Bars are 95 % intervals over fresh starts.
    """
    panels = {
        title: charts.curves(
            summaries.summarize(frame, [series, x], metric),
            x=x,
            series=series,
            x_title=x_title,
            y_title=title,
            series_title=series_title,
            log_y=metric in log,
        )
        for metric, title in titles.items()
    }
    return charts.panels(panels, columns=2, width_px=_WIDTH_PX, height_px=_HEIGHT_PX)
