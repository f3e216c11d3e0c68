"""Why readings are missing: what the sampler leaves in a bundle beside the counters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sizebook.model.records import Record, Strings

NOTES = "probes.json"
SEVERAL_PROCESSES = "several processes answer at this port, each with counters of its own"
"""How the reason begins with which a counter tells one worker's part alone."""


class MissingReadings(Record):
    """A probe that could not be read, from the first to the last time for one reason."""

    probe: str
    """Such as ``jvm:jvm/app-1``: the part after the colon is the source in ``counters.parquet``."""
    reason: str
    times: Annotated[int, Field(ge=1)]
    first_ns: int
    """CLOCK_MONOTONIC."""
    last_ns: int


class LackingMetrics(Record):
    """What a probe asked for and this machine does not tell."""

    probe: str
    reasons: Strings
    """Metric to reason."""


class ProbeNotes(Record):
    """The whole of ``probes.json``."""

    format: Literal["sizebook-probes"] = "sizebook-probes"
    version: Literal[1] = 1
    missing: tuple[MissingReadings, ...] = ()
    lacking: tuple[LackingMetrics, ...] = ()

    def why_lacking(self, source: str) -> dict[str, str]:
        """Return metric to reason of what the sources that begin so do not tell."""
        return {
            metric: reason
            for one in self.lacking
            if probe_source(one.probe).startswith(source)
            for metric, reason in one.reasons.items()
        }

    def why_missing(self, source: str) -> tuple[MissingReadings, ...]:
        """Return why readings of a source, such as ``server/app-1``, are missing."""
        return tuple(one for one in self.missing if probe_source(one.probe) == source)


def probe_source(probe: str) -> str:
    """Return the source that a probe's readings are about, from the probe's name."""
    kind, _, source = probe.partition(":")
    return kind if kind == "host" else source
