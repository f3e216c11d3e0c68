"""Whatever happens to a log on its way: no collection is made up."""

from __future__ import annotations

import gzip
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sizebook.gclog import GcLogError, read_gc_log

DATA = Path(__file__).parent / "data"
LOGS = [
    gzip.decompress((DATA / f"{name}.log.gz").read_bytes()).splitlines(keepends=True)[:400]
    for name in ("g1-17", "parallel-25", "serial-17", "zgc-17")
]
COLUMNS = ("id", "kind", "cause", "before_bytes", "after_bytes")
FEW = settings(max_examples=25)
"""A log takes some 30 ms to read."""


def collections_of(lines):
    """Return the collections of a log; none where it is refused."""
    try:
        log = read_gc_log(b"".join(lines))
    except GcLogError:
        return []
    return log.collections.select(COLUMNS).rows()


ALL = [collections_of(lines) for lines in LOGS]


@FEW
@given(st.sampled_from(range(len(LOGS))), st.integers(0, 400), st.integers(0, 400))
def test_a_part_of_a_log_has_no_other_collections(which, begin, length):
    """Cut at any line: what is not whole is left out, or null."""
    found = collections_of(LOGS[which][begin : begin + length])
    assert len(found) <= len(ALL[which])
    causes = {number: cause for number, _, cause, *_ in ALL[which]}
    for number, _, cause, *_ in found:
        assert number in causes
        assert cause in (None, causes[number])


@FEW
@given(
    st.sampled_from(range(len(LOGS))),
    st.text("abcXYZ0189 |:=_-", max_size=20),
    st.sampled_from(["", " ", " | ", ": "]),
)
def test_words_before_each_line_change_nothing(which, words, between):
    """As a container's or a log collector's."""
    prefix = (words.strip() + between).encode() if words.strip() else b""
    found = collections_of([prefix + line for line in LOGS[which]])
    assert found in ([], ALL[which])


@FEW
@given(st.lists(st.sampled_from(range(len(LOGS))), min_size=2, max_size=3))
def test_logs_glued_together_have_the_collections_of_all(order):
    """One after the other, each from the start of a JVM."""
    found = collections_of([line for which in order for line in LOGS[which]])
    assert len(found) == sum(len(ALL[which]) for which in order)


def test_the_logs_have_collections():
    """Else the laws would say nothing."""
    assert min(map(len, ALL)) > 3
