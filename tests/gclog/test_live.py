"""The JVMs of this machine, asked now: each collector's log beside what it counted itself."""

import itertools
import subprocess

import pytest
import witness

from sizebook.gclog import read_gc_log
from sizebook.stack.jvms import find_jvms

JVMS = find_jvms()
EVERY = [
    (jvm, name)
    for jvm, name in itertools.product(JVMS, ("serial", "parallel", "g1", "zgc", "shenandoah"))
    if name != "shenandoah" or "Oracle" not in jvm.vendor
]
DECORATIONS = ["uptimemillis,level,tags", "hostname,pid,uptime,level,tags", "utctime,level,tags",
               "time,uptime,uptimenanos,tid,tags", "none"]  # fmt: skip


@pytest.mark.parametrize(
    ("jvm", "collector"), EVERY, ids=[f"{jvm.feature}-{name}" for jvm, name in EVERY]
)
def test_a_log_made_now_tells_what_the_jvm_counted(jvm, collector, tmp_path):
    """Whatever the JVM's version prints: counts are equal and nothing in the log is strange."""
    found = witness.record(jvm.java, witness.FLAGS[collector], tmp_path, "40", "8")
    assert found.log.facts.version.startswith(jvm.version)
    assert found.log.strange_lines == 0
    assert not found.log.is_cut.begin
    assert witness.check(found, times=False) >= 1
    assert read_gc_log(tmp_path / "gc.log").collections.equals(found.log.collections)


@pytest.mark.parametrize("decorations", DECORATIONS)
@pytest.mark.parametrize("jvm", JVMS, ids=[str(jvm.feature) for jvm in JVMS])
def test_a_log_of_other_decorations_through_a_pipe_is_read(jvm, decorations, tmp_path):
    """The same messages go to a file and, among other output, to a pipe: their collections are the
    same."""
    path = tmp_path / "gc.log"
    command = [
        str(jvm.java), "-Xms48m", "-Xmx48m", "-XX:+UseG1GC", f"-Xlog:gc*:stdout:{decorations}",
        f"-Xlog:gc*:file={path}:{witness.DECORATIONS}:filecount=0", "-Xshare:auto",
        "-showversion", str(witness.PROGRAM), str(tmp_path / "said.json"), "40", "8",
    ]  # fmt: skip
    done = subprocess.run(command, check=True, cwd=tmp_path, timeout=120, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)  # fmt: skip
    piped, filed = read_gc_log(done.stdout), read_gc_log(path)
    same = ["id", "kind", "name", "cause", "before_bytes", "after_bytes", "total_bytes", "pauses",
            "pause_ns", "is_explicit"]  # fmt: skip
    assert piped.collections.height > 5
    assert piped.collections.select(same).equals(filed.collections.select(same))
    assert piped.facts == filed.facts
    assert len(piped.runs) == 1
    assert piped.strange_lines == 3, "what -showversion says"
    if decorations != "none":
        ends = piped.collections["end_s"] - piped.collections["end_s"][0]
        other = filed.collections["end_s"] - filed.collections["end_s"][0]
        # a message is decorated once for all outputs; here with milliseconds at least
        assert (ends - other).abs().median() <= 0.002
