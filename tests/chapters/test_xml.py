"""Documents to transform, and what is told of them."""

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.xml import documents, results
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)


@pytest.fixture
def sent():
    return documents.Documents(HERE, get_profile("quick", 0), 1, 4, 1000000, 0)


def test_one_node_is_warmed_in_its_own_way(sent):
    """And measured in it."""
    setup = sent.setup({"way": "actions"})
    assert setup.load == setup.conditioning
    assert setup.load.settings == {"way": "actions", "bytes": 1000000}
    assert (setup.load.phases.warmup_s, setup.load.phases.measured_s) == (1.8, 9.0)


def test_several_nodes_are_warmed_in_all_ways(sent):
    """Ways take turns within one start."""
    setup = sent.setup(documents.at("xslt-jdk", 4))
    assert setup.conditioning.settings["way"] == "all"
    assert setup.load.settings["way"] == "xslt-jdk"


def test_the_quick_profile_has_the_largest_layout_alone(sent):
    """A full one has all of several nodes."""
    full = documents.Documents(HERE, get_profile("full", 0), 1, 4, 1000000, 0)
    assert (sent.several([1, 2, 4]), full.several([1, 2, 4])) == ((4,), (2, 4))
    assert sent.several([1]) == ()


def test_stylesheet_beside_actions():
    """With both engines at one node, the JDK's elsewhere."""
    left = [pair[0] for pair in documents.pairs_of((4,))]
    assert left == [documents.at("xslt-jdk"), documents.at("xslt"), documents.at("xslt-jdk", 4)]


def test_what_the_report_says():
    """Four claims, none with a number."""
    found = results.stated()
    assert found["claim_id"].to_list() == [f"mii-xml-{n}" for n in range(1, 5)]
    assert {one.name for one in results.CLAIMS} <= set(found.columns)


def test_frames_of_trials(make_bundle):
    """A design without the factor has one node."""
    trials = made.make_trials(make_bundle, "alone", {"xslt": {}})
    measured = results.documents_frame({"alone": trials})
    assert measured["nodes"].to_list() == [1] and "cpu_ms" in measured.columns
    per = results.per_document(measured.rename({"level": "way"}))
    assert {one.name for one in results.PER_DOCUMENT} == set(per.columns)
    memory = results.memory_means(results.memory_frame(trials).rename({"level": "way"}))
    assert {one.name for one in results.MEMORY} == set(memory.columns)


def test_cpu_time_is_told_apart():
    """What the way itself takes is part of the node's; never less than nothing is left."""
    rows = [("xslt", 1, 5.0, 8.0, 1.0), ("actions", 1, 9.0, 8.0, 1.0), ("xslt", 4, 1.0, 1.0, 1.0)]
    names = ["way", "nodes", "transform_ms", "app_ms", "database_ms"]
    found = results.cpu_parts(pl.DataFrame(rows, schema=names, orient="row"))
    rest = found.filter(pl.col("part") == "rest of the node")
    assert dict(rest.select("way", "cpu_ms").iter_rows()) == {"xslt": 3.0, "actions": 0.0}


def test_means_of_a_way_over_all_layouts():
    """Under the names that a sentence has for them."""
    rows = {"way": ["xslt"] * 2, "nodes": [1, 4], "replicate": [0, 0], "kb": [1.0, 3.0]}
    frame = pl.DataFrame(rows).with_columns(verdict=pl.lit("valid"))
    assert results.mean_by_way(frame, "kb", {"saxon": "xslt"}) == {"saxon": 2.0}
