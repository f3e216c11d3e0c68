"""What synthetic trials say to a capacity model, and what is left out of it."""

import math
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from synthetic_bundles import closed_rows, open_rows, write_synthetic

from sizebook.chapters.sizing import capacity_charts
from sizebook.lab.trials import Trial
from sizebook.model.deployment import BalancerRole, Deployment, HostSpec, JvmRole
from sizebook.model.load import ClosedLoop, LoadProfile, OpenArrivals, Phases
from sizebook.model.trial import Disturbance, HostLimits, TrialSpec
from sizebook.report import capacity
from sizebook.stats.capacity import contest
from sizebook.stats.curves import fit
from sizebook.stats.scaling import SIZE, curves

APP = Deployment(roles=(JvmRole(role="app", cpus=(0, 1)),))
BOX = APP.on(HostSpec(name="box", mode="bare", cpu_limit=0.75), app="box")
MIB = 1 << 20


def spec(deployment=APP, arrivals=ClosedLoop(users=4, think_s=1.0), treatment=None, limit=None):  # noqa: B008 - frozen
    limits = HostLimits(cpu_limit=limit) if limit else None
    resized = (
        Disturbance(at_s=-1.0, action="resize", node="app-1", limits=limits) if limit else None
    )
    return TrialSpec(
        chapter="synthetic",
        experiment="load",
        profile="smoke",
        treatment=treatment or {},
        replicate=0,
        deployment=deployment,
        load=LoadProfile(
            locustfile="synthetic.py",
            arrivals=arrivals,
            phases=Phases(warmup_s=2.0, measured_s=10.0),
            cpus=(0,),
        ),
        disturbances=(resized,) if resized else (),
        probe_interval_s=60.0,
    )


def test_the_cpus_are_those_of_the_last_limit():
    """A resize counts before the host's limit, that before the number of CPUs."""
    assert capacity.cores_of(spec()) == 2.0
    assert capacity.cores_of(spec(BOX)) == 0.75
    assert capacity.cores_of(spec(BOX, limit=0.25)) == 0.25
    with pytest.raises(ValueError, match="no app nodes"):
        capacity.cores_of(spec(Deployment(roles=(BalancerRole(),))))


def test_nodes_are_counted():
    """Of the app role alone."""
    two = Deployment(roles=(JvmRole(role="backend"), JvmRole(role="app", nodes=2)))
    assert capacity.nodes_of(spec(two)) == 2
    assert capacity.nodes_of(spec(Deployment(roles=(JvmRole(role="broker"),)))) == 0


def trial(tmp_path, name, verdict="valid", rows=None, **more):
    bundle = write_synthetic(tmp_path, name, rows=rows, spec=spec(**more))
    found = Trial(bundle)
    found.__dict__["judgement"] = SimpleNamespace(verdict=verdict)
    return found


def test_trials_show_what_they_were_asked_and_what_came(tmp_path):
    """Users who think and random requests become rows in seconds; users who do not think do not."""
    users = trial(
        tmp_path, "users", treatment={"users": 4}, rows=closed_rows(4, gap_ns=1_000_000_000)
    )
    due = np.arange(100, 112, 0.5) * 1_000_000_000
    rate = trial(
        tmp_path,
        "rate",
        arrivals=OpenArrivals(kind="poisson", rate_per_s=2.0),
        rows=open_rows(due.astype(np.int64), np.full(due.size, 20_000_000)),
    )
    without = trial(tmp_path, "without", arrivals=ClosedLoop(users=4))
    observed, used = capacity.observe([users, rate, without])
    assert used == [users, rate]
    assert observed.cores.tolist() == [2.0, 2.0]
    assert observed.users[0] == 4
    assert math.isnan(observed.users[1])
    assert observed.offered_per_s[1] == 2.0
    assert observed.mean_s == pytest.approx([0.01, 0.02])
    assert observed.p95_s == pytest.approx([0.01, 0.02])
    assert observed.rate_per_s == pytest.approx([4 / 1.01, 2.0], rel=0.05)
    assert observed.levels == (("load", ("users", 4)), ("load",))


def test_only_valid_trials_count_unless_doubtful_ones_are_asked_for(tmp_path):
    """A noisy trial is a doubtful one, a failed one is none at all."""
    rows = closed_rows(4, gap_ns=1_000_000_000)
    noisy = trial(tmp_path, "noisy", verdict="noisy", rows=rows)
    assert capacity.observe([noisy])[0].cores.size == 0
    assert capacity.observe([noisy], doubtful=True)[0].cores.size == 1
    assert contest(capacity.observe([noisy])[0]).chosen is None


def test_demand_by_role():
    """A role's line through trials; a role that is nowhere busy has none."""
    frame = pl.DataFrame(
        {
            "rate_per_s": [10.0, 20.0, 30.0, None],
            "busy_app": [0.06, 0.11, 0.16, 0.2],
            "busy_database": [None, None, 0.1, 0.2],
        }
    )
    found = capacity.demands(frame, ("app", "database"))
    assert list(found) == ["app"]
    assert found["app"].per_request.value == pytest.approx(0.005)
    table = capacity.demands_frame(found)
    assert table["ms"][0] == pytest.approx(5.0)
    assert table["idle"][0] == pytest.approx(0.01)
    assert table["trials"][0] == 3


def fake_gc(monkeypatch, live=60 * MIB, heap=256 * MIB):
    """Have trials with a node's GC log of pauses of 0.2 ms a request."""
    facts = SimpleNamespace(collector="G1")

    def summary(bundle, node):
        rate = bundle.rate
        return SimpleNamespace(
            window_s=10.0, pause_ns=round(rate * 10 * 2e5), explicit_pause_ns=0,
            live_bytes=live, heap_bytes=heap, facts=facts,
        )  # fmt: skip

    monkeypatch.setattr(capacity, "gc_summary", summary)
    monkeypatch.setattr(capacity.measures, "throughput_per_s", lambda bundle: bundle.rate)
    record = SimpleNamespace(trial=spec())
    return [SimpleNamespace(bundle=SimpleNamespace(rate=r, record=record)) for r in (20.0, 50, 90)]


def test_the_heap_comes_from_pauses_and_what_is_live(monkeypatch):
    """Pauses a request by a line through the origin, live set and room by their medians."""
    found = capacity.heap_facts(fake_gc(monkeypatch), overhead=0.05)
    assert found.pause_s == pytest.approx(2e-4)
    assert found.pause_low_s == pytest.approx(2e-4)
    assert (found.live_bytes, found.room_bytes) == (60 * MIB, 196 * MIB)
    assert found.least_ratio == 1.2


def test_without_collections_there_is_no_heap(monkeypatch):
    """Nothing live is known, or too few trials: no advice."""
    assert capacity.heap_facts(fake_gc(monkeypatch, live=None), overhead=0.05) is None
    assert capacity.heap_facts(fake_gc(monkeypatch)[:2], overhead=0.05) is None


def test_frames_and_charts_hold_what_they_show():
    """Fitted curves become rows; both charts draw them, also with few points."""
    size, rate = [1, 2, 4, 8], [10.0, 19.0, 33.0, 45.0]
    law = fit(curves(size, rate)[-1], {SIZE: size}, rate)
    rows = capacity.parameters_frame(law)
    assert rows["parameter"].to_list() == ["rate", "sigma", "kappa"]
    points = pl.DataFrame({"users": size, "rate": rate, "law": ["measured"] * 4})
    drawn = points.with_columns(law=pl.lit("universal"), low=pl.col("rate"), high=pl.col("rate"))
    chart = capacity_charts.points_and_curves(
        points, drawn, x="users", y="rate", series="law", x_title="users", y_title="a second",
        band=("low", "high"),
    ).to_dict()  # fmt: skip
    assert len(chart["layer"]) == 3
    held = pl.DataFrame({"predicted": [1.0, 4.0], "measured": [1.1, 3.5], "cores": ["1", "2"]})
    chart = capacity_charts.against(held, series="cores", title="(ms)", factor=1.5).to_dict()
    rays = next(rows for rows in chart["datasets"].values() if "of" in rows[0])
    assert max(row["measured"] for row in rays) == pytest.approx(6.0)
    empty = held.clear()
    assert capacity_charts.against(empty, series="cores", title="(ms)").to_dict()["layer"]
