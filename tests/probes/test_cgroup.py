"""Control groups: made-up trees of both versions, and a real one where it may be made."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import wait_until

from sizebook.hosts.memberships import (
    GroupFolder,
    Memberships,
    cpu_limit,
    find_groups,
    memory_limit,
)
from sizebook.probes.base import Unavailable
from sizebook.probes.cgroup import CgroupProbe
from sizebook.probes.registry import find_counter

V2_CPU = "usage_usec 7500000\nuser_usec 7000000\nnr_periods 120\nnr_throttled 30\n"
V2_CPU += "throttled_usec 1250000\nnr_bursts 0\nburst_usec 0\n"
V2_EVENTS = "low 0\nhigh 0\nmax 17\noom 2\noom_kill 1\noom_group_kill 0\n"
PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total=500000\nfull avg10=0.00 total=250000\n"


def tree(tmp_path, memberships, mounts, files):
    """Return a made-up /proc whose process 7 is in these groups; files by path below tmp_path."""
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    proc = tmp_path / "proc"
    (proc / "7").mkdir(parents=True)
    (proc / "self").mkdir()
    (proc / "7" / "cgroup").write_text(memberships)
    lines = [
        f"{30 + n} 24 0:{n} {root} {tmp_path}/{place} rw,nosuid shared:9 - {kind} {kind} {options}"
        for n, (root, place, kind, options) in enumerate(mounts)
    ]
    (proc / "self" / "mountinfo").write_text("\n".join(lines) + "\n")
    return proc


def by_metric(groups):
    probe = CgroupProbe("cgroup/all", groups)
    found = {one.metric: one.value for one in probe.sample()}
    assert {find_counter(metric).source for metric in found} <= {"cgroup"}
    return found, probe.lacking()


def test_version_2(tmp_path):
    """Throttling, memory events, pressure, limits: in seconds, bytes and CPUs."""
    files = {
        "fs/cgroup.controllers": "cpu memory",
        "fs/app/cgroup.controllers": "cpu memory",
        "fs/app/cgroup.type": "domain",
        "fs/app/cpu.stat": V2_CPU,
        "fs/app/cpu.max": "150000 100000\n",
        "fs/app/memory.current": "1048576\n",
        "fs/app/memory.peak": "2097152\n",
        "fs/app/memory.max": "4194304\n",
        "fs/app/memory.events": V2_EVENTS,
        "fs/app/cpu.pressure": PRESSURE,
    }
    proc = tree(tmp_path, "0::/app\n", [("/", "fs", "cgroup2", "rw")], files)
    found, lacking = by_metric(find_groups(7, proc))
    assert found == {
        "cgroup_periods": 120,
        "cgroup_throttled_periods": 30,
        "cgroup_throttled_s": 1.25,
        "cgroup_cpu_limit": 1.5,
        "cgroup_cpu_s": 7.5,
        "cgroup_memory_bytes": 2**20,
        "cgroup_memory_peak_bytes": 2**21,
        "cgroup_memory_limit_bytes": 2**22,
        "cgroup_memory_limit_hits": 17,
        "cgroup_ooms": 2,
        "cgroup_oom_kills": 1,
        "cgroup_pressure_some_s/cpu": 0.5,
        "cgroup_pressure_full_s/cpu": 0.25,
    }
    assert set(lacking) == {"cgroup_pressure_some_s/io", "cgroup_pressure_some_s/memory"}


def test_what_a_kernel_lacks_is_left_out_with_its_reason(tmp_path):
    """No memory.peak, no limit set: absent and explained, not zero."""
    files = {
        "fs/cgroup.controllers": "",
        "fs/app/cgroup.type": "domain",
        "fs/app/cpu.stat": V2_CPU.replace("throttled_usec", "other_usec"),
        "fs/app/cpu.max": "max 100000\n",
        "fs/app/memory.current": "5\n",
        "fs/app/memory.max": "max\n",
    }
    proc = tree(tmp_path, "0::/app\n", [("/", "fs", "cgroup2", "rw")], files)
    found, lacking = by_metric(find_groups(7, proc))
    assert set(found) == {
        "cgroup_periods",
        "cgroup_throttled_periods",
        "cgroup_cpu_s",
        "cgroup_memory_bytes",
    }
    assert lacking["cgroup_memory_peak_bytes"] == "memory.peak: No such file or directory"
    assert lacking["cgroup_throttled_s"] == "cpu.stat has no throttled_usec"
    assert lacking["cgroup_memory_limit_bytes"] == "memory.max says 'max'"
    assert lacking["cgroup_cpu_limit"] == "no CPU limit is set"


def test_version_1(tmp_path):
    """The same numbers from version 1's files, its nanoseconds included."""
    unlimited = f"{2**63 - 4096}\n"
    files = {
        "cpu/a b/cpu.stat": "nr_periods 10\nnr_throttled 4\nthrottled_time 250000000\n",
        "cpu/a b/cpu.cfs_quota_us": "50000\n",
        "cpu/a b/cpu.cfs_period_us": "100000\n",
        "cpu/a b/cpuacct.usage": "3000000000\n",
        "mem/a b/memory.usage_in_bytes": "4096\n",
        "mem/a b/memory.max_usage_in_bytes": "8192\n",
        "mem/a b/memory.limit_in_bytes": unlimited,
        "mem/a b/memory.failcnt": "3\n",
        "mem/a b/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
    }
    mounts = [("/", "cpu", "cgroup", "rw,cpu,cpuacct"), ("/", "mem", "cgroup", "rw,memory")]
    proc = tree(tmp_path, "3:cpu,cpuacct:/a b\n2:memory:/a b\n1:name=systemd:/x\n", mounts, files)
    found, lacking = by_metric(find_groups(7, proc))
    assert found == {
        "cgroup_periods": 10,
        "cgroup_throttled_periods": 4,
        "cgroup_throttled_s": 0.25,
        "cgroup_cpu_limit": 0.5,
        "cgroup_cpu_s": 3.0,
        "cgroup_memory_bytes": 4096,
        "cgroup_memory_peak_bytes": 8192,
        "cgroup_memory_limit_hits": 3,
        "cgroup_oom_kills": 2,
    }
    assert set(lacking) == {"cgroup_memory_limit_bytes"}


def test_the_tightest_limit_above_counts(tmp_path):
    """Of nested groups the one with the least limit is watched; CPU and memory apart."""
    files = {"fs/cgroup.controllers": ""}
    for name, cpus, memory in (
        ("a", "50000", "max"),
        ("a/b", "max", "900"),
        ("a/b/c", "80000", ""),
    ):
        files |= {
            f"fs/{name}/cgroup.type": "domain",
            f"fs/{name}/cpu.stat": V2_CPU,
            f"fs/{name}/cpu.max": f"{cpus} 100000\n",
        }
        if memory:
            files |= {f"fs/{name}/memory.max": memory, f"fs/{name}/memory.current": "1\n"}
    proc = tree(tmp_path, "0::/a/b/c\n", [("/", "fs", "cgroup2", "rw")], files)
    groups = find_groups(7, proc)
    assert groups.cpu == GroupFolder(2, tmp_path / "fs/a")
    assert groups.memory == GroupFolder(2, tmp_path / "fs/a/b")
    assert groups.pressure == GroupFolder(2, tmp_path / "fs/a/b/c")
    assert (cpu_limit(groups.cpu), memory_limit(groups.memory)) == (0.5, 900)


def test_a_container_sees_its_own_group_as_the_top(tmp_path):
    """The whole path in /proc/PID/cgroup, the group itself mounted: its files are found."""
    files = {"fs/cpu.stat": "nr_periods 1\n", "fs/cpu.cfs_quota_us": "-1\n"}
    mounts = [("/docker/0a1b", "fs", "cgroup", "rw,cpu")]
    proc = tree(tmp_path, "4:cpu:/docker/0a1b\n", mounts, files)
    groups = find_groups(7, proc)
    assert groups.cpu == GroupFolder(1, tmp_path / "fs") and cpu_limit(groups.cpu) is None


@pytest.mark.parametrize("marker", ["cgroup.controllers", "release_agent"])
def test_the_topmost_group_is_none(tmp_path, marker):
    """The machine's topmost group has no limits: nothing to watch, whichever the version."""
    kind = "cgroup2" if marker == "cgroup.controllers" else "cgroup"
    name = "0::/" if kind == "cgroup2" else "1:cpu:/"
    proc = tree(
        tmp_path,
        f"{name}\n",
        [("/", "fs", kind, "rw,cpu")],
        {f"fs/{marker}": "", "fs/cpu.stat": V2_CPU},
    )
    assert find_groups(7, proc) == Memberships() and not find_groups(7, proc).exist
    outside = tree(tmp_path / "x", "0::/../other\n", [("/", "fs", "cgroup2", "rw")], {})
    assert not find_groups(7, outside).exist


def test_no_control_groups(tmp_path):
    """No process, no mounts, a group that has gone: missing with a reason."""
    with pytest.raises(FileNotFoundError):
        find_groups(7, tmp_path)
    gone = Memberships(
        cpu=GroupFolder(2, tmp_path / "gone"), memory=GroupFolder(1, tmp_path / "gone")
    )
    with pytest.raises(Unavailable, match="none of the group's files"):
        CgroupProbe("cgroup/all", gone).sample()


def made_group():
    """Return the folder of a new CPU group of this machine, and its version; skips without."""
    name = f"sizebook-test-{os.getpid()}"
    top = Path("/sys/fs/cgroup")
    places = [(top / "cpu", 1), (top / "cpu,cpuacct", 1), (top, 2)]
    reasons = []
    for place, version in places:
        folder = place / name
        try:
            folder.mkdir()
        except OSError as error:
            reasons.append(f"{place}: {error.strerror}")
            continue
        if (folder / "cpu.stat").exists() and (
            (folder / "cpu.cfs_quota_us").exists() or (folder / "cpu.max").exists()
        ):
            return GroupFolder(version, folder)
        folder.rmdir()
        reasons.append(f"{place}: no CPU controller there")
    pytest.skip(f"no control group may be made here ({'; '.join(reasons)})")


@pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")
def test_a_busy_loop_under_half_a_cpu_is_throttled():
    """A real group limited to 50 % of a CPU: the probe finds it and sees it stopped."""
    group = made_group()
    loop = None
    try:
        if group.version == 1:
            (group.folder / "cpu.cfs_period_us").write_text("10000")
            (group.folder / "cpu.cfs_quota_us").write_text("5000")
        else:
            (group.folder / "cpu.max").write_text("5000 10000")
        loop = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        (group.folder / "cgroup.procs").write_text(str(loop.pid))
        groups = find_groups(loop.pid)
        assert groups.cpu == group and cpu_limit(group) == 0.5
        probe = CgroupProbe("cgroup/all", groups)
        found = {}

        def throttled():
            found.update({one.metric: one.value for one in probe.sample()})
            return found.get("cgroup_throttled_s")

        assert wait_until(throttled)
        assert 0 < found["cgroup_throttled_periods"] <= found["cgroup_periods"]
        assert found["cgroup_throttled_s"] > 0 and found["cgroup_cpu_limit"] == 0.5
    finally:
        if loop is not None:
            loop.kill()
            loop.wait()

        def removed():
            with contextlib.suppress(OSError):
                group.folder.rmdir()
            return not group.folder.exists()

        assert wait_until(removed)
