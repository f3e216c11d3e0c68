"""Limits of the control groups that the harness itself is in: both versions, any level."""

from pathlib import Path

import pytest

from sizebook.hosts import allowed
from sizebook.hosts.allowed import GroupLimits, find_allowed, free_memory_mib, usable_memory_mib
from sizebook.hosts.inside import senses
from sizebook.hosts.inside.senses import memory_limits
from sizebook.model.deployment import Deployment, JvmRole
from sizebook.model.errors import HostLacksError
from sizebook.stack import readiness
from sizebook.stack.readiness import check_memory

MIB = 2**20
NONE = str(2**63 - 4096)


def machine(folder: Path, memberships: str, mounts: dict[str, str], files: dict[str, str]) -> Path:
    """Write groups and a /proc whose process 7 is in them; return that."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    proc = folder / "proc"
    (proc / "7").mkdir(parents=True)
    (proc / "self").mkdir()
    (proc / "7" / "cgroup").write_text(memberships)
    lines = [
        f"{n} 24 0:{n} / {folder}/{place} rw shared:9 - {kind}"
        for n, (place, kind) in enumerate(mounts.items(), start=30)
    ]
    (proc / "self" / "mountinfo").write_text("\n".join(lines) + "\n")
    return proc


V1 = {
    "mem": "cgroup cgroup rw,memory",
    "cpu": "cgroup cgroup rw,cpu,cpuacct",
}
V2 = {"fs": "cgroup2 cgroup2 rw"}


def as_the_agent_sees_it(proc: Path) -> int | None:
    """Return the least limit that the agent on another machine would tell."""
    found = memory_limits(str(proc / "7" / "cgroup"), str(proc / "self" / "mountinfo"))
    return min((one for one in found if one < int(NONE)), default=None)


def test_a_container_has_its_own_group_at_the_top(tmp_path):
    """Its path in /proc is the machine's, the mount begins at its group; one outside is not it."""
    files = {"fs/memory.max": str(300 * MIB), "fs/in/memory.max": str(200 * MIB)}
    proc = machine(tmp_path, "0::/pod/one/in\n", V2, files)
    mounts = proc / "self" / "mountinfo"
    mounts.write_text(mounts.read_text().replace(" / ", " /pod/one ", 1))
    assert as_the_agent_sees_it(proc) == find_allowed(7, proc).memory_bytes == 200 * MIB
    for path in ("/../../other", "/pod/one", "/gone"):
        (proc / "7" / "cgroup").write_text(f"0::{path}\n")
        assert as_the_agent_sees_it(proc) == 300 * MIB


def test_the_agent_tells_the_limit_of_its_own_group(tmp_path, monkeypatch):
    """Not that of the machine's topmost group, which has none."""
    files = {"fs/a/memory.max": str(96 * MIB), "fs/a/b/memory.max": "max"}
    proc = machine(tmp_path, "0::/a/b\n", V2, files)
    monkeypatch.setattr(
        senses.memory_limits,
        "__defaults__",
        (str(proc / "7" / "cgroup"), str(proc / "self" / "mountinfo")),
    )
    assert senses.facts()["memory_bytes"] == 96 * MIB


def test_version_1_the_tightest_level_counts(tmp_path):
    """A quota above, a memory limit above that; what is cached can be given back."""
    files = {
        "mem/release_agent": "",
        "mem/a/memory.limit_in_bytes": str(1024 * MIB),
        "mem/a/memory.usage_in_bytes": str(900 * MIB),
        "mem/a/memory.stat": f"total_inactive_file {100 * MIB}\ntotal_active_file {24 * MIB}",
        "mem/a/b/memory.limit_in_bytes": NONE,
        "mem/a/b/memory.usage_in_bytes": str(10 * MIB),
        "cpu/release_agent": "",
        "cpu/a/cpu.cfs_quota_us": "150000",
        "cpu/a/cpu.cfs_period_us": "100000",
        "cpu/a/b/cpu.cfs_quota_us": "-1",
        "cpu/a/b/cpu.cfs_period_us": "100000",
    }
    proc = machine(tmp_path, "4:memory:/a/b\n1:cpu,cpuacct:/a/b\n", V1, files)
    assert find_allowed(7, proc) == GroupLimits(1.5, 1024 * MIB, 248 * MIB)
    assert as_the_agent_sees_it(proc) == 1024 * MIB


def test_version_1_tells_of_limits_that_are_not_visible(tmp_path):
    """A container sees its own group only, and what the levels above allow."""
    files = {
        "mem/memory.limit_in_bytes": NONE,
        "mem/memory.usage_in_bytes": str(64 * MIB),
        "mem/memory.stat": f"hierarchical_memory_limit {512 * MIB}",
    }
    proc = machine(tmp_path, "4:memory:/\n", {"mem": V1["mem"]}, files)
    assert find_allowed(7, proc) == GroupLimits(None, 512 * MIB, 448 * MIB)
    assert as_the_agent_sees_it(proc) == 512 * MIB


def test_version_2_slowing_is_a_limit_too(tmp_path):
    """The least of memory.max and memory.high at any level, and of cpu.max."""
    files = {
        "fs/cgroup.controllers": "cpu memory",
        "fs/a/cgroup.controllers": "cpu memory",
        "fs/a/cgroup.type": "domain",
        "fs/a/memory.max": str(4096 * MIB),
        "fs/a/memory.high": str(2048 * MIB),
        "fs/a/memory.current": str(2000 * MIB),
        "fs/a/memory.stat": f"inactive_file {50 * MIB}",
        "fs/a/cpu.max": "250000 100000",
        "fs/a/b/cgroup.controllers": "cpu memory",
        "fs/a/b/memory.max": "max",
        "fs/a/b/memory.high": "max",
        "fs/a/b/memory.current": str(MIB),
        "fs/a/b/cpu.max": "max 100000",
    }
    proc = machine(tmp_path, "0::/a/b\n", V2, files)
    assert find_allowed(7, proc) == GroupLimits(2.5, 2048 * MIB, 98 * MIB)
    assert as_the_agent_sees_it(proc) == 2048 * MIB


def test_hybrid_and_none(tmp_path):
    """CPU by one version and memory by the other; the machine's topmost group; no /proc."""
    files = {
        "fs/cgroup.controllers": "cpu",
        "fs/a/cgroup.controllers": "cpu",
        "fs/a/cgroup.type": "domain",
        "fs/a/cpu.max": "50000 100000",
        "mem/release_agent": "",
        "mem/a/memory.limit_in_bytes": str(256 * MIB),
        "mem/a/memory.usage_in_bytes": str(300 * MIB),
    }
    proc = machine(tmp_path, "4:memory:/a\n0::/a\n", V2 | {"mem": V1["mem"]}, files)
    assert find_allowed(7, proc) == GroupLimits(0.5, 256 * MIB, 0)
    assert as_the_agent_sees_it(proc) == 256 * MIB
    (proc / "7" / "cgroup").write_text("4:memory:/\n0::/\n")
    assert find_allowed(7, proc) == GroupLimits()
    assert as_the_agent_sees_it(proc) is None
    assert find_allowed(7, tmp_path / "nowhere") == GroupLimits()


def test_a_limit_is_the_end_of_the_memory(monkeypatch):
    """4 GiB of heap are refused in a group of 1 GiB; what is larger than the machine is none."""
    monkeypatch.setattr(allowed, "find_allowed", lambda: GroupLimits(None, 1024 * MIB, 900 * MIB))
    assert usable_memory_mib() == 1024 and free_memory_mib() <= 900
    monkeypatch.setattr(readiness, "find_allowed", allowed.find_allowed)
    with pytest.raises(HostLacksError, match="free memory; a control group allows 1024 MiB in all"):
        check_memory(Deployment(roles=(JvmRole(role="app", heap_mib=4096),)))
    monkeypatch.setattr(allowed, "find_allowed", lambda: GroupLimits(None, 2**59, 2**59))
    assert usable_memory_mib() < 2**29 and free_memory_mib() <= usable_memory_mib()
