"""The JVMs of this machine, asked now: each collector's log beside what it counted itself."""

import itertools

import pytest
import witness

from sizebook.gclog import read_gc_log
from sizebook.stack.jvms import find_jvms

JVMS = find_jvms()
EVERY = [
    (jvm, name)
    for jvm, name in itertools.product(JVMS, ("parallel", "g1", "shenandoah"))
    if name != "shenandoah" or "Oracle" not in jvm.vendor
]


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
