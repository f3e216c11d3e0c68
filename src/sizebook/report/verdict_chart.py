"""How many claims of each group have each verdict: stacked bars, each piece with its number."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import polars as pl

from sizebook.report.theme import VERDICT_COLOURS

_ROW_PX = 38


def verdict_chart(
    counts: Mapping[str, Mapping[str, int]], group_title: str = ""
) -> alt.LayerChart | alt.FacetChart:
    """Return a bar a group, cut into its verdicts.

    ``counts`` has the number of claims by group and verdict; a verdict that no claim has is left
    out. ValueError where there is no claim at all.
    """
    rows = []
    for group, found in counts.items():
        end = 0
        for verdict in VERDICT_COLOURS:
            number = found.get(verdict, 0)
            if number:
                where = {"begin": end, "end": end + number, "middle": end + number / 2}
                rows.append({"group": group, "verdict": verdict, "claims": number} | where)
                end += number
    if not rows:
        raise ValueError("no claim to draw")
    verdicts = [name for name in VERDICT_COLOURS if any(row["verdict"] == name for row in rows)]
    base = alt.Chart(pl.DataFrame(rows)).encode(
        y=alt.Y("group:N", title=group_title or None, sort=list(counts), axis=alt.Axis(ticks=False))
    )
    bars = base.mark_bar(stroke="white", strokeWidth=1.5, cornerRadius=0).encode(
        x=alt.X("begin:Q", title="claims", axis=alt.Axis(tickMinStep=1)),
        x2="end:Q",
        color=alt.Color(
            "verdict:N",
            title=None,
            sort=verdicts,
            scale=alt.Scale(domain=verdicts, range=[VERDICT_COLOURS[name] for name in verdicts]),
        ),
        tooltip=["group", "verdict", "claims"],
    )
    numbers = base.mark_text(color="white", fontWeight="bold", fontSize=13).encode(
        x="middle:Q", text="claims:Q"
    )
    return alt.layer(bars, numbers).properties(height=_ROW_PX * len(counts))
