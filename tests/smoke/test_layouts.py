"""Chapter 8 in its shortest form: what it measures itself, and what it borrows."""

from __future__ import annotations

import pytest

from sizebook.book.chapters import get_chapter
from sizebook.book.records import read_records
from sizebook.hosts.paging import why_not_page
from sizebook.probes.native_memory import LABELS
from sizebook.report import measures
from sizebook.report.counter_increase import rises
from sizebook.stack.jvms import find_jvms
from sizebook.store import find_bundles, open_bundle


def bundles(project, experiment):
    """Return the measured bundles of one design of the chapter."""
    opened = [open_bundle(path) for path in find_bundles(project.runs("layouts"))]
    found = [
        one
        for one in opened
        if one.record.trial.experiment == experiment and one.record.trial.purpose == "measured"
    ]
    assert found, f"no trial of {experiment}"
    return found


def test_nodes_tell_their_native_memory(project):
    """Every node says what it has committed; the heaps of a layout add up to the same total."""
    found = bundles(project, "layouts")
    assert {bundle.record.trial.treatment["nodes"] for bundle in found} == {1, 2}
    for bundle in found:
        role = bundle.record.trial.deployment.find("app")
        uses = {use: measures.at_end("jvm/app-", f"native_bytes/{use}")(bundle) for use in LABELS}
        assert uses["heap"] == role.total_heap_mib * 2**20
        assert all(value > 0 for value in uses.values()), uses
    [plain] = bundles(project, "untracked")
    assert measures.at_end("jvm/app-", "native_bytes")(plain) is None


@pytest.mark.skipif(bool(why_not_page()), reason=why_not_page())
def test_a_node_is_really_paged(project):
    """Pages are read from the disk again where they were taken away, and nowhere else."""
    faults = {
        bundle.record.trial.treatment["state"]: rises(
            bundle, "process_major_faults", "process/app-"
        )["rise"].sum()
        for bundle in bundles(project, "paging")
    }
    assert faults["paging"] > 20 * max(1, faults["no-paging"]), faults


def test_other_chapters_stand_beside_it(project):
    """The trials of chapters 2 to 6 are its evidence, with their checksums; none is missing."""
    page = project.page("layouts")
    records = read_records(page)
    known = {
        (bundle.id, bundle.sha256): bundle.record.trial.chapter
        for path in find_bundles(project.root / "data" / "runs")
        for bundle in [open_bundle(path)]
    }
    cited = records["workloads-table"].evidence["sources"]
    chapters = {known[one["bundle"], one["sha256"]] for one in cited}
    assert chapters == {"layouts", *get_chapter(project.root, "layouts").borrows}
    text = records["workloads-table"].text("text/html")
    generations = [jvm.feature for jvm in find_jvms()]
    assert ("(not run)" in text) == (len(generations) < 2)
