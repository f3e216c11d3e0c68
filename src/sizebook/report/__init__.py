"""Floor 4: what a reader sees, as a function of bundles: tables, charts, numbers with evidence.

Names are loaded when first used: charts bring a second of imports, which numbers do not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizebook.model.later import later
from sizebook.report.reported import conditions, find_reported, reported

if TYPE_CHECKING:
    from sizebook.report import charts, limiter, measures, summaries, tables
    from sizebook.report.page import EvidenceSource, Page

__all__ = [
    "EvidenceSource",
    "Page",
    "charts",
    "conditions",
    "find_reported",
    "limiter",
    "measures",
    "reported",
    "summaries",
    "tables",
]

__getattr__ = later(
    __name__,
    {
        "EvidenceSource": "page",
        "Page": "page",
        "charts": "charts",
        "limiter": "limiter",
        "measures": "measures",
        "summaries": "summaries",
        "tables": "tables",
    },
)
