"""A response criterion: what users must get for a load to count as carried."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sizebook.model.records import Record

Statistic = Literal["mean", "p50", "p90", "p95", "p99"]


class Criterion(Record):
    """A limit on latency (from the intended start) and on failures, over the measured phase."""

    statistic: Statistic
    limit_ms: Annotated[float, Field(gt=0)]
    failed_share: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Largest share of requests that may fail; arrivals that were dropped count as failed."""

    @property
    def name(self) -> str:
        """The criterion in short, such as ``p95 <= 2000 ms``."""
        errors = f", failed <= {self.failed_share:.2%}" if self.failed_share else ""
        return f"{self.statistic} <= {self.limit_ms:g} ms{errors}"
