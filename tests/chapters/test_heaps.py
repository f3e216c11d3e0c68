"""A node's lives, what its collector did in each, and how much heap is enough."""

import math

import numpy as np
import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.heap_gc import heaps
from sizebook.lab.trials import Trial, Trials
from sizebook.model.bundle import StackEvent
from sizebook.model.deployment import Deployment, HostSpec, JvmRole
from sizebook.model.design import Design, Factor
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.trial import TrialSpec
from sizebook.report.gc_logs import gc_logs, gc_summary

S, MEASURED, OVER = made.S, made.MEASURED, made.PHASES[-1].end_ns
OOM = "java.lang.OutOfMemoryError: Java heap space"


def ended(at_s, heap_mib=384):
    at_ns = MEASURED + round(at_s * S)
    return StackEvent(
        action="out-of-memory", node="app-1", begin_ns=at_ns, end_ns=at_ns, heap_mib=heap_mib,
        detail=OOM,
    )  # fmt: skip


def came_back(at_s, ready_s, heap_mib):
    times = {"begin_ns": MEASURED + round(at_s * S), "end_ns": MEASURED + round(ready_s * S)}
    return StackEvent(action="start", node="app-1", heap_mib=heap_mib, **times)


TWICE = (ended(4), came_back(5, 6, 384), ended(6), came_back(7, 8, 1024))


def gc_lines(*collections):
    """Return a log of Serial: (seconds into the measured phase, kind, before, after, pause ms)."""
    lines = []
    for number, (at_s, kind, before, after, pause_ms) in enumerate(collections):
        end_ns = MEASURED + round(at_s * S)
        begin_ns = end_ns - round(pause_ms * 1e6)
        for time_ns, text in (
            (begin_ns, f"Pause {kind} (Allocation Failure)"),
            (
                end_ns,
                f"Pause {kind} (Allocation Failure) {before}M->{after}M(371M) {pause_ms:.3f}ms",
            ),
        ):
            tag = "gc,start" if time_ns == begin_ns else "gc"
            lines.append(
                f"[{time_ns / 1e9 - 99:.3f}s][{time_ns}ns][info][{tag}] GC({number}) {text}"
            )
    return "\n".join(lines) + "\n"


def messages(times_s, name="message"):
    """Return requests of 10 ms each that end so many seconds into the measured phase."""
    ends = np.array([MEASURED + round(at * S) for at in times_s], dtype=np.int64)
    service = np.full(ends.size, S // 100)
    rows = made.open_rows(ends - service, service)
    return rows.with_columns(pl.lit(name).cast(rows.schema["name"]).alias("name"))


def spec(**settings):
    return TrialSpec(
        chapter="heap-gc", experiment="pile", profile="quick", treatment={"heap_mib": 384},
        replicate=0, deployment=Deployment(roles=(JvmRole(role="app", heap_mib=384),)),
        load=LoadProfile(
            locustfile="heap.py", arrivals=ClosedLoop(users=1),
            phases=Phases(warmup_s=2.0, measured_s=10.0), settings=settings,
        ),
        probe_interval_s=60.0,
    )  # fmt: skip


def test_each_start_is_a_life_with_its_heap(make_bundle):
    """Until it ran out of memory, or until the load was over; numbered as their logs are."""
    found = heaps.lives(make_bundle(spec=spec(), events=TWICE))
    assert [(life.name, bool(life.said)) for life in found] == [
        ("1: 384 MiB", True),
        ("2: 384 MiB", True),
        ("3: 1024 MiB", False),
    ]
    assert [(life.ready_ns - life.begin_ns) / S for life in found] == [0.0, 1.0, 1.0]
    assert (found[0].begin_ns, found[0].end_ns) == (made.BEGIN, MEASURED + 4 * S)
    assert found[2].end_ns == OVER
    assert heaps.exhaustions(make_bundle(events=TWICE)) == 2.0


def test_a_node_that_stayed_away_or_never_ended_has_one_life(make_bundle):
    """Other nodes' ends are theirs; a trial that never ran has none."""
    (stayed,) = heaps.lives(make_bundle(spec=spec(), events=(ended(4),)))
    assert stayed.said == OOM
    (whole,) = heaps.lives(make_bundle(spec=spec()))
    assert (whole.end_ns, whole.said) == (OVER, "")
    assert heaps.lives(make_bundle(spec=spec(), phases=())) == ()
    assert heaps.lives(make_bundle(spec=spec()), "broker-1") == ()


def test_stages_tell_the_beginning_from_the_end(make_bundle):
    """Ten messages a second at first, two a second in the end, with more time in pauses."""
    times = [0.1 * n for n in range(1, 21)] + [2.0 + 0.5 * n for n in range(1, 5)]
    log = gc_lines(
        (0.9, "Young", 100, 90, 10.0),
        *((2.0 + 0.2 * n, "Full", 370, 360, 100.0) for n in range(1, 10)),
    )
    bundle = make_bundle(
        spec=spec(), rows=messages(times), events=(ended(4.0),), logs={"gc/app-1.log": log}
    )
    begin, before, whole = heaps.stages(bundle, "message", 4, 400).iter_rows(named=True)
    assert begin["per_s"] == pytest.approx(10.0)
    assert before["per_s"] == pytest.approx(2.0)
    assert before["overhead"] == pytest.approx(0.5, abs=0.05)
    assert 0 < begin["overhead"] < 0.03
    assert (begin["mean_pause_ms"], before["mean_pause_ms"]) == (10.0, 100.0)
    assert begin["overhead"] < whole["overhead"] < before["overhead"]
    assert heaps.stages(bundle, "message", 30, 400).height == 0
    assert heaps.stages(make_bundle(spec=spec(), phases=()), "message", 4, 400).height == 0


def test_stages_without_a_log_have_rates_only(make_bundle):
    """A published bundle may come without its logs."""
    found = heaps.stages(
        make_bundle(rows=messages([n / 10 for n in range(1, 41)])), "message", 4, 40
    )
    assert found["per_s"].null_count() == 0
    assert found["overhead"].null_count() == found.height == 3


def test_freed_is_what_is_not_queued_again(make_bundle):
    """The first whole collection after a delivery, less what was queued since."""
    times = [0.1 * n for n in range(1, 11)] + [3.1, 3.2]
    rows = pl.concat([messages(times), messages([2.0], "stop")]).sort("start_ns")
    log = gc_lines(
        (1.0, "Young", 700, 300, 20.0),
        (1.5, "Full", 710, 400, 60.0),
        (3.5, "Full", 500, 32, 80.0),
        (4.5, "Full", 600, 500, 90.0),
    )
    bundle = make_bundle(spec=spec(bytes=1 << 20), rows=rows, logs={"gc/app-1.log": log})
    found = heaps.freed_after(bundle, "message", "stop")
    assert (found.peak_mib, found.left_mib) == (710.0, 30.0)
    assert (found.pause_ms, found.usual_pause_ms) == (80.0, 40.0)
    never = make_bundle(
        spec=spec(), rows=rows, logs={"gc/app-1.log": gc_lines((1, "Full", 9, 8, 1.0))}
    )
    assert heaps.freed_after(never, "message", "stop") is None
    assert heaps.freed_after(make_bundle(spec=spec(), rows=rows), "message", "stop") is None


def test_steps_go_through_all_lives(make_bundle):
    """Used before and after each collection, total and overhead, each life by its own log."""
    bundle = make_bundle(
        spec=spec(),
        events=TWICE,
        logs={
            "gc/app-1.log": gc_lines(
                (1.0, "Young", 100, 50, 100.0), (2.0, "Full", 300, 250, 500.0)
            ),
            "gc/app-1.3.log": gc_lines((8.5, "Young", 400, 350, 50.0)),
        },
    )
    found = heaps.steps([Trial(bundle)])
    assert set(found["life"]) == {"1: 384 MiB", "3: 1024 MiB"}
    first = found.filter(pl.col("life") == "1: 384 MiB")
    used = first.filter(pl.col("quantity") == "used")
    assert used["value"].to_list() == [100.0, 50.0, 300.0, 250.0]
    assert first.filter(pl.col("quantity") == "overhead")["value"][-1] == pytest.approx(50.0)
    assert found.columns == ["heap_mib", *heaps.STEPS]
    assert heaps.steps([]).columns == list(heaps.STEPS)


def test_stages_of_all_trials_have_their_levels(make_bundle):
    """Trials without messages enough have no row, and the columns are there all the same."""
    design = Design("pile", (Factor("heap_mib", (384,)),), 1, 1)
    good = make_bundle(spec=spec(), rows=messages([n / 10 for n in range(1, 41)]))
    found = heaps.staged(Trials(design, [Trial(good)]), "message", 4, 40)
    assert found["stage"].to_list() == ["begin", "before", "whole"]
    assert found["heap_mib"].to_list() == [384] * 3
    none = heaps.staged(Trials(design, []), "message", 4, 40)
    assert (none.height, none.columns) == (0, found.columns)
    cut = make_bundle(spec=spec(), outcome="failed", with_requests=False)
    assert heaps.staged(Trials(design, [Trial(cut)]), "message", 4, 40).equals(none)


@pytest.mark.parametrize(
    ("shares", "size", "words"),
    [
        ({}, None, "no heap was measured"),
        ({128: 0.04, 256: 0.01}, 128.0, "the smallest heap measured, 128 MiB, keeps it already"),
        ({128: 0.3, 256: 0.1}, None, "more than the largest heap measured, 256 MiB"),
        ({100: 0.2, 400: 0.0125}, 200.0, "between 100 MiB (20.0%) and 400 MiB (1.2%)"),
        ({128: 0.3, 256: 0.05}, 256.0, "between 128 MiB (30.0%) and 256 MiB (5.0%)"),
        ({128: 0.04, 256: 0.2, 512: 0.0}, None, "between 256 MiB (20.0%) and 512 MiB (0.0%)"),
    ],
)
def test_the_least_heap_is_interpolated_and_never_beyond_what_was_measured(shares, size, words):
    """On logarithmic scales; after the last heap that does not keep the criterion."""
    frame = pl.DataFrame(
        {"heap_mib": list(shares), "mean": list(shares.values())},
        schema={"heap_mib": pl.Int64, "mean": pl.Float64},
    )
    found, said = heaps.least_heap(frame, 0.05)
    assert said == words
    if size is None and words.startswith("between"):
        assert 256 < found < 512
    else:
        assert found == size or math.isclose(found, size, rel_tol=1e-9)


def test_a_log_by_another_kernels_clock_is_read_by_this_ones(make_bundle):
    """A collection within the measured phase stays there, however far ahead the host's clock is."""
    log = gc_lines((-5.0, "Young", 9, 8, 1.0), (3.0, "Young", 9, 8, 2.0))
    role = JvmRole(role="app", heap_mib=384, hosts=("local", "box"), nodes=2)
    deployment = Deployment(roles=(role,), hosts=(HostSpec(name="box", mode="virtio-vm"),))
    hosts = (made.host_run(mode="virtio-vm", clock_ahead_ns=-4 * S),)
    bundle = make_bundle(
        deployment=deployment, hosts=hosts, logs={"gc/app-1.log": log, "gc/app-2.log": log}
    )
    assert gc_summary(bundle, "app-1").collections == 1
    ahead = gc_logs(bundle)["app-2"]
    assert ahead.pauses["end_ns"].to_list() == [MEASURED - 1 * S, MEASURED + 7 * S]
    assert (
        ahead.pauses["pause_ns"].to_list() == gc_logs(bundle)["app-1"].pauses["pause_ns"].to_list()
    )
    assert ahead.first_ns == gc_logs(bundle)["app-1"].first_ns + 4 * S
