"""Floor 4: what a reader sees, as a function of bundles: tables, charts, numbers with evidence.

Names are loaded when first used: charts bring a second of imports, which numbers do not need.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

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

_HOMES = {"EvidenceSource": "page", "Page": "page"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_HOMES.get(name, name)}")
    value = getattr(module, name) if name in _HOMES else module
    globals()[name] = value
    return value
