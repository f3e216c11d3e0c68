"""What tables and charts show of each report: every row has a name for people."""

import polars as pl
import pytest

from sizebook.chapters.reported import views, wording
from sizebook.chapters.reported.printed import PrintedReport


@pytest.fixture
def mii():
    return PrintedReport("mii-2009")


@pytest.fixture
def itanium():
    return PrintedReport("itanium-2010")


@pytest.fixture
def oneworld():
    return PrintedReport("oneworld-2003")


def test_how_much_each_report_gave(mii, itanium):
    """One row a report, in the order given."""
    found = views.counts([itanium, mii])
    assert found["id"].to_list() == ["itanium-2010", "mii-2009"]
    assert found.columns == [one.name for one in wording.COUNTS]


def test_messages_by_connector_and_layout(mii):
    """Of both platforms, the older first."""
    found = views.messages(mii)
    assert found["platform"].unique(maintain_order=True).to_list() == ["MII 12.0", "MII 12.1"]
    assert set(found["layout"]) == set(wording.LAYOUTS.values())
    assert len(views.message_charts(found).to_dict()["concat"]) == 2


def test_counters_have_spans(mii):
    """A mark between the least and the greatest reading."""
    found = views.users(mii)
    assert "CPU (%)" in found["meter"].to_list()
    assert views.span_chart(found, "cpu_percent", "CPU (%)").to_dict()["layer"]


def test_times_and_sizes_of_the_gateway():
    """Services say their workers and whether failures count; sizes are in kilobytes, too."""
    gateway = PrintedReport("gateway-2012")
    times = views.run_times(gateway)
    assert "Jersey" in times["service"].to_list() and times["clients"].null_count() == 0
    sizes = views.answer_sizes(gateway).filter(request="detail")
    assert (sizes["kilobytes"] * 1e3).to_list() == pytest.approx(sizes["value"].to_list())


def test_modes_stand_in_one_order(itanium):
    """Bare metal first, whatever the scenario."""
    for frame in (views.copies(itanium), views.stages(itanium), views.steps(itanium)):
        assert frame["mode"][0] == "bare metal"
    assert views.jobs(itanium)["job"].null_count() == 0
    assert len(views.steps_charts(views.steps(itanium)).to_dict()["concat"]) == 2


def test_the_smaller_system_stands_last(itanium):
    """Among those of its mode; its variants have a panel each."""
    found = views.tips(itanium)
    pvm = found.filter(pl.col("platform") == "xen-pvm")["system"].unique(maintain_order=True)
    assert pvm.to_list() == ["Xen PVM", "Xen PVM (BIS)"]
    assert len(views.tips_charts(found).to_dict()["concat"]) == 2


def test_bindings_and_warming_up():
    """The fastest binding first; two quantities over the calls."""
    wps = PrintedReport("wps-2011")
    found = views.bindings(wps)
    assert found["value"].is_sorted() and set(found["binding"]) == set(wording.BINDINGS.values())
    assert len(views.warm_up_charts(views.warm_up(wps)).to_dict()["concat"]) == 2


def test_a_pause_is_told_apart():
    """What is neither marking, sweeping nor compacting is the rest."""
    metrics = {"gc_completed_ms": 10.0, "mark_ms": 3.0, "sweep_ms": 2.0, "compact_ms": 1.0,
               "tenured_used_after_bytes": 5e6}  # fmt: skip
    log = pl.DataFrame({"row": [1] * 5, "metric": list(metrics), "value": list(metrics.values())})
    found = views.collections(log)
    assert (found["rest"][0], found["used"][0]) == (4.0, 5.0)
    assert dict(views.pauses(found).select("work", "value").iter_rows())["copy and other"] == 4.0


def test_configurations_by_date(oneworld):
    """With their names; each tier and each pool as well."""
    found = views.runs(oneworld)
    assert found["name"].unique(maintain_order=True).len() == 4
    assert views.in_words(found)["what"].null_count() == 0
    assert views.tiers(oneworld)["tier"].null_count() == 0
    assert len(views.runs_charts(found).to_dict()["concat"]) == 3
    pools = views.pools(oneworld.take("scaling-rules"))
    assert pools["rule"].null_count() == 0 and pools.height >= 6
