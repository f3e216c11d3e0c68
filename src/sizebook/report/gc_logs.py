"""The GC logs that a trial's bundle holds, one a node, and what they say of the measured phase."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence

from sizebook.checks.facts import measured_mark
from sizebook.checks.rules import DoesNotApply
from sizebook.gclog import GcLog, GcSummary, read_gc_logs, summarise
from sizebook.lab.trials import Measure
from sizebook.model.deployment import JvmRole
from sizebook.model.errors import BundleError
from sizebook.store import Bundle
from sizebook.store.bundles import verify_file
from sizebook.store.thread_cache import Once
from sizebook.store.trial_clock import TrialClock

_FOLDER, _ENDING = "gc/", ".log"
_LOGS = Once[str, Mapping[str, GcLog]]()


def gc_logs(bundle: Bundle) -> Mapping[str, GcLog]:
    """Return the log of each node that has one, by the node's name, such as ``app-1``.

    A bundle holds the part of a log that was written during its trial; a node that wrote nothing
    has none. A log that is damaged or cannot be read is left out.
    """
    return _LOGS.get(bundle.sha256, lambda: _read_logs([bundle])[0])


def gc_summary(bundle: Bundle, node: str) -> GcSummary | None:
    """Return the counters of one node's log over the measured phase; None without log or phase."""
    log = gc_logs(bundle).get(node)
    if log is None or log.first_ns is None:
        return None
    try:
        mark = measured_mark(bundle)
    except DoesNotApply:
        return None
    return summarise(log, begin_ns=mark.begin_ns, end_ns=mark.end_ns)


def gc_measure(
    tell: Callable[[GcSummary], float | None],
    role: str = "app",
    over_nodes: Callable[[list[float]], float] = sum,
) -> Measure:
    """Return a measure: something of the GC logs of a role's nodes over the measured phase.

    ``over_nodes`` puts the nodes together: the sum, or ``max`` for pauses. None where a node's
    log does not tell.
    """

    def measure(bundle: Bundle) -> float | None:
        nodes = [name for name in gc_logs(bundle) if name.rpartition("-")[0] == role]
        told = [tell(found) for node in nodes if (found := gc_summary(bundle, node)) is not None]
        values = [float(value) for value in told if value is not None]
        return over_nodes(values) if values and len(values) == len(nodes) else None

    return measure


def overhead_percent(found: GcSummary) -> float | None:
    """Return the share of time in pauses, in percent; to be told by ``gc_measure``."""
    return None if found.overhead_share is None else 100 * found.overhead_share


def read_ahead(bundles: Iterable[Bundle]) -> None:
    """Read the logs of several bundles together, which takes hardly longer than those of one."""
    due = {bundle.sha256: bundle for bundle in bundles}
    read = dict(zip(due, _read_logs(list(due.values())), strict=True))
    for sha256 in read:
        _LOGS.get(sha256, functools.partial(read.__getitem__, sha256))


def _read_logs(bundles: Sequence[Bundle]) -> list[dict[str, GcLog]]:
    places = [
        (n, name.removeprefix(_FOLDER).removesuffix(_ENDING), bundle.path / name)
        for n, bundle in enumerate(bundles)
        for name in sorted(bundle.record.files)
        if name.startswith(_FOLDER) and name.endswith(_ENDING) and _is_whole(bundle, name)
    ]
    logs: list[dict[str, GcLog]] = [{} for _ in bundles]
    found = read_gc_logs([path for _, _, path in places])
    for (n, node, _), log in zip(places, found, strict=True):
        if isinstance(log, GcLog):
            here = log.shifted(-_clock_ahead_ns(bundles[n], node.partition(".")[0]))
            clock = TrialClock(bundles[n].record.execution.turns)
            logs[n][node] = here.moved(clock.own) if clock else here
    return logs


def _is_whole(bundle: Bundle, name: str) -> bool:
    try:
        verify_file(bundle, name)
    except BundleError:
        return False
    return True


def _clock_ahead_ns(bundle: Bundle, node: str) -> int:
    """Return how far the clock that a node writes by is ahead of the one that a trial goes by."""
    role, _, number = node.rpartition("-")
    spec = bundle.record.trial.deployment.find(role)
    if not isinstance(spec, JvmRole) or not number.isdecimal():
        return 0
    host = spec.host_of(int(number))
    ahead = {run.name: run.clock_ahead_ns for run in bundle.record.execution.hosts}
    return ahead.get(host, 0)
