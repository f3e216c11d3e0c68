"""What a host of its own says of itself, and what it costs, become counters."""

from types import SimpleNamespace

import pytest

from sizebook.hosts import HostUsage, HostView, ProcessView
from sizebook.model.errors import TrialError
from sizebook.probes.base import Unavailable
from sizebook.probes.hosted import InsideProbe, OutsideProbe
from sizebook.probes.registry import find_counter

VIEW = HostView(
    monotonic_ns=1,
    wall_ns=2,
    cpu_s={"user": 3.0, "steal": 0.5},
    memory_total_bytes=1 << 30,
    memory_available_bytes=1 << 29,
    processes={"app-1": ProcessView(1.0, 0.25, 4096, 17, 5, 6)},
)


def lost(*_):
    raise TrialError(found="host box does not answer", expected="one that does", next_step="look")


def test_the_inside_is_asked_once_for_all_of_its_processes():
    asked = []
    host = SimpleNamespace(name="box", inside=lambda pids: asked.append(pids) or VIEW)
    probe = InsideProbe(host, lambda: {"app-1": 42})
    samples = {(one.source, one.metric): one.value for one in probe.sample()}
    assert asked == [{"app-1": 42}]
    assert samples["inside", "inside_cpu_s/steal"] == 0.5
    assert samples["inside", "inside_available_bytes"] == 1 << 29
    assert samples["process/app-1", "cpu_system_s"] == 0.25
    assert samples["process/app-1", "switches_involuntary"] == 6
    for _, metric in samples:
        assert find_counter(metric)
    assert probe.host == "box"


def test_the_outside_tells_throttling_only_where_it_is_seen():
    usage = HostUsage(cpu_user_s=1.5, cpu_system_s=0.5, memory_bytes=4096)
    probe = OutsideProbe(SimpleNamespace(name="box", outside=lambda: usage))
    samples = {one.metric: one.value for one in probe.sample()}
    assert samples == {"cgroup_cpu_s": 2.0, "cgroup_memory_bytes": 4096}
    limited = HostUsage(1.0, 0.0, 1, periods=10, throttled_periods=4, throttled_s=0.2)
    probe = OutsideProbe(SimpleNamespace(name="box", outside=lambda: limited))
    samples = {one.metric: one.value for one in probe.sample()}
    assert (samples["cgroup_throttled_periods"], samples["cgroup_throttled_s"]) == (4, 0.2)
    assert {one.source for one in probe.sample()} == {"cgroup/box"}


@pytest.mark.parametrize(
    "probe",
    [
        InsideProbe(SimpleNamespace(name="box", inside=lost), dict),
        OutsideProbe(SimpleNamespace(name="box", outside=lost)),
    ],
)
def test_a_host_that_is_gone_is_a_missing_reading(probe):
    with pytest.raises(Unavailable, match="does not answer"):
        list(probe.sample())
