"""The JVM's counters: made-up files, damaged files, and real JVMs."""

import os
import random
import struct
import subprocess

import pytest

from sizebook.probes.base import Unavailable
from sizebook.probes.hsperfdata import MAGIC, PerfDataError, read_layout
from sizebook.probes.jvm import JvmProbe, find_counters, find_perf_data, read_counters
from sizebook.probes.registry import find_counter
from sizebook.stack.jvms import find_jvms

COLLECTORS = ("-XX:+UseG1GC", "-XX:+UseSerialGC", "-XX:+UseParallelGC")
IDLE = """
public class Idle {
    public static void main(String[] arguments) throws Exception {
        byte[][] kept = new byte[50][];
        for (int i = 0; i < 3000; i++) kept[i % 50] = new byte[100_000];
        System.gc();
        System.out.println("ready");
        System.in.read();
    }
}
"""


def entry(order, name, value):
    """Return one entry of a made-up file: a number, or a text as bytes."""
    raw = name.encode() + b"\0"
    raw += b"\0" * (-(20 + len(raw)) % 8)
    if isinstance(value, bytes):
        kind, vector, unit, data = b"B", len(value), 5, value + b"\0" * (-len(value) % 8)
    else:
        kind, vector, unit, data = b"J", 0, 3, struct.pack(f"{order}q", value)
    at = 20 + len(raw)
    head = struct.pack(f"{order}iii", at + len(data), 20, vector) + kind
    return head + bytes([0, unit, 1]) + struct.pack(f"{order}i", at) + raw + data


def perf_file(values, order="<", **changes):
    entries = b"".join(entry(order, name, value) for name, value in values.items())
    head = {"order": 1 if order == "<" else 0, "major": 2, "ready": 1, "first": 32}
    head |= {"number": len(values)} | changes
    return (
        MAGIC
        + bytes([head["order"], head["major"], 0, head["ready"]])
        + struct.pack(f"{order}iiqii", 0, 0, 5, head["first"], head["number"])
        + entries
    )


VALUES = {
    "sun.os.hrt.frequency": 1_000_000_000,
    "sun.rt.safepoints": 7,
    "sun.rt.safepointTime": 1_500_000_000,
    "sun.gc.collector.0.name": b"G1 young collection pauses\0",
    "sun.gc.collector.0.invocations": 51,
    "sun.gc.collector.0.time": 217_729_783,
    "sun.gc.generation.1.space.0.name": b"space\0",
    "sun.gc.generation.1.space.0.used": 13_473_080,
    "sun.gc.generation.1.space.0.capacity": 41_943_048,
}


@pytest.mark.parametrize("order", ["<", ">"])
def test_made_up_file(order):
    """Numbers, ticks and texts come out in either byte order."""
    data = perf_file(VALUES, order)
    found = dict(read_counters(list(find_counters(read_layout(data), data)), data))
    assert (found["safepoints"], found["safepoint_s"]) == (7, 1.5)
    assert (found["gc_count/young"], found["gc_s/young"]) == (51, 0.217729783)
    assert found["space_used_bytes/old"] == 13_473_080
    assert found["jit_s"] is None


def test_layout_is_kept_until_it_changes():
    """New values fit the old layout; a new counter does not."""
    layout = read_layout(perf_file(VALUES))
    later = perf_file(VALUES | {"sun.rt.safepoints": 8})
    assert layout.fits(later) and layout.number(later, "sun.rt.safepoints") == 8
    assert not layout.fits(perf_file(VALUES | {"java.threads.live": 3}))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "0 bytes"),
        (b"\x7fELF" + bytes(60), "begins with"),
        (perf_file(VALUES, major=1), "version 1"),
        (perf_file(VALUES, ready=0), "still setting up"),
        (perf_file(VALUES, number=-1), "-1 entries"),
        (perf_file(VALUES, number=99), "an entry at"),
        (perf_file(VALUES, first=4), "an entry at 4"),
        (perf_file(VALUES)[:-4], "an entry of"),
    ],
)
def test_damaged_files_are_refused(data, why):
    """What is not a whole file of a known version is an error that says why."""
    with pytest.raises(PerfDataError, match=why):
        read_layout(data)


def test_no_garbage_breaks_the_reader():
    """Whatever bytes are flipped, the reader answers or raises its own error."""
    dice, good = random.Random(1), perf_file(VALUES)
    for _ in range(3000):
        data = bytearray(good[: dice.randint(32, len(good))])
        for _ in range(dice.randint(0, 6)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        try:
            layout = read_layout(bytes(data))
        except PerfDataError:
            continue
        counters = list(find_counters(layout, bytes(data)))
        assert isinstance(dict(read_counters(counters, bytes(data))), dict)


def test_no_jvm():
    """A process that is no JVM, and none at all, are missing with a reason."""
    with pytest.raises(Unavailable, match="no hsperfdata file"):
        find_perf_data(os.getpid())
    with pytest.raises(Unavailable, match="no process"):
        JvmProbe("jvm/app-1", lambda: None).sample()
    with pytest.raises(Unavailable, match="no process 99999999"):
        JvmProbe("jvm/app-1", lambda: 99_999_999).sample()


def test_collectors_of_other_names():
    """Each collector keeps a name of its own."""
    names = [b"Serial full collection pauses\0", b"ZGC minor collection pauses\0", b"\0"]
    data = perf_file({f"sun.gc.collector.{i}.name": name for i, name in enumerate(names)})
    found = dict(read_counters(list(find_counters(read_layout(data), data)), data))
    assert [m for m in found if m.startswith("gc_count/")] == [
        "gc_count/serial-full",
        "gc_count/zgc-minor",
        "gc_count/2",
    ]


@pytest.mark.parametrize("collector", COLLECTORS)
@pytest.mark.parametrize("jvm", find_jvms(), ids=lambda jvm: jvm.title)
def test_real_jvm(tmp_path, jvm, collector):
    """A real JVM's counters are read, plausible and registered."""
    source = tmp_path / "Idle.java"
    source.write_text(IDLE)
    probe = JvmProbe("jvm/app-1", lambda: process.pid)
    command = [
        str(jvm.java),
        collector,
        "-Xmx64m",
        "-XX:TieredStopAtLevel=1",
    ]
    with subprocess.Popen(
        [*command, str(source)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        found = {sample.metric: sample.value for sample in probe.sample()}
        process.communicate("\n")
    for metric in found:
        assert find_counter(metric).source == "jvm"
    assert sum(v for m, v in found.items() if m.startswith("gc_count/")) >= 2
    assert 0 < sum(v for m, v in found.items() if m.startswith("gc_s/")) < 30
    assert found["classes_loaded"] + found["classes_shared_loaded"] > 400
    assert 0 < found["jit_s"] < 60 and found["jit_compilations"] > 100
    assert 0 < found["safepoint_s"] < 30 and found["jvm_threads_live"] >= 2
    assert found["space_capacity_bytes/old"] > 2**20
    with pytest.raises(Unavailable):
        probe.sample()
