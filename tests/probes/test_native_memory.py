"""The JVM's account of its native memory: recorded answers, and real JVMs that are asked."""

import subprocess
from pathlib import Path

import pytest

from sizebook.probes.attach import ask_jvm, wake_listener
from sizebook.probes.base import Unavailable
from sizebook.probes.native_memory import (
    LABELS,
    METRIC,
    TRACKING,
    NativeMemoryProbe,
    is_tracked,
    parse_summary,
)
from sizebook.probes.registry import find_counter
from sizebook.stack.jvms import find_jvms

DATA = Path(__file__).parent / "data"
HEAP_MIB = 32
WAITING = """
public class Waiting {
    public static void main(String[] arguments) throws Exception {
        System.out.println("ready");
        System.in.read();
    }
}
"""


@pytest.mark.parametrize(
    ("release", "gc_kb", "archive_kb", "total_kb"),
    [(17, 42188, 12060, 196191), (25, 39617 + 1, 13908, 196674)],
)
def test_recorded_answers(release, gc_kb, archive_kb, total_kb):
    """Java 17 and 25 name their parts a little differently; both add up to the JVM's total."""
    uses = parse_summary((DATA / f"native-memory-{release}.txt").read_text())
    assert tuple(uses) == LABELS
    assert (uses["heap"], uses["gc"], uses["archive"]) == (
        131072 * 1024,
        gc_kb * 1024,
        archive_kb * 1024,
    )
    assert uses["thread"] > 0 and uses["code"] > 0 and uses["other"] > 0
    assert sum(uses.values()) == total_kb * 1024


@pytest.mark.parametrize("text", ["", "Native memory tracking is not enabled", "Total: 3 GB"])
def test_other_answers_are_refused(text):
    """What is no account of native memory is an error that says what it is."""
    with pytest.raises(ValueError, match=r"Native|Total|empty"):
        parse_summary(text)


def test_flags():
    """The last flag of a command line counts, as it does for the JVM."""
    assert is_tracked(("java", TRACKING, "-jar", "a.jar"))
    assert not is_tracked(("java", "-jar", "a.jar"))
    assert not is_tracked(("java", TRACKING, "-XX:NativeMemoryTracking=off"))


@pytest.fixture(scope="module", params=find_jvms(), ids=lambda jvm: jvm.feature)
def waiting(request, tmp_path_factory):
    """Return what starts a JVM with some flags; it is ready when it is returned."""
    source = tmp_path_factory.mktemp("java") / "Waiting.java"
    source.write_text(WAITING)
    compiler = request.param.home / "bin" / "javac"
    if not compiler.exists():
        pytest.skip("no compiler beside this JVM")
    subprocess.run([compiler, source.name], cwd=source.parent, check=True, timeout=60)
    started = []

    def start(*flags):
        sizes = (f"-Xms{HEAP_MIB}m", f"-Xmx{HEAP_MIB}m")
        command = [request.param.java, *sizes, *flags, "-cp", source.parent, "Waiting"]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait(timeout=10)
        for pipe in (process.stdin, process.stdout):
            pipe.close()


def test_real_jvm(waiting):
    """A JVM that tracks tells its heap exactly, as often as it is asked, and prints nothing."""
    process = waiting(TRACKING)
    probe = NativeMemoryProbe("jvm/app-1", lambda: process.pid)
    probe.attach()
    for _ in range(2):
        samples = probe.sample()
        assert {find_counter(one.metric).name for one in samples} == {METRIC}
        found = {one.metric.partition("/")[2]: one.value for one in samples}
        assert tuple(found) == LABELS
        assert found["heap"] == HEAP_MIB * 2**20
        assert found["thread"] > 0
    assert not list(Path("/tmp").glob(f".attach_pid{process.pid}"))
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.wait(timeout=10) == 0
    assert process.stdout.read() == ""


def test_jvm_without_tracking(waiting):
    """A JVM that keeps no account says so, and the reading is missing with that reason."""
    process = waiting()
    with pytest.raises(Unavailable, match="not enabled"):
        NativeMemoryProbe("jvm/app-1", lambda: process.pid).sample()
    with pytest.raises(Unavailable, match="answers"):
        ask_jvm(process.pid, "VM.nonsense")


def test_what_is_no_jvm_lives_on():
    """A process that would be ended by the signal is not sent it; one that is gone is missing."""
    process = subprocess.Popen(["sleep", "30"])
    try:
        with pytest.raises(Unavailable, match="no JVM"):
            wake_listener(process.pid)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait(timeout=10)
    with pytest.raises(Unavailable, match="no process"):
        wake_listener(process.pid)
    with pytest.raises(Unavailable, match="no process"):
        NativeMemoryProbe("jvm/app-1", lambda: None).sample()
