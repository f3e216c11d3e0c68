"""Floor 4: what a reader sees, as a function of bundles: tables, charts, numbers with evidence."""

from sizebook.report import charts, limiter, measures, summaries, tables
from sizebook.report.page import EvidenceSource, Page
from sizebook.report.reported import conditions, find_reported, reported

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
