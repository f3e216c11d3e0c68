"""What hosts of a deployment's own took of this machine, and how soon they answered."""

from __future__ import annotations

from collections.abc import Iterable

from sizebook.lab.trials import Measure, Trial
from sizebook.model.modes import AS_IT_IS
from sizebook.report.counter_increase import risen
from sizebook.report.phase_counters import Window, open_window
from sizebook.store import Bundle

_BUSY = ("user", "system", "irq")
_CPU = "cgroup_cpu_s"


def boot_s(piece: str = "all") -> Measure:
    """Return a measure: seconds from a host's start to its agent's first answer, or a piece of it.

    Of several hosts the slowest counts. Processes of this machine boot nothing: 0 in ``all``; a
    piece that is not known of a host is None.
    """

    def measure(bundle: Bundle) -> float | None:
        made = [run.boot_s for run in bundle.record.execution.hosts if run.mode != AS_IT_IS]
        if not made:
            return 0.0 if piece == "all" else None
        told = [pieces[piece] for pieces in made if piece in pieces]
        return max(told) if len(told) == len(made) else None

    return measure


def ready_s(node: str) -> Measure:
    """Return a measure: seconds from a node's start on its host to its first good answer."""

    def measure(bundle: Bundle) -> float | None:
        seconds = bundle.record.execution.facts.get(f"ready_s/{node}")
        return float(seconds) if isinstance(seconds, int | float) else None

    return measure


def first_answer_s(node: str) -> Measure:
    """Return a measure: seconds from nothing to a node's first answer, its host's boot included."""
    booting, starting = boot_s(), ready_s(node)

    def measure(bundle: Bundle) -> float | None:
        booted, ready = booting(bundle), starting(bundle)
        return None if booted is None or ready is None else booted + ready

    return measure


def cpus_used(host: str) -> Measure:
    """Return a measure: CPUs' worth of time that a host took of this machine while measured."""

    def measure(bundle: Bundle) -> float | None:
        return None if (window := open_window(bundle)) is None else _rate(window, host, _CPU)

    return measure


def times_as_much(host: str, other: str) -> Measure:
    """Return a measure: CPU time of one host over that of another, while measured."""
    one, rest = cpus_used(host), cpus_used(other)

    def measure(bundle: Bundle) -> float | None:
        used, beside = one(bundle), rest(bundle)
        return used / beside if used is not None and beside else None

    return measure


def stopped_share(host: str) -> Measure:
    """Return a measure: share of the periods of its CPU limit in which it stopped the host, in %.

    None where there is no limit: nothing counts periods then.
    """

    def measure(bundle: Bundle) -> float | None:
        if (window := open_window(bundle)) is None:
            return None
        periods = _rate(window, host, "cgroup_periods")
        stopped = _rate(window, host, "cgroup_throttled_periods")
        return 100.0 * stopped / periods if periods and stopped is not None else None

    return measure


def cpus_beyond(host: str) -> Measure:
    """Return a measure: CPUs' worth of time that a host took beyond what its own kernel counts.

    That is devices, and whatever else runs the guest. Only of hosts with a kernel of their own.
    """

    def measure(bundle: Bundle) -> float | None:
        if (window := open_window(bundle)) is None or (taken := _rate(window, host, _CPU)) is None:
            return None
        growths = [window.growth((host, "inside", f"inside_cpu_s/{kind}")) for kind in _BUSY]
        told = [growth.per_s for growth in growths if growth is not None]
        return taken - sum(told) if len(told) == len(_BUSY) else None

    return measure


def switches_per_request(node: str) -> Measure:
    """Return a measure: switches of a node's threads over the trial, by request.

    None where the host's kernel does not count them, which it shows as none at all.
    """
    switches = risen(f"process/{node}", "switches_voluntary", "switches_involuntary")

    def measure(bundle: Bundle) -> float | None:
        rise, requests = switches(bundle), bundle.columns.height
        return rise / requests if rise and requests else None

    return measure


def printed_java(trials: Iterable[Trial], mode: str) -> str | None:
    """Return which Java the nodes in a mode said that they run; None where none was started."""
    said = {
        version
        for trial in trials
        if trial.treatment.get("mode") == mode
        for name, version in trial.bundle.record.versions.items()
        if name.startswith("java ")
    }
    return ", ".join(sorted(said)) or None


def _rate(window: Window, host: str, metric: str) -> float | None:
    growth = window.growth(("local", f"cgroup/{host}", metric))
    return None if growth is None else growth.per_s
