"""Control groups of both versions: where they are, what is written, how they are read and removed.

Version 2 is held against folders of plain files; version 1 and the machine's own by the contract.
"""

import pytest

from sizebook.hosts import Guard
from sizebook.hosts.cgroups import ControlGroup
from sizebook.hosts.inside.groups import Hierarchy, find_hierarchies
from sizebook.model.errors import HostLacksError

MOUNTS = """\
24 18 0:21 / /sys/fs/cgroup ro,nosuid shared:9 - tmpfs tmpfs ro,mode=755
30 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:15 - cgroup cgroup rw,cpu,cpuacct
31 24 0:28 / /sys/fs/cgroup/cpuset rw,nosuid shared:16 - cgroup cgroup rw,cpuset
32 24 0:29 / /sys/fs/cgroup/net_cls rw,nosuid shared:17 - cgroup cgroup rw,net_cls
33 24 0:30 / {unified} rw,nosuid shared:18 - cgroup2 cgroup2 rw
"""


@pytest.fixture
def guard(tmp_path):
    guard = Guard(tmp_path / "guard")
    yield guard
    guard.close()


@pytest.fixture
def unified(tmp_path):
    """Return a folder that looks like the top of version 2."""
    top = tmp_path / "unified"
    top.mkdir()
    (top / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    (top / "cgroup.subtree_control").write_text("cpu memory cpuset\n")
    (top / "cpuset.cpus.effective").write_text("0-3\n")
    return top


def test_both_versions_side_by_side(unified):
    """A controller that version 1 has is used there, others in version 2's one hierarchy."""
    found = find_hierarchies(MOUNTS.format(unified=unified))
    assert {name: (one.version, one.top.name) for name, one in found.items()} == {
        "cpu": (1, "cpu,cpuacct"),
        "cpuacct": (1, "cpu,cpuacct"),
        "cpuset": (1, "cpuset"),
        "memory": (2, "unified"),
    }


def test_limits_of_version_2(unified, guard):
    hierarchy = Hierarchy(2, unified)
    names = ("cpu", "cpuacct", "cpuset", "memory")
    group = ControlGroup("sb-x", guard, dict.fromkeys(names, hierarchy))
    folder = unified / "sb-x"
    group.limit_cpu(0.5, 200, (1, 3))
    group.limit_memory(300)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "cpu.max": "50000 100000",
        "cpu.weight": "200",
        "cpuset.cpus": "1,3",
        "memory.max": str(300 * 2**20),
    }
    group.limit_cpu(None, None, ())
    assert (folder / "cpu.max").read_text() == "max 100000"
    assert (folder / "cpuset.cpus").read_text() == "0-3"
    assert group.command(["true"])[-3:] == [f"{folder}/cgroup.procs", "--", "true"]
    (folder / "cpu.stat").write_text(
        "usage_usec 3500000\nuser_usec 3000000\nsystem_usec 500000\n"
        "nr_periods 40\nnr_throttled 7\nthrottled_usec 250000\n"
    )
    (folder / "memory.stat").write_text("anon 1000\nfile 9000\nshmem 200\n")
    used = group.usage()
    assert (used.cpu_user_s, used.cpu_system_s, used.memory_bytes) == (3.0, 0.5, 1200)
    assert (used.periods, used.throttled_periods, used.throttled_s) == (40, 7, 0.25)


def test_without_a_controller_there_is_no_group(guard):
    with pytest.raises(HostLacksError, match="controller cpu is mounted"):
        ControlGroup("sb-x", guard, {})
