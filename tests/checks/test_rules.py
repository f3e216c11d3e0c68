"""Each rule: a bundle that passes, one that does not, one to which it does not apply."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.checks import RULES, judge
from sizebook.checks.steady import counted, steady_of
from sizebook.model.bundle import JOINED_LATE, SHARED_CORES, PhaseMark, StackEvent
from sizebook.model.deployment import BalancerRole, DatabaseRole, Deployment, JvmRole
from sizebook.model.load import (
    ClosedLoop,
    LoadProfile,
    OpenArrivals,
    PacedGroup,
    PacedUsers,
    Phases,
    RampArrivals,
)
from sizebook.model.trial import (
    Allowance,
    Disturbance,
    Exhaustion,
    HostLimits,
    Stored,
    TrialSpec,
)
from sizebook.model.verdict import Finding
from sizebook.store import open_bundle
from sizebook.store.thread_cache import Once

S, BEGIN, MEASURED, END = made.S, made.BEGIN, made.MEASURED, made.END
BY_ID = {rule.id: rule for rule in RULES}
NULLSERVER = Deployment(roles=(JvmRole(role="nullserver"),))
CUT_SHORT = (
    PhaseMark(name="warm-up", begin_ns=BEGIN, end_ns=MEASURED),
    PhaseMark(name="measured", begin_ns=MEASURED, end_ns=END - S),
)
NEVER_MEASURED = (PhaseMark(name="warm-up", begin_ns=BEGIN, end_ns=MEASURED),)


def constant(rate: float = 100.0, stop: int = END) -> np.ndarray:
    return np.arange(BEGIN, stop, int(S / rate), dtype=np.int64)


def opened(latency_ns: int = 20_000_000, **changes: Any) -> dict[str, Any]:
    intended = constant()
    latency = np.full(intended.size, latency_ns)
    return {
        "rows": made.open_rows(intended, latency),
        "arrivals": OpenArrivals(kind="constant", rate_per_s=100.0),
    } | changes


def shrinking() -> dict[str, Any]:
    """What was due in the warm-up was answered in the measured phase."""
    intended = constant()
    latency = np.full(intended.size, 20_000_000)
    early = intended < MEASURED
    latency[early] = MEASURED + S - intended[early]
    return opened(rows=made.open_rows(intended, latency))


def with_errors(number: int, error: str = "body", status: int = 200) -> pl.DataFrame:
    rows = made.closed_rows().with_row_index("at")
    bad = (pl.col("phase").cast(pl.String) == "measured") & (pl.col("at") >= 4800 - number)
    kinds = made.REQUEST_COLUMNS
    return rows.with_columns(
        pl.when(bad).then(pl.lit(error)).otherwise(pl.lit("")).alias("error"),
        pl.when(bad).then(status).otherwise(200).alias("status"),
    ).select(pl.col(name).cast(getattr(pl, kind)) for name, kind in kinds.items())


def shifted(**columns: pl.Expr) -> pl.DataFrame:
    return made.closed_rows().with_columns(**columns)


RAMP = RampArrivals(begin_per_s=50.0, end_per_s=150.0, over_s=10.0)
"""As many arrivals in the measured phase as at 100 a second."""


def paced(
    users: int = 20, period_s: float = 2.0, late_ns: int = 0, late_from: int = END, **changes: Any
) -> dict[str, Any]:
    """Users with passes of two requests of 20 ms, once a period; from a time on they are late."""
    period = int(period_s * S)
    due = np.sort(np.concatenate([np.arange(BEGIN + u * period // users, END, period)
                                  for u in range(users)]))  # fmt: skip
    user = np.arange(due.size) % users
    start = due + np.where(due >= late_from, late_ns, 0)
    second = start + 20_000_000
    both = made.rows_from(
        np.concatenate([due, second]),
        np.concatenate([start, second]),
        np.full(2 * due.size, 20_000_000),
        np.concatenate([user, user]),
    )
    passes = np.concatenate([np.arange(due.size)] * 2)
    order = np.argsort(np.concatenate([start, second]), kind="stable")
    rows = both.with_columns(iteration=pl.Series(passes[order]).cast(both.schema["iteration"]))
    return {
        "rows": rows,
        "arrivals": PacedUsers(groups=(PacedGroup(users=users, period_s=period_s),)),
        "due": due,
    } | changes


def pace(users: int, period_s: float) -> PacedUsers:
    return PacedUsers(groups=(PacedGroup(users=users, period_s=period_s),))


BY_PASSES = {"facts": {"results": "passes"}, "rows": made.closed_rows(users=1, service_ns=S)}
"""Requests that only keep watch: a few, with results of their own from whole passes."""


def storing(
    rise: float,
    each: int = 1,
    bad: int = 0,
    status: int = 200,
    error: str = "status",
    filled: Stored | None = None,
) -> dict[str, Any]:
    """4800 requests that leave so many rows each, ``bad`` of them failed; a table that rises."""
    spec = TrialSpec(
        chapter="synthetic",
        experiment="synthetic",
        profile="smoke",
        treatment={},
        replicate=0,
        deployment=Deployment(roles=(JvmRole(role="app"),)),
        load=LoadProfile(
            locustfile="synthetic.py",
            arrivals=ClosedLoop(users=4),
            phases=Phases(warmup_s=2.0, measured_s=10.0),
        ),
        probe_interval_s=60.0,
        stores={
            "thing": filled or ("detail" if each == 1 else Stored(request="detail", each=each))
        },
    )
    rows = with_errors(bad, error, status) if bad else made.closed_rows()
    return {"spec": spec, "rows": rows, "counters": {("rows", "rows_stored/thing"): rise}}


def resized(at_s: float) -> dict[str, Any]:
    """A drifting trial whose host got another limit."""
    spec = exhausted()["spec"].model_copy(
        update={
            "disturbances": (
                Disturbance(
                    at_s=at_s, action="resize", node="app-1", limits=HostLimits(cpu_limit=1.0)
                ),
            )
        }
    )
    return {"rows": drifting(), "spec": spec}


def balanced(good: float, bad_5xx: float = 0.0, *, bad: int = 0, status: int = 0) -> dict[str, Any]:
    """A balancer that counted so many answers of 2xx and 5xx, and requests that failed so."""
    said = {2: good, 3: 0.0, 4: 0.0, 5: bad_5xx}
    return {
        "deployment": Deployment(roles=(JvmRole(role="app", nodes=2), BalancerRole())),
        "rows": with_errors(bad, "status", status) if bad else made.closed_rows(),
        "counters": {
            ("balancer", f"balancer_answers_{kind}xx/clients"): count
            for kind, count in said.items()
        },
    }


def misdirected(number: int) -> pl.DataFrame:
    """Return good requests, so many of which were expected answers of a node not meant."""
    at = pl.int_range(pl.len())
    return shifted(status=pl.when(at < number).then(421).otherwise(200).cast(pl.UInt16))


def growing() -> dict[str, Any]:
    intended = constant()
    latency = 10_000_000 + np.maximum(0, intended - MEASURED) // 5
    return opened(rows=made.open_rows(intended, latency))


def slowed(factor: np.ndarray) -> pl.DataFrame:
    """Return the requests of four users; each takes 10 ms times the factor of its 4 ms."""
    starts, services, users = [], [], []
    for user in range(4):
        at = BEGIN + user * 2_500_000
        while at < END:
            service = int(10_000_000 * factor[(at - BEGIN) // 4_000_000])
            starts.append(at)
            services.append(service)
            users.append(user)
            at += service
    start = np.array(starts)
    return made.rows_from(start, start, np.array(services), np.array(users))


def noise() -> np.ndarray:
    return np.random.Generator(np.random.PCG64(5)).normal(1.0, 0.02, 3000)


def drifting() -> pl.DataFrame:
    """Throughput falls by a third over the measured phase."""
    return slowed(noise() * np.linspace(1.0, 1.5, 3000))


def wandering() -> pl.DataFrame:
    """The level wanders by a third without a direction."""
    random = np.random.Generator(np.random.PCG64(1))
    walk = np.zeros(3000)
    for at, step in enumerate(random.normal(0, 0.008, 2999), start=1):
        walk[at] = 0.998 * walk[at - 1] + step
    return slowed(np.exp(walk))


def warming_up() -> pl.DataFrame:
    """The first two measured seconds are still slow, and ever less so."""
    return slowed(noise() * (1 + 1.5 * np.exp(-np.arange(3000) / 250)))


def old_generation(rise: float) -> dict[tuple[str, str], float]:
    """The old generation of a JVM, 1000 bytes before the trial; its capacity is 2000 bytes."""
    return {
        ("jvm/app-1", "space_used_bytes/old"): rise,
        ("jvm/app-1", "space_capacity_bytes/old"): 1000.0,
    }


def emptied(times: int, jvms: int = 1) -> dict[str, Any]:
    """Old generations that fill by 900 of 1000 bytes and are emptied so often while measured.

    The last one is fuller after the trial than before; a further JVM is never emptied.
    """
    course = [(-0.5, 50.0), *((2.5 + k / 2, 950.0 if k % 2 else 50.0) for k in range(2 * times))]
    course += [(9.0, 50.0), (12.5, 600.0)]
    rows = [(at_s, "jvm/app-1", "space_used_bytes/old", used) for at_s, used in course]
    for number in range(1, jvms + 1):
        source = f"jvm/app-{number}"
        rows += [(at_s, source, "space_capacity_bytes/old", 1000.0) for at_s, _ in course]
        if number > 1:
            rows += [(at_s, source, "space_used_bytes/old", 50.0) for at_s, _ in course]
    return {"readings": made.readings_of(*rows)}


def calibrated(per_s: float) -> dict[str, Any]:
    """A bundle that knows its ceiling; its one worker makes 400 requests a second."""
    return {"execution_facts": {"ceiling_per_s": per_s}}


def read_at(
    every_ns: int, *, without: tuple[int, int] = (0, 0), source: str = "host"
) -> pl.DataFrame:
    """Return readings of one source over the trial, none between two times after its begin."""
    times = np.arange(BEGIN, END + S, every_ns, dtype=np.int64)
    there = (times < BEGIN + without[0]) | (times >= BEGIN + without[1])
    kinds = {name: getattr(pl, kind) for name, kind in made.COUNTER_COLUMNS.items()}
    rows = [(int(t), "local", source, "load_1min", 0.5) for t in times[there]]
    return pl.DataFrame(rows, schema=kinds, orient="row")


def done_to(node: str, action: str = "restart") -> tuple[StackEvent, ...]:
    begin_ns = MEASURED + 2 * S
    return (StackEvent(action=action, node=node, begin_ns=begin_ns, end_ns=begin_ns + 4 * S),)


def exhausted(*nodes: str, may: str = "") -> dict[str, Any]:
    """Nodes that ran out of memory, of a design that lets one of them."""
    events = tuple(
        done_to(node, "out-of-memory")[0].model_copy(update={"heap_mib": 64, "detail": "no heap"})
        for node in nodes
    )
    spec = TrialSpec(
        chapter="synthetic",
        experiment="synthetic",
        profile="smoke",
        treatment={},
        replicate=0,
        deployment=Deployment(roles=(JvmRole(role="app", nodes=2),)),
        load=LoadProfile(
            locustfile="synthetic.py",
            arrivals=ClosedLoop(users=4),
            phases=Phases(warmup_s=2.0, measured_s=10.0),
            cpus=(0,),
        ),
        disturbances=(Exhaustion(node=may, heaps_mib=(64, 128)),) if may else (),
        probe_interval_s=60.0,
    )
    return {"spec": spec, "events": events}


def thinking(think_s: float = 1.0, stated_s: float | None = None, **changes: Any) -> dict[str, Any]:
    """Users who pause at random between requests of 10 ms, as long as stated or not."""
    random = np.random.Generator(np.random.PCG64(7))
    starts, users = [], []
    for user in range(200):
        at_s = BEGIN / S
        while at_s < END / S:
            starts.append(round(at_s * S))
            users.append(user)
            at_s += 0.01 + think_s * random.standard_exponential()
    start = np.array(starts, dtype=np.int64)
    rows = made.rows_from(start, start, np.full(start.size, 10_000_000), np.array(users))
    arrivals = ClosedLoop(users=200, think_s=stated_s or think_s, think_random=True)
    return {"rows": rows, "arrivals": arrivals} | changes


AWAY = {"readings": pl.concat([read_at(S), read_at(S, without=(4 * S, 9 * S), source="jvm/app-1")])}
"""A node of which nothing was read for five seconds."""

PASSING: dict[str, list[dict[str, Any]]] = {
    "SB100-completed": [{}],
    "SB101-accounting": [{}, {"facts": {"issued": 4803, "dropped": 3}}],
    "SB102-clock": [{}, opened()],
    "SB103-little": [
        {},
        opened(),
        paced(),
        paced(period_s=11.0),
        {"rows": made.closed_rows(users=3), "facts": {"pauses": "between(1, 3)"}},
    ],
    "SB104-server-count": [
        {},
        {
            "rows": with_errors(5, "connect", 0),
            "counters": {("server/app-1", "requests_total"): 4797.0},
        },
        {
            "deployment": Deployment(roles=(JvmRole(role="app", nodes=2),)),
            "counters": {
                ("server/app-1", "requests_total"): 4000.0,
                ("server/app-2", "requests_total"): 800.0,
            },
        },
    ],
    "SB105-stored": [
        storing(4800.0),
        storing(4795.0, bad=10, status=0),
        storing(4790.0, bad=10, status=500),
        storing(4795.0, bad=10, status=200, error="body"),
        storing(4795.0, bad=10, status=504),
        storing(4790.0, bad=10, status=0, error="connect"),
        storing(4800.0 * 50, each=50),
        storing(4790.0 * 50, each=50, bad=10, status=503),
        storing(4790.0 * 50 + 120, each=50, bad=10, status=503),
        storing(4700.0 * 50, each=50) | {"rows": misdirected(100)},
        storing(4800.0, filled=Stored(request="other", also=("detail",))),
    ],
    "SB107-balancer-count": [
        balanced(4800.0),
        balanced(4790.0, 10.0, bad=10, status=503),
        balanced(4795.0, bad=10, status=0),
    ],
    "SB201-generator-cpu": [{}, {"cpus": (), "facts": {"cpu_s": 10.0}}],
    "SB202-generator-lag": [{}, {"facts": {"lag_p99_ms": 1.2}}],
    "SB203-own-time": [
        {},
        {"rows": made.closed_rows(gap_ns=400_000)},
        {"rows": made.closed_rows(gap_ns=400_000), "facts": {"pauses": "constant(0.0001)"}},
    ],
    "SB204-ceiling": [calibrated(1000.0), calibrated(4000.0 / 7.0)],
    "SB301-errors": [
        {},
        {"rows": with_errors(40), "allowance": Allowance(failed_share=0.01)},
        {"rows": with_errors(400, "status"), "allowance": Allowance(expected_error="status")},
    ],
    "SB302-offered": [
        opened(),
        opened(arrivals=RAMP),
        paced(),
        paced(late_ns=190_000_000, late_from=MEASURED),
    ],
    "SB303-schedule": [
        opened(due=constant()),
        paced(),
        opened(due=np.append(constant(), END + S)),
        opened(due=np.append(constant(), END - 1), facts={"dropped": 1, "issued": 1201}),
    ],
    "SB304-think": [thinking(), thinking(20.0)],
    "SB305-joined": [{"execution_facts": {JOINED_LATE: 0}}],
    "SB401-steal": [{}],
    "SB106-memory": [
        {},
        {"events": done_to("app-1")},
        exhausted(may="app-1"),
        exhausted("app-1", may="app-1"),
        exhausted("app-1", "app-1", may="app-1"),
    ],
    "SB402-swapping": [{}],
    "SB403-throttling": [
        {"counters": {("cgroup/all", "cgroup_throttled_s"): 0.1}},
        {
            "counters": {("cgroup/all", "cgroup_throttled_s"): 5.0},
            "allowance": Allowance(throttled_share=1.0),
        },
    ],
    "SB405-readings": [
        {"readings": read_at(S)},
        {"readings": read_at(S, without=(4 * S, 6 * S))},
        AWAY | {"events": done_to("app-1")},
    ],
    "SB404-wall-clock": [
        {"execution_facts": {"wall_drift_ns": 0}},
        {"execution_facts": {"wall_drift_ns": -6_000_000}},
    ],
    "SB406-host-clocks": [
        {"hosts": (made.host_run(clock_drift_ns=-6_000_000),)},
        {"hosts": (made.host_run(clock_drift_ns=9_000_000, clock_uncertainty_ns=2_000_000),)},
    ],
    "SB501-samples": [{}],
    "SB601-steady": [{}, opened(), {"rows": warming_up()}],
    "SB602-jit": [{"counters": {("jvm/app-1", "jit_code_bytes"): 40.0}}],
    "SB603-heap": [
        {"counters": old_generation(-500.0)},
        {"counters": old_generation(50.0)},
        emptied(3),
    ],
}

FAILING: dict[str, list[tuple[dict[str, Any], str]]] = {
    "SB100-completed": [
        ({"outcome": "failed"}, "failed"),
        ({"with_facts": False}, "failed"),
        ({"phases": CUT_SHORT}, "failed"),
        ({"phases": NEVER_MEASURED}, "failed"),
    ],
    "SB101-accounting": [
        ({"facts": {"issued": 4801}}, "failed"),
        ({"facts": {"strays": 1}}, "failed"),
        ({"facts": {"issued": 4801, "completed": 4801}}, "failed"),
        ({"rows": with_errors(1), "facts": {"failed": 0, "completed": 4800}}, "failed"),
    ],
    "SB102-clock": [
        ({"rows": shifted(phase=pl.lit("drain", dtype=pl.Categorical))}, "failed"),
        ({"rows": shifted(start_ns=pl.col("start_ns") - 5)}, "failed"),
        ({"rows": shifted(latency_ns=pl.col("latency_ns") + 5)}, "failed"),
    ],
    "SB103-little": [
        ({"rows": shifted(service_ns=(pl.col("service_ns") * 2))}, "failed"),
        ({"rows": made.closed_rows(users=3)}, "failed"),
        ({"rows": made.closed_rows(users=5), "facts": {"pauses": "between(1, 3)"}}, "failed"),
        (paced(arrivals=pace(21, 2.0)), "failed"),
        (paced(arrivals=pace(19, 2.0)), "failed"),
        ({"rows": made.closed_rows().filter(pl.col("start_ns") % 7 != 0).with_columns(
            start_ns=pl.col("start_ns") - S)}, "failed"),
    ],
    "SB104-server-count": [
        ({"counters": {("server/app-1", "requests_total"): 4799.0}}, "failed"),
        ({"counters": {("server/app-1", "requests_total"): 4801.0}}, "failed"),
    ],
    "SB106-memory": [
        (exhausted("app-1"), "failed"),
        (exhausted("app-1", "app-2", may="app-1"), "failed"),
    ],
    "SB105-stored": [
        (storing(4799.0), "failed"),
        (storing(4801.0), "failed"),
        (storing(4801.0, bad=10, status=0), "failed"),
        (storing(4791.0, bad=10, status=500), "failed"),
        (storing(4791.0, bad=10, status=0, error="connect"), "failed"),
        (storing(4800.0 * 50 - 1, each=50), "failed"),
        (storing(4800.0 * 50 + 1, each=50), "failed"),
        (storing(4800.0 * 50 + 1, each=50, bad=10, status=503), "failed"),
        (storing(4800.0 * 50, each=50) | {"rows": misdirected(100)}, "failed"),
    ],
    "SB107-balancer-count": [
        (balanced(4799.0), "failed"),
        (balanced(4801.0), "failed"),
        (balanced(4800.0, 1.0), "failed"),
        (balanced(4801.0, bad=10, status=0) | {"rows": made.closed_rows()}, "failed"),
    ],
    "SB201-generator-cpu": [
        ({"facts": {"cpu_s": 11.5}}, "generator-bound"),
        ({"facts": {"cpu_s": 11.5}, "cpus": (0, 1)}, "generator-bound"),
        ({"facts": {"worker_cpu_s": (11.5, 0.5)}, "cpus": (0, 1)}, "generator-bound"),
        ({"counters": {("process/generator-1", "cpu_user_s"): 10.0,
                       ("process/generator-1", "cpu_system_s"): 2.5}}, "generator-bound"),
    ],
    "SB202-generator-lag": [({"facts": {"lag_p99_ms": 1.3}}, "generator-bound")],
    "SB203-own-time": [
        ({"rows": made.closed_rows(gap_ns=1_000_000)}, "noisy"),
        ({"rows": made.closed_rows(gap_ns=5_000_000)}, "generator-bound"),
        ({"rows": made.closed_rows(gap_ns=1_000_000), "facts": {"pauses": "constant(1e-09)"}},
         "noisy"),
        ({"rows": made.closed_rows(gap_ns=9_000_000),
          "facts": {"pauses": "between(0.0005, 0.001), constant(0.001)"}}, "generator-bound"),
    ],
    "SB204-ceiling": [
        (calibrated(500.0), "noisy"),
        (calibrated(430.0), "generator-bound"),
    ],
    "SB301-errors": [
        ({"rows": with_errors(1)}, "failed"),
        ({"rows": with_errors(1), "allowance": Allowance(expected_error="status")}, "failed"),
        ({"execution_facts": {"script_errors": 3, "script_error": "KeyError in x.py"}}, "failed"),
        ({"rows": made.closed_rows().clear(), "execution_facts": {"script_errors": 3}}, "failed"),
    ],
    "SB302-offered": [
        (opened(facts={"dropped": 3, "issued": 1203}), "noisy"),
        (opened(facts={"dropped": 30, "issued": 1230}), "failed"),
        (opened(arrivals=OpenArrivals(kind="constant", rate_per_s=103.0)), "failed"),
        (opened(arrivals=OpenArrivals(kind="poisson", rate_per_s=150.0)), "failed"),
        (opened(arrivals=RAMP.model_copy(update={"end_per_s": 130.0})), "failed"),
        (growing(), "noisy"),
        (shrinking(), "noisy"),
        (paced(arrivals=pace(21, 2.0)), "failed"),
        (paced(facts={"dropped": 1, "issued": 241}), "noisy"),
        (paced(late_ns=210_000_000, late_from=MEASURED), "noisy"),
    ],
    "SB401-steal": [
        ({"counters": {("host", "core_steal_s/0"): 0.4, ("host", "core_steal_s/1"): 0.0}}, "noisy")
    ],
    "SB402-swapping": [
        ({"counters": {("host", "swap_in_bytes"): 2e6, ("host", "swap_out_bytes"): 0.0}}, "noisy")
    ],
    "SB303-schedule": [
        (opened(due=constant() + 5), "failed"),
        (paced(due=paced()["due"] + 5), "failed"),
        (opened(due=constant()[:-1], facts={"dropped": 1, "issued": 1201}), "failed"),
        (opened(due=np.append(constant(), END - 1)), "failed"),
    ],
    "SB305-joined": [({"execution_facts": {JOINED_LATE: 1}}, "noisy")],
    "SB304-think": [(thinking(1.2, 1.0), "failed"), (thinking(1.0, 1.2), "failed")],
    "SB403-throttling": [
        ({"counters": {("cgroup/all", "cgroup_throttled_s"): 0.5}}, "noisy")
    ],
    "SB405-readings": [
        ({"readings": read_at(S, without=(4 * S, 9 * S))}, "noisy"),
        (AWAY | {"events": done_to("app-2")}, "noisy"),
    ],
    "SB404-wall-clock": [({"execution_facts": {"wall_drift_ns": 8_000_000}}, "noisy")],
    "SB406-host-clocks": [
        ({"hosts": (made.host_run(), made.host_run(clock_drift_ns=8_000_000))}, "noisy")
    ],
    "SB501-samples": [({"rows": made.closed_rows(users=1, service_ns=S)}, "noisy")],
    "SB601-steady": [
        (resized(at_s=0.0), "no steady state"),
        ({"rows": drifting()}, "no steady state"),
        ({"rows": drifting(), "events": done_to("app-1", "spike")}, "no steady state"),
        ({"rows": wandering()}, "noisy"),
        ({"rows": made.closed_rows(users=1, service_ns=S)}, "noisy"),
    ],
    "SB602-jit": [({"counters": {("jvm/app-1", "jit_code_bytes"): 90.0}}, "noisy")],
    "SB603-heap": [
        ({"counters": old_generation(250.0)}, "noisy"),
        (emptied(2), "noisy"),
        (emptied(3, jvms=2), "noisy"),
    ],
}  # fmt: skip

NOT_APPLICABLE: dict[str, list[dict[str, Any]]] = {
    "SB101-accounting": [{"with_facts": False}, {"with_requests": False}],
    "SB102-clock": [{"with_requests": False}, {"rows": made.closed_rows().clear()}],
    "SB103-little": [{"with_requests": False}, {"phases": NEVER_MEASURED}],
    "SB104-server-count": [
        {"counters": {}},
        {"deployment": NULLSERVER},
        {"deployment": Deployment(roles=(JvmRole(role="app", nodes=2),))},
        {"counters": {("server/app-1", "requests_total"): -10.0}},
        {"counters": {("server/app-1", "requests_total"): 10.0}, "events": done_to("app-1")},
        exhausted("app-1", may="app-1"),
    ],
    "SB106-memory": [{"deployment": Deployment(roles=(DatabaseRole(),))}],
    "SB105-stored": [
        {},
        storing(0.0) | {"counters": {}},
        storing(0.0) | {"rows": made.closed_rows().clear()},
    ],
    "SB107-balancer-count": [
        {},
        balanced(4800.0) | {"counters": {("balancer", "balancer_sessions/all"): 1.0}},
        balanced(4800.0) | {"with_requests": False},
    ],
    "SB201-generator-cpu": [{"with_facts": False}, {"facts": {"wall_s": 0.0}}],
    "SB202-generator-lag": [{"with_facts": False}, {"rows": made.closed_rows(1, S)}],
    "SB203-own-time": [
        opened(),
        paced(),
        {"arrivals": ClosedLoop(users=4, think_s=1.0)},
        {"rows": made.closed_rows(gap_ns=1_000_000), "facts": {"pauses": "constant(0.001)"}},
        {"rows": made.closed_rows(gap_ns=50_000_000), "facts": {"pauses": "Reader.wait_time"}},
        {
            "rows": made.closed_rows(gap_ns=50_000_000),
            "facts": {"pauses": "constant(0.001), constant_pacing(1)"},
        },
    ],
    "SB204-ceiling": [{}, calibrated(0.0), calibrated(1000.0) | {"with_requests": False}],
    "SB301-errors": [{"with_requests": False}, {"rows": made.closed_rows().clear()}],
    "SB302-offered": [{}, opened(with_facts=False)],
    "SB401-steal": [{"counters": {}}, {"phases": NEVER_MEASURED}],
    "SB402-swapping": [{"counters": {}}, {"counters": {("host", "swap_in_bytes"): 0.0}}],
    "SB303-schedule": [{}, opened(), opened(due=constant(), with_facts=False)],
    "SB305-joined": [
        {},
        {"execution_facts": {JOINED_LATE: 1}, "phases": NEVER_MEASURED},
        {"execution_facts": {JOINED_LATE: 1}, "phases": made.PHASES[1:]},
    ],
    "SB304-think": [
        {},
        opened(),
        {"arrivals": ClosedLoop(users=4, think_s=1.0)},
        thinking(with_requests=False),
        thinking(phases=NEVER_MEASURED),
    ],
    "SB403-throttling": [{}, {"phases": NEVER_MEASURED}],
    "SB405-readings": [{"phases": NEVER_MEASURED}],
    "SB404-wall-clock": [
        {"execution_facts": {}},
        {"execution_facts": {"wall_drift_ns": 0}, "phases": ()},
    ],
    "SB406-host-clocks": [{}, {"hosts": (made.host_run(),), "phases": ()}],
    "SB501-samples": [{"with_requests": False}, BY_PASSES],
    "SB601-steady": [
        BY_PASSES,
        {"with_requests": False},
        {"phases": NEVER_MEASURED},
        {"rows": drifting(), "events": done_to("app-1")},
        {"rows": drifting(), "events": done_to("app-1", "hang")},
        {"rows": drifting(), "events": done_to("app-1", "stop")},
        opened(arrivals=RAMP),
        resized(at_s=5.0),
    ],
    "SB602-jit": [
        exhausted(may="app-1")
        | {"counters": {("jvm/app-1", "jit_code_bytes"): 90.0}, "facts": {"results": "passes"}},
        {"counters": {("jvm/app-1", "jit_code_bytes"): 90.0}, "events": done_to("app-1", "kill")},
        {},
        {"counters": {("jvm/app-1", "jit_code_bytes"): -1000.0}},
    ],
    "SB603-heap": [
        {},
        exhausted(may="app-1") | {"counters": old_generation(900.0)},
        {"counters": {("jvm/app-1", "space_used_bytes/old"): 1.0}},
    ],
}

ALWAYS_APPLIES = {"SB100-completed"}


def _cases(table: dict[str, list[Any]]) -> list[Any]:
    return [
        pytest.param(rule, case, id=f"{rule}-{number}")
        for rule, cases in table.items()
        for number, case in enumerate(cases)
    ]


def _find(rule: str, bundle: Any) -> Finding:
    return BY_ID[rule](bundle)


def test_every_rule_has_cases() -> None:
    """A new rule is tested with a passing, a failing and a not-applicable bundle."""
    assert set(BY_ID) == set(PASSING) == set(FAILING)
    assert set(BY_ID) == set(NOT_APPLICABLE) | ALWAYS_APPLIES


@pytest.mark.parametrize(("rule", "case"), _cases(PASSING))
def test_pass(rule: str, case: dict[str, Any], make_bundle: Any) -> None:
    """A good bundle passes and keeps its verdict."""
    finding = _find(rule, make_bundle(**case))
    assert (finding.passed, finding.verdict) == (True, "valid"), finding.message


@pytest.mark.parametrize(("rule", "case"), _cases(FAILING))
def test_fail(rule: str, case: tuple[dict[str, Any], str], make_bundle: Any) -> None:
    """A bundle with the fault gets the verdict that the rule announces, with numbers."""
    changes, verdict = case
    bundle = make_bundle(**changes)
    finding = _find(rule, bundle)
    assert (finding.passed, finding.verdict) == (False, verdict), finding.message
    assert finding in judge(bundle).failed()
    assert all(np.isfinite(list(finding.numbers.values())))


def test_a_node_that_ran_out_of_memory_is_told_with_its_heap(make_bundle: Any) -> None:
    """Which node, when, with which heap, and what the JVM said of it; or that it held out."""
    unexpected = _find("SB106-memory", make_bundle(**exhausted("app-1")))
    assert unexpected.message == (
        "app-1 ran out of memory with a heap of 64 MiB, 2.0 s into the measured phase (no heap)"
    )
    came = _find("SB106-memory", make_bundle(**exhausted("app-1", may="app-1")))
    assert came.message == f"as the design lets it: {unexpected.message}"
    did_not = _find("SB106-memory", make_bundle(**exhausted(may="app-1")))
    assert did_not.message == "app-1 could run out of memory and did not"


@pytest.mark.parametrize(("rule", "case"), _cases(NOT_APPLICABLE))
def test_not_applicable(rule: str, case: dict[str, Any], make_bundle: Any) -> None:
    """Where something is missing the rule says so and neither passes nor fails."""
    finding = _find(rule, make_bundle(**case))
    assert (finding.passed, finding.verdict) == (None, "valid"), finding.message
    assert finding.message.startswith("does not apply: ")


def test_good_trials_are_valid(make_bundle: Any) -> None:
    """Synthetic trials without a fault pass every rule that applies."""
    for case in ({}, opened(), paced(period_s=0.5)):
        judgement = judge(make_bundle(**case))
        assert (judgement.verdict, judgement.failed()) == ("valid", ())
        assert [f.rule for f in judgement.findings] == [r.id for r in RULES]


def test_worst_verdict_wins(make_bundle: Any) -> None:
    """A trial that is noisy, generator-bound and failed is failed."""
    noisy = {("host", "core_steal_s/0"): 5.0}
    bound = {"cpu_s": 12.1}
    assert judge(make_bundle(counters=noisy)).verdict == "noisy"
    assert judge(make_bundle(counters=noisy, facts=bound)).verdict == "generator-bound"
    both = make_bundle(counters=noisy, facts=bound, rows=with_errors(1))
    assert judge(both).verdict == "failed"


def test_rules_are_documented() -> None:
    """A page can be made from the rules: unique ids, and each text says something."""
    assert len(BY_ID) == len(RULES)
    for rule in RULES:
        assert rule.id.startswith("SB") and rule.verdict != "valid"
        assert min(len(rule.title), len(rule.meaning), len(rule.remedy)) > 15
        assert (rule.function.__doc__ or "").endswith(".")


def test_batches_do_not_count_as_own_time(make_bundle: Any) -> None:
    """Users that wait for each other at the end of a shared pass are not the generator's cost."""
    rows = made.closed_rows()
    passes = (rows["start_ns"] - BEGIN) // S
    late = rows.with_columns(iteration=passes.cast(pl.UInt32)).filter(
        (pl.col("start_ns") - BEGIN) % S < 0.8 * S
    )
    finding = _find("SB203-own-time", make_bundle(rows=late))
    assert finding.passed is True, finding.message


def test_results_count_from_the_end_of_a_warm_up_that_reached_into_the_measured_phase(
    make_bundle: Any,
) -> None:
    """The crop lies after the slow start, and the requests before it make no results."""
    bundle = make_bundle(rows=warming_up())
    found = steady_of(bundle)
    assert MEASURED + S // 4 < found.crop_ns <= MEASURED + 5 * S
    rows = counted(bundle)
    assert int(rows["intended_ns"].min()) >= found.crop_ns
    assert 0 < rows.height < bundle.measured.height
    whole = make_bundle()
    assert steady_of(whole).crop_ns == MEASURED
    assert counted(whole).height == whole.measured.height


@pytest.mark.parametrize("faulty", [False, True])
def test_threads_find_what_one_finds(make_bundle: Any, monkeypatch: Any, faulty: bool) -> None:
    """Rules asked from many threads at once: the same findings, in the same order."""
    case = {"rows": with_errors(1), "with_facts": False} if faulty else opened()
    bundle = make_bundle(**case)
    plain = judge(bundle)
    monkeypatch.setattr("sizebook.store.asking._threads_for", lambda _: 8)
    for _ in range(5):
        monkeypatch.setattr("sizebook.checks.steady._KNOWN", Once())
        assert judge(open_bundle(bundle.path)) == plain
    gone = make_bundle(with_requests=False)
    assert judge(gone).findings == tuple(rule(gone) for rule in RULES)
    assert {f.passed for f in judge(gone).findings} > {None}


def test_a_core_that_generator_and_stack_share_is_told(tmp_path):
    """It changes no verdict; on a machine with cores enough there is no such fact."""
    shared = {"execution_facts": {SHARED_CORES: "0, 4"}}
    finding = BY_ID["SB201-generator-cpu"](made.write_synthetic(tmp_path, "shared", **shared))
    assert finding.passed and "CPUs 0, 4 are siblings of one core" in finding.message
    plain = BY_ID["SB201-generator-cpu"](made.write_synthetic(tmp_path, "plain"))
    assert "siblings" not in plain.message
