"""Why a file holds no results that can be judged."""

from __future__ import annotations

from pathlib import Path

from sizebook.model.errors import UsageError

KNOWN = (
    "results of JMeter (JTL as CSV or XML), k6 (--out json, --out csv, --summary-export), Gatling "
    "(simulation.log up to 3.11), Locust (--csv), wrk2 or HdrHistogram (.hgrm, .hlog), oha (JSON) "
    "or vegeta (report or encode, as JSON)"
)


def refused(path: Path, found: str, next_step: str) -> UsageError:
    """Return the error for a file that holds ``found`` instead of results."""
    return UsageError(found=f"{path}: {found}", expected=KNOWN, next_step=next_step)
