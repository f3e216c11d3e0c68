"""Counters of the machine and of processes: parsed from made-up and read from real /proc."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sizebook.probes.base import Unavailable
from sizebook.probes.host import HostProbe, parse_disks, parse_pressure
from sizebook.probes.process import ProcessDetailProbe, ProcessProbe, read_stat
from sizebook.probes.registry import find_counter

TICK = 1 / os.sysconf("SC_CLK_TCK")
linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")


def by_metric(probe):
    return {sample.metric: sample.value for sample in probe.sample()}


def test_pressure_lines():
    """Totals of pressure stall information are seconds; other text is unavailable."""
    text = "some avg10=0.29 avg60=0.46 avg300=0.65 total=9155980\nfull avg10=0.00 total=12\n"
    assert dict(parse_pressure("io", text)) == {
        "pressure_some_s/io": 9.15598,
        "pressure_full_s/io": 1.2e-5,
    }
    with pytest.raises(Unavailable):
        list(parse_pressure("io", "most avg10=0 total=x"))


DISKS = """\
   7       0 loop0 5 0 8 2 0 0 0 0 0 0 0 0 0 0 0 0 0
 254 0 vda 917126 60770 33849685 896919 360999 390829 52489680 126986 3 77260 0 1 2 3 4 119266 4116
   8       1 sdb 10 0 16 7 20 0 32 9 1 11 16
"""


def test_cpus_keep_the_kernels_numbers(tmp_path):
    """With CPUs offline the numbers have holes; guests without steal, and what is not a CPU."""
    (tmp_path / "stat").write_text(
        "cpu  9 9 9 9 9 9 9 9\ncpu0 100 20 30 400 5 6 7 8 0 0\ncpu6 1 0 1 10 0 0 0\n"
        "intr 77 1 2\nctxt 55\nsoftirq 3\n"
    )
    found = by_metric(HostProbe(proc=tmp_path))
    cores = {name: value for name, value in found.items() if name.startswith("core_")}
    assert {name.partition("/")[2] for name in cores} == {"0", "6"}
    assert cores["core_idle_s/6"] == pytest.approx(10 * TICK)
    told = [cores[f"core_{kind}_s/0"] for kind in ("user", "system", "iowait", "irq", "steal")]
    assert told == pytest.approx([n * TICK for n in (120, 30, 5, 13, 8)])
    assert "core_steal_s/6" not in cores
    assert (found["interrupts"], found["context_switches"]) == (77, 55)
    (tmp_path / "stat").write_text("cpu0 1 2 3\n")
    with pytest.raises(Unavailable, match="CPU line"):
        HostProbe(proc=tmp_path).sample()


@linux
def test_disks_are_found_with_fourteen_numbers(tmp_path, monkeypatch):
    """lxcfs gives so many, of which psutil makes nothing; the probe does not ask it."""
    monkeypatch.setattr("sizebook.probes.host._is_disk", lambda name: name == "xda")
    monkeypatch.setattr("psutil.disk_io_counters", None)
    (tmp_path / "diskstats").write_text(
        " 8 0 xda 10 0 16 7 20 0 32 9 1 11 16 0 0 0\n 8 1 xda1 1 0 1 7 2 0 3 9 1 1 1 0 0 0\n"
    )
    probe = HostProbe(proc=tmp_path)
    probe.attach()
    found = by_metric(probe)
    assert (found["disk_reads/xda"], found["disk_queue/xda"]) == (10, 1)
    assert not [name for name in found if name.endswith("xda1")]


def test_disk_lines():
    """Sectors become bytes, ms seconds; flushes are there where the kernel counts them."""
    found = dict(parse_disks(DISKS, {"vda", "sdb"}))
    assert found["disk_read_bytes/vda"] == 33849685 * 512
    assert (found["disk_busy_s/vda"], found["disk_wait_s/vda"]) == (77.26, 1023.905)
    assert (found["disk_queue/vda"], found["disk_flushes/vda"]) == (3, 119266)
    assert (found["disk_queue/sdb"], found["disk_writes/sdb"]) == (1, 20)
    assert "disk_flush_s/sdb" not in found and not [m for m in found if "loop0" in m]
    assert {find_counter(metric).source for metric in found} == {"host"}
    with pytest.raises(Unavailable, match="disk line"):
        list(parse_disks("8 0 sda 1 2\n", {"sda"}))


def test_lost_segments_and_connections(tmp_path):
    """TCP counters are found by their column; a kernel without one is said to lack it."""
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "snmp").write_text(
        "Ip: Forwarding\nIp: 1\nTcp: InSegs RetransSegs OutRsts\nTcp: 900 17 3\n"
    )
    (tmp_path / "net" / "netstat").write_text("TcpExt: ListenDrops\nTcpExt: 4\n")
    probe = HostProbe(proc=tmp_path)
    found = by_metric(probe)
    assert found["tcp_retransmits"] == 17 and "tcp_listen_overflows" not in found
    assert probe.lacking()["tcp_listen_overflows"] == "/proc/net/netstat has no ListenOverflows"


@linux
def test_host_counters_are_registered_and_grow():
    """Every metric of the machine is documented, and counters do not fall."""
    probe = HostProbe()
    probe.attach()
    first, second = by_metric(probe), by_metric(probe)
    for metric, value in first.items():
        info = find_counter(metric)
        assert info.source == "host"
        if info.kind == "counter":
            assert second[metric] >= value >= 0
    assert {"core_user_s/0", "context_switches", "memory_available_bytes"} <= first.keys()
    assert {"network_sent_bytes/loopback", "load_1min", "swap_in_bytes"} <= first.keys()


def test_what_a_kernel_lacks_is_left_out(tmp_path):
    """Without /proc files their metrics are absent, not zero."""
    probe = HostProbe(proc=tmp_path)
    probe.attach()
    found = by_metric(probe)
    gone = ("pressure", "major_faults", "load", "swap", "memory", "tcp")
    assert not [metric for metric in found if metric.startswith(gone)]
    reasons = probe.lacking()
    assert reasons["major_faults"] == "/proc/vmstat: No such file or directory"
    assert {"load_1min", "swap_in_bytes", "memory_available_bytes", "pressure_some_s/io"} <= set(
        reasons
    )


def stat_file(folder, pid, *, utime, cutime=0, name="x", parent=1):
    place = folder / str(pid)
    (place / "task" / str(pid)).mkdir(parents=True, exist_ok=True)
    (place / "fd").mkdir(exist_ok=True)
    fields = ["S", parent, 0, 0, 0, 0, 0, 0, 0, 3, 4, utime, 0, cutime, 0, 20, 0, 1, 0, 99, 0, 10]
    (place / "stat").write_text(f"{pid} ({name}) {' '.join(map(str, fields))} 0 0\n")
    (place / "io").write_text("rchar: 9\nwchar: 9\nread_bytes: 100\nwrite_bytes: 50\n")
    return place


def test_names_with_parentheses(tmp_path):
    """A program's name may hold blanks and parentheses."""
    place = stat_file(tmp_path, 7, utime=500, cutime=30, name="a) (b c) S 1")
    stat = read_stat(place)
    assert (stat.user_s, stat.reaped_user_s) == pytest.approx((500 * TICK, 30 * TICK))
    assert (stat.start_ticks, stat.threads, stat.major_faults) == (99, 1, 3)


def test_children_that_come_and_go(tmp_path):
    """CPU of a family never falls and counts an ended child once: here in made-up /proc files."""
    root = stat_file(tmp_path, 10, utime=100)
    child = stat_file(tmp_path, 11, utime=50, parent=10)
    (root / "task" / "10" / "children").write_text("11 ")
    (child / "task" / "11" / "children").write_text("")
    probe = ProcessProbe("process/db-1", lambda: 10, family=True, proc=tmp_path)
    both = by_metric(probe)
    assert both["cpu_user_s"] == pytest.approx(150 * TICK)
    assert (both["processes"], both["threads"]) == (2, 2)
    # The child has ended, its parent has not yet waited for it: the sum stands still.
    (root / "task" / "10" / "children").write_text("")
    assert by_metric(probe)["cpu_user_s"] == pytest.approx(150 * TICK)
    # Waited for: its 55 ticks have gone to the parent's account.
    stat_file(tmp_path, 10, utime=100, cutime=55)
    assert by_metric(probe)["cpu_user_s"] == pytest.approx(155 * TICK)
    # Another process under the same id begins anew.
    text = (root / "stat").read_text().replace(" 99 ", " 777 ").replace(" 55 ", " 0 ")
    (root / "stat").write_text(text)
    assert by_metric(probe)["cpu_user_s"] == pytest.approx(100 * TICK)


def test_generations(tmp_path):
    """A family may be followed to its children only; without a family there is one process."""
    for pid, child in ((10, "11 "), (11, "12 "), (12, "")):
        place = stat_file(tmp_path, pid, utime=pid)
        (place / "task" / str(pid) / "children").write_text(child)

    def processes(**options):
        probe = ProcessProbe("process/db-1", lambda: 10, proc=tmp_path, **options)
        return by_metric(probe)["processes"]

    assert processes(family=True) == 3
    assert processes(family=True, generations=1) == 2
    assert processes(generations=5) == 1


def test_gone_and_unlisted_processes(tmp_path):
    """No process, an ended one, a kernel without lists of children: missing with a reason."""
    for pid, family, why in [(None, False, "no process"), (77, False, "has ended")]:
        with pytest.raises(Unavailable, match=why):
            by_metric(ProcessProbe("p", lambda pid=pid: pid, family=family, proc=tmp_path))
    stat_file(tmp_path, 10, utime=100)
    with pytest.raises(Unavailable, match="no list of children"):
        by_metric(ProcessProbe("p", lambda: 10, family=True, proc=tmp_path))


BURN = "import time\nwhile time.process_time() < {}: pass\n"
PARENT = f"""
import subprocess, sys
subprocess.run([sys.executable, "-c", {BURN.format(0.3)!r}])
print("reaped", flush=True)
sys.stdin.readline()
"""


@linux
def test_a_real_ended_child_is_counted():
    """A child that burnt 0.3 s of CPU and is gone stays in its family's sum."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout.readline() == "reaped\n"
        found = by_metric(ProcessProbe("process/p-1", lambda: parent.pid, family=True))
        parent.communicate("\n")
    assert found["cpu_user_s"] + found["cpu_system_s"] >= 0.29
    assert found["processes"] == 1
    for metric in found:
        assert find_counter(metric).source == "process"


def test_details_of_a_family(tmp_path):
    """Bytes and handles are summed over a family; a member without its files makes them missing."""
    root = stat_file(tmp_path, 10, utime=100)
    child = stat_file(tmp_path, 11, utime=50, parent=10)
    (root / "task" / "10" / "children").write_text("11 ")
    (child / "task" / "11" / "children").write_text("")
    (child / "fd" / "0").touch()
    probe = ProcessDetailProbe("process/db-1", lambda: 10, family=True, proc=tmp_path)
    found = by_metric(probe)
    assert (found["io_read_bytes"], found["io_written_bytes"], found["handles"]) == (200, 100, 1)
    (child / "io").unlink()
    assert set(by_metric(probe).values()) == {None}


@linux
def test_context_switches_of_all_threads():
    """Switches are summed over threads; they, bytes and handles are registered."""
    found = by_metric(ProcessDetailProbe("process/p-1", os.getpid))
    assert found["switches_voluntary"] > 0 and found["handles"] >= 3
    assert {find_counter(metric).source for metric in found} == {"process"}
