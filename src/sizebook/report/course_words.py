"""The response over load in words: a title, and one row a load."""

from __future__ import annotations

import math
from typing import Any

from sizebook.report.shown_number import shown
from sizebook.stats.sizing import CoursePoint

TITLE = "Response over load ({statistic}): {cores} CPUs, nodes: {nodes}; shaded: the {level} % band"
AXES = {"load": "Load ({kind})", "response": "{statistic} (ms)", "limit": "limit", "asked": "load"}
"""Words in the chart."""
NEVER = "cannot be carried"


def as_data() -> dict[str, Any]:
    """Return the texts, as the page's script wants them."""
    return {"title": TITLE, "axes": AXES}


def course_title(statistic: str, cores: float, nodes: int, level: float) -> str:
    """Return what the curve shows."""
    return TITLE.format(
        statistic=statistic, cores=shown(cores), nodes=nodes, level=shown(100 * level)
    )


def course_rows(points: tuple[CoursePoint, ...], kind: str, statistic: str) -> list[dict[str, str]]:
    """Return one row a load: CPU use, response with its band, and whether that was measured."""
    return [
        {
            kind: shown(one.amount),
            "requests/s": shown(one.rate_per_s),
            "CPU use (%)": shown(100 * one.utilization),
            f"{statistic} (ms)": _ms(one.seconds),
            "from": _ms(one.low_s),
            "to": _ms(one.high_s),
            "": "" if one.measured else "beyond what was measured",
        }
        for one in points
    ]


def _ms(seconds: float) -> str:
    return shown(1e3 * seconds) if math.isfinite(seconds) else NEVER
