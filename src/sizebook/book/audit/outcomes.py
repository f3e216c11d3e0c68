"""Whether a trial ended as its record says: one relabelled as failed is missing in every result.

The harness reads a trial's clocks a second time when all of it has succeeded. After a load that was
measured to its end a trial fails only with a process that ended, a host that was lost, a
disturbance that could not be carried out, or a database that can no longer say what is stored.
"""

from __future__ import annotations

from collections.abc import Iterator

from sizebook.book.audit.rule import Wrong
from sizebook.model.bundle import BundleRecord

OUTCOME = "AU116-outcome"
AT_THE_END = "wall_drift_ns"


def other_outcome(record: BundleRecord) -> Iterator[Wrong]:
    """Yield what a record says of a trial's outcome that its rest contradicts."""
    execution = record.execution
    if record.outcome == "completed":
        if record.failure:
            yield OUTCOME, "the failure of a completed trial", record.failure[:80], "none"
        if record.generator is None or AT_THE_END not in execution.facts:
            yield OUTCOME, "the outcome", "completed", "a trial that never came to its end"
        return
    if not record.failure:
        yield OUTCOME, "the failure of a failed trial", "none", "the reason"
    if AT_THE_END in execution.facts:
        yield OUTCOME, "the outcome", "failed", "a trial that came to its end"
    elif _measured_to_the_end(record) and not _may_have_failed_then(record):
        yield OUTCOME, "the outcome", "failed", "a load measured to its end, and nothing that ended"


def _measured_to_the_end(record: BundleRecord) -> bool:
    planned = record.trial.load.phases.measured_s
    whole = (
        mark.end_ns - mark.begin_ns >= round(planned * 1e9)
        for mark in record.execution.phases
        if mark.name == "measured"
    )
    return record.generator is not None and any(whole)


def _may_have_failed_then(record: BundleRecord) -> bool:
    hosts = (*record.trial.deployment.hosts, *record.trial.load.hosts)
    ended = any(each.exit_code is not None for each in record.execution.commands)
    return ended or bool(hosts or record.trial.disturbances or record.trial.stores)
