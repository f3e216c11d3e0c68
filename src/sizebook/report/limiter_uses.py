"""How much of each resource a trial used in its measured phase, and how that is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sizebook.hosts.topology import write_cpu_list
from sizebook.model.deployment import LOCAL, CpuSet
from sizebook.model.errors import BundleError
from sizebook.report.phase_counters import Use, Window
from sizebook.store import Bundle
from sizebook.store.derived import derived

PART = "by "
"""Before a role's name among the numbers of a CPU set: the CPUs it used."""
REST = "everything else"

_CORE_BUSY = ("core_user_s", "core_system_s", "core_irq_s")
_CORE_IDLE = ("core_idle_s", "core_iowait_s")
_IDLE_LAG_MS = 0.25
"""An idle loop's tick comes up to so late; see rule SB202."""
_NAMED_CPUS = 4
_DISK = {"queue": "disk_wait_s", "flushes_per_s": "disk_flushes"}


def generator_cpu(window: Window) -> Iterator[Use]:
    """Yield the generator's CPU time over that of its event loops (phase, else whole load).

    Of several workers the busiest one counts if it is nearer to its limit than all together.
    """
    load = window.trial.load
    cpus = min(load.workers, len(load.cpus) or load.workers)
    by_worker: dict[str, float] = {}
    readings = []
    keys = [
        key
        for metric in ("cpu_user_s", "cpu_system_s")
        for key in window.keys("process/generator-", metric)
    ]
    for key in keys:
        if (grown := window.growth(key)) is not None:
            by_worker[key[1]] = by_worker.get(key[1], 0.0) + grown.per_s
            readings.append(grown.readings)
    facts = window.bundle.record.generator
    if keys and len(readings) == len(keys):
        share = sum(by_worker.values()) / cpus
        numbers = {"cpus": float(cpus), "together": share}
        if len(by_worker) > 1:  # a worker is one event loop and has one CPU at most
            numbers["busiest"] = max(by_worker.values())
            share = max(share, numbers["busiest"])
        yield Use("generator", "generator", share, numbers, min(readings))
    elif facts is not None and facts.wall_s > 0:
        share = facts.cpu_s / facts.wall_s / cpus
        yield Use("generator", "generator", share, {"cpus": float(cpus), "together": share})
    else:
        yield Use("generator", "generator", None, reason="its CPU was not recorded")


def generator_lag(window: Window) -> Iterator[Use]:
    """Yield the generator's lateness beyond an idle loop's, over the latency it measured."""
    facts = window.bundle.record.generator
    reason = "no latency to compare with"
    if facts is not None:
        try:
            latency_ms = _measured_p99_ns(window.bundle)
        except BundleError as error:
            latency_ms, reason = None, error.found
        if latency_ms:
            lag_ms, latency_ms = max(0.0, facts.lag_p99_ms - _IDLE_LAG_MS), latency_ms / 1e6
            numbers = {"lag_ms": facts.lag_p99_ms, "latency_ms": latency_ms}
            yield Use("generator-lag", "generator", lag_ms / latency_ms, numbers)
            return
    yield Use("generator-lag", "generator", None, reason=reason)


@derived("limiter.measured_p99_ns")
def _measured_p99_ns(bundle: Bundle) -> float | None:
    return bundle.measured["latency_ns"].quantile(0.99, "higher")


def throttling(window: Window) -> Iterator[Use]:
    """Yield for each control group the share of its periods in which it was stopped."""
    for host, source, metric in window.keys("cgroup/", "cgroup_periods"):
        place = source.partition("/")[2]
        periods = window.growth((host, source, metric))
        stopped = window.growth((host, source, "cgroup_throttled_periods"))
        time_s = window.growth((host, source, "cgroup_throttled_s"))
        limit = window.level((host, source, "cgroup_cpu_limit"))
        if limit is None:
            yield Use("throttling", place, None, reason="no CPU limit is set")
        elif periods is None or stopped is None or periods.total <= 0:
            yield Use("throttling", place, None, reason="no period of the limit in the phase")
        else:
            numbers = {
                "limit": limit.mean,
                "stopped_per_s": 0.0 if time_s is None else time_s.per_s,
            }
            share = stopped.total / periods.total
            yield Use("throttling", place, share, numbers, stopped.readings)


def _cpu_sets(window: Window) -> dict[tuple[str, CpuSet], tuple[str, ...]]:
    """Return the CPU sets of the stack (all CPUs where none is given) and the roles on each."""
    sets: dict[tuple[str, CpuSet], tuple[str, ...]] = {}
    for role in window.trial.deployment.roles:
        key = role.host, role.cpus or _every_cpu(window)
        sets[key] = (*sets.get(key, ()), role.role)
    return sets


def _every_cpu(window: Window) -> CpuSet:
    """Return the CPUs of the machine that were online: their numbers may have holes."""
    keys = window.keys("host", "core_idle_s")
    told = {int(metric.partition("/")[2]) for host, _, metric in keys if host == LOCAL}
    return tuple(sorted(told)) or tuple(range(window.bundle.record.machine.logical_cpus))


def _core_times(
    window: Window, host: str, cpus: CpuSet, metrics: tuple[str, ...]
) -> tuple[float, int] | None:
    """Return CPUs in these states (mean), and the fewest readings; None if a core lacks them."""
    total, readings = 0.0, []
    for cpu in cpus:
        grown = [window.growth((host, "host", f"{metric}/{cpu}")) for metric in metrics]
        told = [one for one in grown if one is not None]
        if not told:
            return None
        total += sum(one.per_s for one in told)
        readings.append(min(one.readings for one in told))
    return (total, min(readings)) if readings else None


def _role_cpus(window: Window, host: str, role: str) -> tuple[float, int] | None:
    """Return how many CPUs all processes of a role used."""
    total, readings = 0.0, []
    for metric in ("cpu_user_s", "cpu_system_s"):
        keys = [key for key in window.keys(f"process/{role}-", metric) if key[0] == host]
        for key in keys:
            if (grown := window.growth(key)) is None:
                return None
            total += grown.per_s
            readings.append(grown.readings)
    return (total, min(readings)) if readings else None


def _set_name(cpus: CpuSet) -> str:
    few = len(cpus) <= _NAMED_CPUS
    numbers = ", ".join(map(str, cpus)) if few else write_cpu_list(cpus)
    return f"CPU {numbers}" if len(cpus) == 1 else f"CPUs {numbers}"


def cpu_sets(window: Window) -> Iterator[Use]:
    """Yield for each CPU set of the stack how busy it was, and who kept it so."""
    for (host, cpus), roles in _cpu_sets(window).items():
        place = _set_name(cpus)
        load_cpus = set(window.trial.load.cpus or _every_cpu(window))
        mixed = bool(load_cpus & set(cpus)) and not load_cpus <= set(cpus)
        own = ("generator",) if load_cpus <= set(cpus) else ()
        parts = {
            role: used
            for role in (*roles, *own)
            if (used := _role_cpus(window, host, role)) is not None
        }
        busy = _core_times(window, host, cpus, _CORE_BUSY)
        idle = _core_times(window, host, cpus, _CORE_IDLE)
        numbers = {f"{PART}{role}": used for role, (used, _) in parts.items()}
        all_told = len(parts) == len(roles) + len(own)
        if busy is not None and idle is not None and busy[0] + idle[0] > 0:
            share, readings = busy[0] / (busy[0] + idle[0]), busy[1]
            if all_told and not mixed:  # else some of it may be a role's, or the generator's
                numbers[f"{PART}{REST}"] = max(0.0, busy[0] - sum(numbers.values()))
        elif all_told:
            share = sum(numbers.values()) / len(cpus)
            readings = min(n for _, n in parts.values())
        else:
            yield Use("cpu", place, None, reason="no CPU times were recorded")
            continue
        yield Use("cpu", place, share, numbers | {"cpus": float(len(cpus))}, readings)


def other_programs(window: Window) -> Iterator[Use]:
    """Yield for each CPU set of the stack the share that nobody of the stack used."""
    for use in cpu_sets(window):
        if (used := use.numbers.get(f"{PART}{REST}")) is not None:
            numbers = {"busy": use.share or 0.0}
            yield Use("others", use.place, used / use.numbers["cpus"], numbers, use.readings)


def cpu_of_roles(window: Window) -> Iterator[Use]:
    """Yield for each role the CPU time that it took of the CPUs it may use."""
    for (host, cpus), roles in _cpu_sets(window).items():
        for role in roles:
            if (used := _role_cpus(window, host, role)) is None:
                yield Use("cpu-role", role, None, reason="its CPU times were not recorded")
            else:
                numbers = {"used": used[0], "cpus": float(len(cpus))}
                yield Use("cpu-role", role, used[0] / len(cpus), numbers, used[1])


def steal(window: Window) -> Iterator[Use]:
    """Yield for each CPU set of the stack the share of time that went to other guests."""
    for host, cpus in _cpu_sets(window):
        stolen = _core_times(window, host, cpus, ("core_steal_s",))
        if stolen is None:
            yield Use("steal", _set_name(cpus), None, reason="this system does not count steal")
        else:
            yield Use("steal", _set_name(cpus), stolen[0] / len(cpus), {}, stolen[1])


def gc_pauses(window: Window) -> Iterator[Use]:
    """Yield for each JVM role the share of time that the worst of its nodes stood still."""
    for role in window.trial.deployment.jvm_roles():
        worst: Use | None = None
        for number in range(1, role.nodes + 1):
            node = f"{role.role}-{number}"
            paused = window.total_growth(f"server/{node}", "gc_pause_s")
            if paused is None:
                paused = window.total_growth(f"jvm/{node}", "gc_s")
            if paused is not None and (worst is None or paused.per_s > (worst.share or 0.0)):
                worst = Use("gc", role.role, paused.per_s, {}, paused.readings)
        yield worst or Use("gc", role.role, None, reason="no garbage collection was recorded")


def disks(window: Window) -> Iterator[Use]:
    """Yield for each disk the share of time with an operation under way."""
    for host, source, metric in window.keys("host", "disk_busy_s"):
        name = metric.partition("/")[2]
        busy = window.growth((host, source, metric))
        if busy is None:
            yield Use("disk", name, None, reason="too few readings")
            continue
        numbers = {}
        for number, counter in _DISK.items():
            grown = window.growth((host, source, f"{counter}/{name}"))
            numbers[number] = grown.per_s if grown is not None else 0.0
        yield Use("disk", name, busy.per_s, numbers, busy.readings)


def back_ends(name: str, wait: str) -> Callable[[Window], Iterator[Use]]:
    """Return a measure: of the back ends at work, how many wait for this."""

    def measure(window: Window) -> Iterator[Use]:
        if window.trial.deployment.database() is None:
            return
        for host in window.hosts("database"):
            waiting = window.level((host, "database", f"backends_waiting/{wait}"))
            working = window.level((host, "database", "backends_in_state/active"))
            if waiting is None or working is None:
                break
            # One that waits inside an open transaction is not "active" to PostgreSQL.
            most = max(working.mean, waiting.mean)
            share = waiting.mean / most if most else 0.0
            numbers = {"waiting": waiting.mean, "working": most}
            yield Use(name, "database", share, numbers, min(waiting.readings, working.readings))
            return
        yield Use(name, "database", None, reason="no reading of the database in the phase")

    return measure


def pools(window: Window) -> Iterator[Use]:
    """Yield for each role with a pool how many of its connections were lent, over its nodes.

    By the gauge: the pool counts the time of a loan in whole ms, which is 0 for most. The time of
    waiting is counted in ns; its rate is the mean number that waited (Little's law).
    """
    for role in window.trial.deployment.jvm_roles():
        source = f"server/{role.role}-"
        if not any(True for _ in window.keys(source, "pool_limit")):
            continue  # a role without a pool
        limit = window.total_level(source, "pool_limit")
        lent = window.total_level(source, "pool_active")
        waited = window.total_growth(source, "pool_acquire_s")
        if limit is None or lent is None or limit.mean <= 0:
            yield Use("pool", role.role, None, reason="no reading of the pool in the phase")
            continue
        numbers = {"used": lent.mean, "limit": limit.mean}
        if waited is not None:
            numbers["waiting"] = waited.per_s
        yield Use("pool", role.role, lent.mean / limit.mean, numbers, lent.readings)


def web_threads(window: Window) -> Iterator[Use]:
    """Yield for each role how many of its worker threads were at work, over its nodes.

    By the gauge: Tomcat counts the time of a request in whole ms, which is 0 for many.
    """
    roles = window.trial.deployment.jvm_roles()
    front = next((r.role for r in roles if r.role == "app"), roles[-1].role if roles else "")
    for role in roles:
        source = f"server/{role.role}-"
        if not any(True for _ in window.keys(source, "threads_limit")):
            continue  # a role without worker threads
        limit = window.total_level(source, "threads_limit")
        busy = window.total_level(source, "threads_busy")
        if limit is None or busy is None or limit.mean <= 0:
            yield Use("threads", role.role, None, reason="no reading of the threads in the phase")
            continue
        numbers = {"used": busy.mean, "limit": limit.mean}
        if role.role == front and (under_way := window.in_flight) is not None:
            numbers |= {"under_way": under_way, "waiting": max(0.0, under_way - busy.mean)}
        yield Use("threads", role.role, busy.mean / limit.mean, numbers, busy.readings)


def network(window: Window) -> Iterator[Use]:
    """Yield the traffic of loopback and of all other interfaces."""
    for host, source, metric in window.keys("host", "network_sent_bytes"):
        place = metric.partition("/")[2]
        sent = window.growth((host, source, metric))
        received = window.growth((host, source, f"network_received_bytes/{place}"))
        if sent is None or received is None:
            yield Use("network", place, None, reason="too few readings")
            continue
        numbers = {"sent_mb_per_s": sent.per_s / 1e6, "received_mb_per_s": received.per_s / 1e6}
        reason = "loopback has no capacity" if place == "loopback" else "its capacity is not known"
        yield Use("network", place, None, numbers, sent.readings, reason=reason)
