"""Hosts of a deployment's own: what each says of itself, and what it costs this machine.

The two need not agree: a guest counts the time in which its virtual CPU ran, this machine what the
guest's kernel and its emulated devices took as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sizebook.hosts import Host
from sizebook.model.errors import UserError
from sizebook.probes.base import CounterSample, QuietProbe, Unavailable

InnerPids = Callable[[], Mapping[str, int]]
"""Gives the processes on the host that run now: source name to the id there."""


class InsideProbe(QuietProbe):
    """What a host says of itself: one question to it a reading.

    Sources: ``inside`` for the host, ``process/<name>`` for each process there with its children.
    """

    def __init__(self, host: Host, pids: InnerPids, *, interval_s: float = 1.0) -> None:
        self.name = self.asks = f"inside:{host.name}"
        self.host = host.name
        self.interval_s = interval_s
        self._asked = host
        self._pids = pids

    def sample(self) -> Iterator[CounterSample]:
        try:
            view = self._asked.inside(self._pids())
        except UserError as error:
            raise Unavailable(error.found) from error
        for kind, seconds in view.cpu_s.items():
            yield CounterSample("inside", f"inside_cpu_s/{kind}", seconds)
        yield CounterSample("inside", "inside_memory_bytes", view.memory_total_bytes)
        yield CounterSample("inside", "inside_available_bytes", view.memory_available_bytes)
        for name, one in view.processes.items():
            source = f"process/{name}"
            yield CounterSample(source, "cpu_user_s", one.cpu_user_s)
            yield CounterSample(source, "cpu_system_s", one.cpu_system_s)
            yield CounterSample(source, "rss_bytes", one.rss_bytes)
            yield CounterSample(source, "threads", one.threads)
            yield CounterSample(source, "switches_voluntary", one.voluntary_switches)
            yield CounterSample(source, "switches_involuntary", one.involuntary_switches)


class OutsideProbe(QuietProbe):
    """What a host costs this machine: its control group, or all of its processes.

    Source: ``cgroup/<host>``, of host ``local``.
    """

    host = "local"

    def __init__(self, host: Host, *, interval_s: float = 1.0) -> None:
        self.name = f"outside:{host.name}"
        self.interval_s = interval_s
        self._watched = host

    def sample(self) -> Iterator[CounterSample]:
        try:
            usage = self._watched.outside()
        except (OSError, UserError) as error:
            raise Unavailable(str(error)) from error
        source = f"cgroup/{self._watched.name}"
        yield CounterSample(source, "cgroup_cpu_s", usage.cpu_user_s + usage.cpu_system_s)
        yield CounterSample(source, "cgroup_memory_bytes", usage.memory_bytes)
        for metric, value in (
            ("cgroup_periods", usage.periods),
            ("cgroup_throttled_periods", usage.throttled_periods),
            ("cgroup_throttled_s", usage.throttled_s),
        ):
            if value is not None:
                yield CounterSample(source, metric, value)
