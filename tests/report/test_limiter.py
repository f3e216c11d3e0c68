"""What limited: made-up trials whose limiter is known, and the words and charts made of it."""

import polars as pl
import pytest
from synthetic_bundles import BEGIN, END, MEASURED, PHASES, S, closed_rows

from sizebook.lab import Trials
from sizebook.lab.trials import Trial
from sizebook.model.bundle import COUNTER_COLUMNS
from sizebook.model.deployment import DatabaseRole, Deployment, JvmRole
from sizebook.model.design import Design, Factor
from sizebook.model.load import ClosedLoop, OpenArrivals
from sizebook.report import chart
from sizebook.report.limiter import (
    FRAME_COLUMNS,
    attribute,
    describe_kinds,
    limiters,
    limits_by,
    limits_chart,
    limits_frame,
)
from sizebook.report.limiter_kinds import KINDS, Kind
from sizebook.report.phase_counters import Use, open_window

SECONDS = [-1.0, *range(14)]
"""Of the readings, from the first request: warm-up until 2, measured until 12."""
DEPLOYMENT = Deployment(roles=(DatabaseRole(cpus=(0,)), JvmRole(role="app", cpus=(0,))))
BACKEND = JvmRole(role="backend", cpus=(0,))

IDLE = {
    ("host", "core_user_s/0"): 0.10,
    ("host", "core_system_s/0"): 0.04,
    ("host", "core_irq_s/0"): 0.01,
    ("host", "core_idle_s/0"): 0.84,
    ("host", "core_iowait_s/0"): 0.01,
    ("host", "core_steal_s/0"): 0.0,
    ("host", "disk_busy_s/vda"): 0.02,
    ("host", "disk_wait_s/vda"): 0.05,
    ("host", "disk_flushes/vda"): 3.0,
    ("host", "network_sent_bytes/loopback"): 1e6,
    ("host", "network_received_bytes/loopback"): 2e6,
    ("process/app-1", "cpu_user_s"): 0.08,
    ("process/app-1", "cpu_system_s"): 0.02,
    ("process/database-1", "cpu_user_s"): 0.02,
    ("process/database-1", "cpu_system_s"): 0.01,
    ("process/generator-1", "cpu_user_s"): 0.2,
    ("process/generator-1", "cpu_system_s"): 0.1,
    ("server/app-1", "gc_pause_s"): 0.01,
    ("server/app-1", "pool_acquire_s"): 0.001,
}
"""Rates a second of a stack with little to do."""
GAUGES = {
    ("server/app-1", "threads_busy"): 3.0,
    ("server/app-1", "threads_limit"): 50.0,
    ("server/app-1", "pool_active"): 1.0,
    ("server/app-1", "pool_limit"): 20.0,
    ("database", "backends_in_state/active"): 1.0,
    ("database", "backends_waiting/Lock"): 0.0,
    ("database", "backends_waiting/IO"): 0.0,
}
BUSY = {
    ("host", "core_user_s/0"): 0.80,
    ("host", "core_system_s/0"): 0.15,
    ("host", "core_idle_s/0"): 0.04,
    ("host", "core_iowait_s/0"): 0.0,
    ("process/app-1", "cpu_user_s"): 0.20,
    ("process/app-1", "cpu_system_s"): 0.10,
    ("process/database-1", "cpu_user_s"): 0.45,
    ("process/database-1", "cpu_system_s"): 0.15,
}


def counters(rates, gauges, seconds):
    """Return a reading at each second of each counter (by its rate) and gauge (constant)."""
    rows = [
        (BEGIN + round(at * S), "local", source, metric, 1000.0 + rate * at)
        for (source, metric), rate in rates.items()
        for at in seconds
    ]
    rows += [
        (BEGIN + round(at * S), "local", source, metric, value)
        for (source, metric), value in gauges.items()
        for at in seconds
    ]
    schema = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("time_ns")


@pytest.fixture
def trial(make_bundle):
    """Return a function that makes a trial of an idle stack with some rates and gauges changed."""

    def make(rates=None, gauges=None, seconds=SECONDS, without=(), **given):
        given = {"cpus": (1,), "deployment": DEPLOYMENT, "rows": closed_rows(users=4)} | given
        bundle = make_bundle(**given)
        rates = {k: v for k, v in (IDLE | (rates or {})).items() if k[1] not in without}
        gauges = {k: v for k, v in (GAUGES | (gauges or {})).items() if k[1] not in without}
        bundle.__dict__["counters"] = counters(rates, gauges, seconds)
        return bundle

    return make


def by_kind(bundle):
    return {use.kind: use for use in limiters(bundle)}


def test_nothing_saturated(trial):
    """Then it is the users' own waiting, said with their number and the fullest resource."""
    found = attribute([trial()])
    assert found.limiter is None and found.known and found.also == ()
    assert "Nothing was saturated (highest use: the generator used 30" in found.sentence
    assert found.sentence.endswith(": 4 users with one request at a time waited for answers.")
    one = attribute([trial(arrivals=ClosedLoop(users=1, think_s=0.5))])
    assert ": one user with" in one.sentence and "thought between requests" in one.sentence
    rate = attribute([trial(arrivals=OpenArrivals(kind="constant", rate_per_s=5.0))])
    assert rate.sentence.endswith("the offered load was below capacity.")


def test_the_cpu_is_named_by_its_largest_part(trial):
    """A full CPU set is a limit; the role that took most of it is named, with all parts."""
    found = attribute([trial(BUSY)])
    assert (found.limiter, found.place) == ("cpu", "CPU 0")
    assert found.subject == "the CPU time of the database"
    assert "96" in found.sentence and "database 60" in found.sentence
    assert "app 30" in found.sentence and "everything else 6" in found.sentence
    use = by_kind(trial(BUSY))["cpu"]
    assert use.share == pytest.approx(0.96)


def test_other_programs_on_the_same_cpus(trial):
    """CPU time of nobody in the stack, beyond what the kernel takes for it, is named first."""
    others = BUSY | {("process/database-1", "cpu_user_s"): 0.0}
    found = attribute([trial(others)])
    assert (found.limiter, found.subject) == ("others", "other programs on the same CPUs")
    assert "51\u202f% of CPU 0" in found.sentence
    assert attribute([trial(BUSY)]).limiter == "cpu", "6 % is the kernel's"
    spare = others | {("host", "core_idle_s/0"): 0.4}
    assert attribute([trial(spare)]).limiter is None, "there was CPU to spare"
    shared = by_kind(trial(others, cpus=(0,)))  # the generator is on the stack's CPU
    assert shared["cpu"].numbers["by generator"] == pytest.approx(0.3)
    assert shared["others"].share == pytest.approx(0.21)
    mixed = by_kind(trial(others, cpus=(0, 1)))  # some of it may be the generator's
    assert "others" not in mixed and "by everything else" not in mixed["cpu"].numbers
    unread = DEPLOYMENT.model_copy(update={"roles": (*DEPLOYMENT.roles, BACKEND)})
    unread = by_kind(trial(others, deployment=unread))  # some of it may be the back end's
    assert "others" not in unread and "by everything else" not in unread["cpu"].numbers


def test_idle_time_shorted_by_steal_is_no_spare_time(trial):
    """What the hypervisor took is neither busy nor idle, and from 5 % on named itself."""
    stolen = BUSY | {("host", "core_steal_s/0"): 0.3, ("host", "core_user_s/0"): 0.5}
    found = by_kind(trial(stolen))
    assert found["cpu"].share == pytest.approx(0.66 / 0.70)
    assert found["steal"].share == pytest.approx(0.3)
    assert attribute([trial(stolen)]).limiter == "steal"


def test_the_generator_comes_before_everything(trial):
    """A generator at its own limit is named whatever else is full; the rest is said as well."""
    found = attribute([trial(BUSY | {("process/generator-1", "cpu_user_s"): 0.85})])
    assert found.limiter == "generator" and len(found.also) == 1
    assert "Also saturated: CPU 0 was 96" in found.sentence
    late = attribute([trial(facts={"lag_p99_ms": 3.25})])
    assert late.limiter == "generator-lag"
    use = next(use for use in late.uses if use.kind == "generator-lag")
    assert dict(use.numbers) == {"lag_ms": 3.25, "latency_ms": 10.0}
    assert use.share == pytest.approx(0.3)


def test_the_busiest_worker_of_several_counts(trial):
    """A worker is one event loop: one at its limit is a limit, whatever the others do."""
    second = {
        ("process/generator-2", "cpu_user_s"): 0.80,
        ("process/generator-2", "cpu_system_s"): 0.15,
    }
    bundle = trial(second, cpus=(1, 2))
    workers = bundle.record.trial.load.model_copy(update={"workers": 2})
    spec = bundle.record.trial.model_copy(update={"load": workers})
    object.__setattr__(bundle, "record", bundle.record.model_copy(update={"trial": spec}))
    use = by_kind(bundle)["generator"]
    assert use.share == pytest.approx(0.95) and use.numbers["cpus"] == 2
    assert "its busiest worker 95" in attribute([bundle]).sentence


def test_a_pool_limits_only_if_somebody_waits(trial):
    """All connections lent and threads waiting: a limit; all lent and nobody waiting: none."""
    lent = {("server/app-1", "pool_active"): 20.0}
    waiting = {("server/app-1", "pool_acquire_s"): 6.5}
    found = attribute([trial(waiting, lent)])
    assert found.limiter == "pool"
    assert "20.0 of 20 connections were lent out, 6.5 threads waited for one" in found.sentence
    assert "(11 readings)" in found.sentence
    assert attribute([trial(None, lent)]).limiter is None


def test_threads_limit_only_if_more_is_under_way(trial):
    """As many users as threads keep all busy without any limit; more of them wait."""
    four = {("server/app-1", "threads_busy"): 4.0, ("server/app-1", "threads_limit"): 4.0}
    assert attribute([trial(None, four)]).limiter is None
    two = {("server/app-1", "threads_busy"): 2.0, ("server/app-1", "threads_limit"): 2.0}
    found = attribute([trial(None, two)])
    assert found.limiter == "threads"
    assert "2.0 of 2 threads were at work on 4.0 requests under way" in found.sentence
    assert by_kind(trial(None, two))["threads"].numbers["waiting"] == pytest.approx(2.0, abs=0.1)


def test_without_requests_the_users_of_a_closed_loop_are_under_way(trial):
    """A published bundle has no requests: threads are judged by the users, latency is not known."""
    two = {("server/app-1", "threads_busy"): 2.0, ("server/app-1", "threads_limit"): 2.0}
    found = by_kind(trial(None, two, with_requests=False))
    assert found["threads"].numbers["under_way"] == 4.0
    assert found["generator-lag"].share is None
    assert "without requests.parquet" in found["generator-lag"].reason


def test_a_full_cpu_is_named_before_what_waits_for_it(trial):
    """Waiting spreads outwards: threads that are all taken wait for the CPU."""
    two = {("server/app-1", "threads_busy"): 2.0, ("server/app-1", "threads_limit"): 2.0}
    found = attribute([trial(BUSY, two)])
    assert found.limiter == "cpu" and "2.0 of 2 threads" in found.also[0]


def test_locks_files_disk_and_collector(trial):
    """Each is a limiter of its own, from counters made up to be at its limit."""
    locks = {
        ("database", "backends_in_state/active"): 6.0,
        ("database", "backends_waiting/Lock"): 5,
    }
    assert attribute([trial(None, locks)]).limiter == "locks"
    assert "5.0 of 6.0 working back ends" in attribute([trial(None, locks)]).sentence
    files = {
        ("database", "backends_in_state/active"): 2.0,
        ("database", "backends_waiting/IO"): 2.0,
    }
    assert attribute([trial(None, files)]).limiter == "database-io"
    disk = {("host", "disk_busy_s/vda"): 0.97, ("host", "disk_wait_s/vda"): 7.5}
    found = attribute([trial(disk)])
    assert (found.limiter, found.place) == ("disk", "vda") and "7.5 operations" in found.sentence
    assert attribute([trial(BUSY | {("server/app-1", "gc_pause_s"): 0.4})]).limiter == "gc"


def test_a_lock_that_nobody_waits_for_is_known_to_be_none(trial):
    """No back end at work in any reading is 0 of 0, with the number of readings; not unknown."""
    use = by_kind(trial(None, {("database", "backends_in_state/active"): 0.0}))["locks"]
    assert use.share == 0.0 and use.readings == 11
    alone = by_kind(trial(deployment=Deployment(roles=(JvmRole(role="app", cpus=(0,)),))))
    assert "locks" not in alone


def test_throttling(trial):
    """A control group that stood still in a quarter of its periods; without a limit: unknown."""
    group = {
        ("cgroup/all", "cgroup_periods"): 10.0,
        ("cgroup/all", "cgroup_throttled_periods"): 2.5,
        ("cgroup/all", "cgroup_throttled_s"): 0.31,
    }
    limit = {("cgroup/all", "cgroup_cpu_limit"): 0.5}
    found = attribute([trial(group, limit)])
    assert found.limiter == "throttling"
    assert "25" in found.sentence and "limit of 0.5 CPUs, 0.31 s in a second" in found.sentence
    use = by_kind(trial(group))["throttling"]
    assert (use.share, use.reason) == (None, "no CPU limit is set")
    assert "throttling" not in by_kind(trial())


def test_what_is_missing_is_unknown_and_never_zero(trial):
    """Without counters nothing is told, and nobody says that nothing was saturated."""
    bare = trial(seconds=())
    found = attribute([bare])
    told = {use.kind for use in found.uses if use.share is not None}
    assert told == {"generator", "generator-lag"}  # from the generator's own facts
    assert found.limiter is None and not found.known
    assert found.sentence == "The bottleneck is unknown: no CPU times were recorded."
    assert attribute([]).sentence == "The bottleneck is unknown: no trial was measured."
    unmeasured = trial(phases=PHASES[:1])
    assert limiters(unmeasured) == () and open_window(unmeasured) is None
    assert attribute([unmeasured]).replicates == 0


def test_without_cores_the_roles_tell_the_cpu(trial):
    """On a system without core times the processes' own CPU time decides."""
    cores = [metric for source, metric in IDLE if metric.startswith("core_")]
    use = by_kind(trial(BUSY, without=cores))["cpu"]
    assert use.share == pytest.approx(0.90)
    assert use.numbers["by database"] == pytest.approx(0.60)
    half = trial(BUSY, without=(*cores, "cpu_user_s"))
    assert by_kind(half)["cpu"].share == pytest.approx(0.25)


def test_readings_nearest_to_the_phase_count(trial):
    """A phase shorter than two readings uses those around it; one reading is none."""
    window = open_window(trial(seconds=[1.6, 12.3]))
    grown = window.growth(("local", "host", "core_idle_s/0"))
    assert (grown.per_s, grown.readings) == (pytest.approx(0.84), 2)
    assert window.level(("local", "server/app-1", "threads_busy")) is None
    assert open_window(trial(seconds=[5.0])).growth(("local", "host", "core_idle_s/0")) is None
    short = open_window(trial(seconds=[2.0, 5.0]))
    assert short.growth(("local", "host", "core_idle_s/0")) is None, "a third of the phase"
    middle = open_window(trial(seconds=[5.0])).level(("local", "server/app-1", "threads_busy"))
    assert (middle.mean, middle.readings) == (3.0, 1)


def test_a_counter_that_began_anew_is_unknown(trial):
    """A restart in the phase makes a counter fall; its growth is not made up."""
    bundle = trial()
    falls = (pl.col("metric").cast(pl.String) == "disk_busy_s/vda") & (
        pl.col("time_ns") > MEASURED + (END - MEASURED) // 2
    )
    bundle.__dict__["counters"] = bundle.counters.with_columns(
        value=pl.when(falls).then(0.0).otherwise("value")
    )
    assert by_kind(bundle)["disk"].share is None


def test_two_cpu_sets(trial):
    """Roles on sets of their own are judged apart; the full one is named."""
    roles = (DatabaseRole(cpus=(0,)), JvmRole(role="app", cpus=(1, 2)))
    idle = {
        ("host", f"core_{state}_s/{cpu}"): rate
        for cpu in (1, 2)
        for state, rate in (("user", 0.2), ("idle", 0.8))
    }
    full = BUSY | idle | {("process/database-1", "cpu_user_s"): 0.75}
    found = attribute([trial(full, deployment=Deployment(roles=roles), cpus=(3,))])
    assert (found.limiter, found.place) == ("cpu", "CPU 0")
    uses = {use.place: use for use in found.uses if use.kind == "cpu"}
    assert uses["CPUs 1, 2"].share == pytest.approx(0.2)


def test_cpu_numbers_with_holes(trial):
    """A role without a set may use the CPUs that are online, by the kernel's numbers."""
    cores = {
        ("host", f"core_{state}_s/{cpu}"): rate
        for cpu in (0, 2, 3, 4, 7)
        for state, rate in (("user", 0.9), ("system", 0.05), ("idle", 0.05))
    }
    free = Deployment(roles=(JvmRole(role="app"),))
    found = attribute([trial(cores, deployment=free, cpus=(9,))])
    assert [(u.place, u.numbers["cpus"]) for u in found.uses if u.kind == "cpu"] == [
        ("CPUs 0, 2–4, 7", 5.0)
    ]


def test_replicates_are_averaged_and_counted(trial):
    """Two full and one idle replicate: the mean decides, and the sentence says how many agree."""
    found = attribute([trial(BUSY), trial(BUSY), trial(BUSY | {("host", "core_idle_s/0"): 0.2})])
    assert (found.limiter, found.replicates, found.agreeing) == ("cpu", 3, 2)
    assert "in 2 of 3 replicates" in found.sentence
    use = next(use for use in found.uses if use.kind == "cpu")
    assert use.replicates == 3 and use.share == pytest.approx((0.96 * 2 + 0.96 / 1.16) / 3)


def test_a_chapter_adds_a_kind(trial):
    """Rules are data: a further kind is measured, named and shown like the others."""

    def queue(window):
        yield Use("queue", "orders", 0.95, {"depth": 40.0}, 3)

    kinds = (
        *KINDS,
        Kind(
            "queue",
            label="Queue {place}",
            subject="the queue {place}",
            evidence="{place} held {depth:.0f} messages",
            threshold=0.9,
            meaning="Messages over the most there may be.",
            measure=queue,
        ),
    )
    found = attribute([trial()], kinds)
    assert found.sentence == "The bottleneck was the queue orders: orders held 40 messages."
    assert "Queue orders" in limits_frame({1: found}, kinds=kinds)["limiter"].to_list()


def test_every_kind_is_documented():
    """Names differ, thresholds are shares, meanings say what is divided by what."""
    table = describe_kinds()
    assert table["limiter"].n_unique() == table.height == len(KINDS)
    assert table["threshold"].drop_nulls().is_between(1, 100).all()
    assert all(len(meaning) > 40 and meaning.endswith(".") for meaning in table["meaning"])


def test_frame_and_chart_by_level(trial):
    """One row a level and limiter in percent; unknown everywhere is left out; the chart draws."""
    limits = {1: attribute([trial()]), 20: attribute([trial(BUSY, without=("disk_busy_s/vda",))])}
    frame = limits_frame(limits, "users")
    assert frame.columns == ["users", *FRAME_COLUMNS]
    cpu = frame.filter(pl.col("kind") == "cpu")
    assert cpu["share"].to_list() == pytest.approx([15.0, 96.0])
    assert cpu["at_limit"].to_list() == [False, True]
    assert "network" not in frame["kind"].to_list()
    disk = frame.filter(pl.col("limiter") == "Disk vda").select("users", "share").rows()
    assert disk == [(1, pytest.approx(2.0))], "at 20 users it cannot be told"
    spec, fluid = chart.prepare_chart(limits_chart(frame, x="users", x_title="users"))
    assert fluid and "<svg" in chart.render_svg(spec)
    empty = limits_frame({})
    assert empty.is_empty() and empty.columns == ["level", *FRAME_COLUMNS]


def test_limits_by_a_factor(trial):
    """Trials are grouped by a factor's levels, others fixed; failed trials have no part."""
    design = Design("d", (Factor("users", (1, 4)), Factor("kind", ("a", "b"))), 1, seed=1)

    def made(users, kind, rates=None, **given):
        bundle = trial(rates, **given)
        spec = bundle.record.trial.model_copy(update={"treatment": {"users": users, "kind": kind}})
        object.__setattr__(bundle, "record", bundle.record.model_copy(update={"trial": spec}))
        return Trial(bundle)

    trials = Trials(
        design,
        [made(1, "a"), made(4, "a", BUSY), made(1, "b", BUSY), made(4, "b", outcome="failed")],
    )
    assert {k: v.limiter for k, v in limits_by(trials, "users", kind="a").items()} == {
        1: None,
        4: "cpu",
    }
    assert list(limits_by(trials, "users", kind="b")) == [1]
