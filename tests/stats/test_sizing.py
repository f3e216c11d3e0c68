"""The calculator's arithmetic: laws that its answers keep, and what it refuses to answer."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from sizebook.stats.queues import bound_rate_per_s, closed_answer, open_response_s
from sizebook.stats.sizing import (
    MIB,
    Demanded,
    Domain,
    Heap,
    Response,
    SizingModel,
    most_load,
    predict,
    size,
)

SHARING = Response(
    capacity_per_s=200.0,
    base_s=0.0,
    work_s=0.005,
    wait_s=0.005,
    power=1.0,
    exponent=1.0,
    node_cost=1.2,
)
BOUNDS = replace(SHARING, base_s=0.005, work_s=0.0, wait_s=0.0)
HEAP = Heap(
    live_bytes=100 * MIB,
    room_bytes=400 * MIB,
    pause_s=1e-4,
    pause_low_s=5e-5,
    pause_high_s=2e-4,
    overhead=0.05,
    least_ratio=1.2,
)
MODEL = SizingModel(
    name="processor sharing",
    response=SHARING,
    tail=(3.0, 1.0),
    bands={"mean": 1.25, "p95": 1.5, "rate": 1.1},
    level=0.9,
    domain=Domain(
        cores=(0.25, 2.0),
        nodes=(1, 2),
        rate_per_s=(5.0, 390.0),
        users=(10.0, 1000.0),
        think_s=(1.0, None),
        response_s=(0.004, 3.0),
    ),
    heap=HEAP,
)


def keys(found):
    return [one.key for one in found.outside]


def test_processor_sharing_is_the_open_queue():
    """At random requests the response is that of M/M/1 with a CPU's speed."""
    for cores in (0.5, 1.0, 2.0):
        for share in (0.1, 0.5, 0.95):
            rate = share * 200 * cores
            expected = open_response_s(rate, 0.005 / cores)
            assert SHARING.seconds(rate, cores, 1) == pytest.approx(expected)
    assert SHARING.seconds(200.0, 1.0, 1) == math.inf


def test_users_throughput_and_response_agree():
    """N = X (Z + R), to the last digits, from idle to far beyond what the CPUs bear."""
    users, cores = np.array([1, 20, 150, 400, 5000.0]), np.array([0.25, 0.5, 1.0, 2.0, 1.0])
    rate = SHARING.rate_of(users, 1.0, cores, 1)
    assert rate * (1.0 + SHARING.seconds(rate, cores, 1)) == pytest.approx(users, rel=1e-6)
    assert rate[-1] == pytest.approx(200.0, rel=1e-3)
    assert rate[-1] < 200.0


@pytest.mark.parametrize("users", [1.0, 37.5, 233.0, 5000.0])
@pytest.mark.parametrize("response", [SHARING, BOUNDS, replace(BOUNDS, base_s=0.0)])
def test_one_load_at_a_time_is_answered_alike(response, users):
    """The quick way for a single load is the same function, overloads and no delay at all too."""
    for think_s, cores, nodes in ((0.0, 0.7, 2), (1.0, 1.0, 1), (12.5, 0.25, 1)):
        with np.errstate(divide="ignore"):
            expected = float(response.rate_of(users, think_s, cores, nodes))
        assert response.rate_of_one(users, think_s, cores, nodes) == pytest.approx(
            expected, rel=1e-12
        )


def test_many_users_who_think_are_near_mean_value_analysis():
    """With hundreds of users the open form errs by little: they hardly notice who is waiting."""
    for users in (200, 600, 1500):
        exact = closed_answer(users, [0.005], 5.0)
        found = SHARING.rate_of(users, 5.0, 1.0, 1)
        assert float(found) == pytest.approx(exact.rate_per_s, rel=0.02)


def test_without_waiting_the_model_is_the_asymptotic_bound():
    """Throughput rises with users until the CPUs are full."""
    for users in (10, 190, 201, 220, 1000):
        expected = bound_rate_per_s(users, [0.005], 1.0)
        assert float(BOUNDS.rate_of(users, 1.0, 1.0, 1)) == pytest.approx(expected, rel=1e-9)


def test_the_slope_is_that_of_the_response():
    """As a difference quotient, with several nodes, too; infinite where nothing is answered."""
    late = replace(SHARING, power=3.0, exponent=0.5, node_cost=1.2)
    cores, nodes, step = np.array([1.0, 0.5, 2.0]), np.array([1, 1, 2]), 1e-6
    rate = 0.8 * late.capacity_per_s * cores / np.where(nodes > 1, 1.2, 1.0)
    rise = late.seconds(rate + step, cores, nodes) - late.seconds(rate - step, cores, nodes)
    assert late.slope(rate, cores, nodes) == pytest.approx(rise / (2 * step), rel=1e-5)
    assert late.slope(2 * rate, cores, nodes).tolist() == [np.inf] * 3
    assert BOUNDS.slope(rate, cores, nodes).tolist() == [0.0] * 3


def test_several_nodes_cost_what_they_cost():
    """A cost of 1.2 is a fifth more time a request, and a sixth less throughput."""
    assert SHARING.seconds(1e-9, 1.0, 2) == pytest.approx(1.2 * SHARING.seconds(1e-9, 1.0, 1))
    full = SHARING.rate_of(1e6, 1.0, 1.0, np.array([1, 2]))
    assert full[1] * 1.2 == pytest.approx(full[0], rel=1e-3)


@pytest.mark.parametrize("statistic", ["mean", "p95"])
def test_the_answer_just_keeps_the_criterion(statistic):
    """With the CPUs that are answered the criterion is met, with a thousandth less it is not."""
    for asked in (
        Demanded(statistic, 0.1, users=300, think_s=1.0),
        Demanded(statistic, 0.1, rate_per_s=150.0),
    ):
        found = size(MODEL, asked)
        at, below = (predict(MODEL, asked, found.cores * part) for part in (1.0, 0.999))
        kept = "mean_s" if statistic == "mean" else "p95_s"
        assert getattr(at, kept) == pytest.approx(0.1, rel=1e-6)
        assert getattr(below, kept) > 0.1
        assert found.cores_low < found.cores < found.cores_high
        assert found.outside == ()


def test_a_stricter_criterion_needs_more():
    """CPUs rise with load, with the criterion's strictness and with a node that may fail."""
    asked = Demanded("mean", 0.1, users=200, think_s=1.0)
    base = size(MODEL, asked).cores
    assert size(MODEL, replace(asked, users=300)).cores > base
    assert size(MODEL, replace(asked, limit_s=0.05)).cores > base
    spare = size(MODEL, replace(asked, spare_nodes=1))
    assert spare.cores > base
    assert spare.nodes == 2


def test_little_load_needs_no_fewer_cpus_than_were_measured():
    """The least of the domain is the least answer, without an interval below it."""
    found = size(MODEL, Demanded("mean", 1.0, users=10, think_s=1.0))
    assert (found.cores_low, found.cores) == (0.25, 0.25)


def test_what_the_most_cpus_cannot_bear_is_not_answered():
    """No number of CPUs, but the bound, and the load up to which it would have been answered."""
    found = size(MODEL, Demanded("mean", 0.1, users=900, think_s=1.0))
    assert found.cores is None
    assert found.heap_mib is None
    assert keys(found) == ["cores"]
    assert 350 < found.most < 450
    again = size(MODEL, Demanded("mean", 0.1, users=found.most, think_s=1.0))
    assert again.cores == pytest.approx(2.0, rel=1e-6)


def test_a_criterion_that_nothing_keeps_has_no_load():
    """An answer in less than the work takes is not to be had, by anybody."""
    found = size(MODEL, Demanded("mean", 0.001, users=10, think_s=1.0))
    assert found.cores is None
    assert found.most < 1e-9
    assert keys(found) == ["cores", "response_s"]


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        (Demanded("mean", 0.1, users=2000, think_s=10.0), "users"),
        (Demanded("mean", 0.1, users=100, think_s=0.5), "think_s"),
        (Demanded("mean", 0.1, users=100, think_s=1.0, spare_nodes=2), "nodes"),
        (Demanded("mean", 9.0, users=100, think_s=1.0), "response_s"),
        (Demanded("mean", 0.1, rate_per_s=4000.0), "cores"),
        (Demanded("mean", 0.02, users=350, think_s=1.0), "cores_high"),
    ],
)
def test_what_lies_outside_is_said(asked, key):
    """Each bound of the domain is named when a question or its answer goes beyond it."""
    assert key in keys(size(MODEL, asked))


def test_random_requests_need_trials_with_random_requests():
    """A model that was fitted to users alone says so."""
    domain = replace(MODEL.domain, think_s=(1.0, 1.0))
    found = size(replace(MODEL, domain=domain), Demanded("mean", 0.1, rate_per_s=50.0))
    assert keys(found) == ["open"]


def test_the_heap_follows_the_collectors_account():
    """Live set and pauses in closed form; never below what the collector needs for the live set."""
    heap, low, high = HEAP.bytes_for(100.0)
    assert (heap / MIB, low / MIB, high / MIB) == pytest.approx((180.0, 140.0, 260.0))
    assert HEAP.bytes_for(0.0) == pytest.approx((120 * MIB,) * 3)
    found = size(MODEL, Demanded("mean", 0.1, rate_per_s=100.0))
    assert found.heap_mib == (180.0, 140.0, 260.0)
    assert size(replace(MODEL, heap=None), Demanded("mean", 0.1, rate_per_s=1.0)).heap_mib is None


def test_the_largest_load_is_the_answers_inverse():
    """What a number of CPUs bears needs that number of CPUs."""
    for asked in (
        Demanded("p95", 0.2, users=1e6, think_s=2.0),
        Demanded("p95", 0.2, rate_per_s=1e6),
    ):
        most = most_load(MODEL, asked, 1.0, 1)
        load = {"users": most} if asked.users else {"rate_per_s": most}
        assert size(MODEL, replace(asked, **load)).cores == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(
    "wrong",
    [
        {"users": 1.0, "rate_per_s": 1.0},
        {},
        {"users": 0.0},
        {"rate_per_s": -1.0},
        {"users": 1.0, "think_s": -1.0},
    ],
)
def test_half_a_question_is_refused(wrong):
    """Users or a rate, above 0, and nobody thinks backwards."""
    with pytest.raises(ValueError, match=r"users or requests|above 0"):
        Demanded("mean", 0.1, **wrong)


def test_a_model_survives_its_record():
    """As JSON and back it is the same model, with and without a heap."""
    for model in (MODEL, replace(MODEL, heap=None)):
        record = json.loads(json.dumps(model.as_record()))
        assert SizingModel.from_record(record) == model


@pytest.mark.parametrize("damage", ["missing", "unknown", "wrong"])
def test_a_damaged_record_is_refused_in_one_line(damage):
    """A field that is missing, one too many, or one that is something else."""
    record = MODEL.as_record()
    if damage == "missing":
        del record["tail"]
    elif damage == "unknown":
        record["more"] = 1
    else:
        record["response"] = [1, 2]
    with pytest.raises(ValueError, match=r"no sizing model|unknown") as caught:
        SizingModel.from_record(record)
    assert "\n" not in str(caught.value)
