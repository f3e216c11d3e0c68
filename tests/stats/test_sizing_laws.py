"""Laws of the calculator, for models, questions and offers that a search makes up."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sizebook.stats.sizing import (
    MIB,
    Demanded,
    Domain,
    Heap,
    Offer,
    Response,
    SizingModel,
    candidates,
    carried,
    course,
    predict,
    prepare,
    size,
)

SHARE = st.floats(0.01, 1.0)
MORE = st.floats(1.0, 5.0)


@st.composite
def models(draw: st.DrawFn, least_node_cost: float = 1.0) -> SizingModel:
    """Draw a model of any form that is fitted, measured with up to four nodes."""
    capacity = draw(st.floats(10.0, 5000.0))
    low = draw(st.floats(0.1, 1.0))
    high = low * draw(st.floats(1.5, 16.0))
    waits = draw(st.booleans())
    return SizingModel(
        name="drawn",
        response=Response(
            capacity_per_s=capacity,
            base_s=draw(st.floats(0.0, 0.05)),
            work_s=draw(st.floats(0.1, 1.0)) / capacity,
            wait_s=draw(st.floats(0.1, 2.0)) / capacity if waits else 0.0,
            power=draw(st.floats(1.0, 6.0)),
            exponent=draw(st.sampled_from([0.0, 1.0])),
            node_cost=draw(st.floats(least_node_cost, 2.0)),
        ),
        tail=(draw(st.floats(1.0, 4.0)), draw(st.floats(0.8, 1.2))),
        bands={"mean": 1.3, "p95": 1.6, "rate": 1.1},
        level=0.9,
        domain=Domain(
            cores=(low, high),
            nodes=tuple(range(1, draw(st.integers(1, 4)) + 1)),
            rate_per_s=(1.0, capacity * high * draw(st.floats(0.5, 1.5))),
            users=(1.0, 1e4),
            think_s=(0.0, None),
            response_s=(1e-4, 10.0),
        ),
        heap=Heap(100 * MIB, 200 * MIB, 1e-5, 5e-6, 2e-5, 0.05, 1.5)
        if draw(st.booleans())
        else None,
    )


@st.composite
def questions(draw: st.DrawFn, model: SizingModel) -> Demanded:
    """Draw a question of a load from little to beyond what the model was measured with."""
    rate = draw(SHARE) * model.domain.rate_per_s[1]
    users = draw(st.booleans())
    think_s = draw(st.floats(0.0, 20.0)) if users else 0.0
    fastest = model.response.base_s + model.response.work_s
    return Demanded(
        draw(st.sampled_from(["mean", "p95"])),
        draw(st.floats(0.5, 50.0)) * fastest,
        users=max(1.0, rate * (think_s + fastest)) if users else None,
        think_s=think_s,
        rate_per_s=None if users else rate,
        spare_nodes=draw(st.integers(0, 2)),
        growth=draw(st.floats(0.0, 1.0)),
        years=draw(st.floats(0.0, 5.0)),
        headroom=draw(st.floats(0.0, 1.0)),
        ceiling=draw(st.none() | st.floats(0.1, 0.99)),
        cpu_worth=draw(st.floats(0.3, 1.5)),
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[SizingModel, Demanded]:
    """Draw a model and a question to it."""
    model = draw(models())
    return model, draw(questions(model))


OFFERS = st.builds(
    Offer,
    cpus=st.lists(st.floats(0.05, 8.0), min_size=1, max_size=4).map(tuple),
    memory_gib=st.lists(st.floats(0.1, 4.0), max_size=3).map(tuple),
    price_per_cpu=st.floats(0.0, 10.0),
    price_per_gib=st.floats(0.0, 10.0),
    price_per_node=st.floats(0.0, 10.0),
    beside_heap_mib=st.just(220.0),
)


def needed(model: SizingModel, asked: Demanded) -> tuple[float, ...]:
    """Return CPUs and both ends of their interval; infinite where more are needed than measured."""
    found = size(model, asked)
    every = (found.cores, found.cores_low, found.cores_high)
    return tuple(math.inf if one is None else one for one in every)


def cheapest(model: SizingModel, asked: Demanded, offer: Offer) -> float:
    """Return the price of the best candidate, or its CPUs without prices; infinite if none fits."""
    best = candidates(model, asked, offer)[0]
    if best.rejected is not None:
        return math.inf
    return best.total_cpus if best.price is None else best.price


def harder(asked: Demanded, factor: float) -> dict[str, Demanded]:
    """Return the question made harder in each of the ways that there are."""
    ceiling = 1.0 if asked.ceiling is None else asked.ceiling
    return {
        "load": asked.with_amount(asked.amount * factor),
        "criterion": replace(asked, limit_s=asked.limit_s / factor),
        "growth": replace(asked, growth=asked.growth + factor - 1),
        "later": replace(asked, years=asked.years * factor),
        "headroom": replace(asked, headroom=asked.headroom + factor - 1),
        "utilization": replace(asked, ceiling=0.99 * ceiling / factor),
        "failures": replace(asked, spare_nodes=asked.spare_nodes + 1),
        "weaker CPUs": replace(asked, cpu_worth=asked.cpu_worth / factor),
    }


@pytest.mark.parametrize("way", harder(Demanded("mean", 1.0, users=1.0), 2.0))
@given(case=cases(), factor=MORE)
def test_a_harder_question_never_needs_fewer_cpus(way, case, factor):
    """Nor do the ends of the interval fall; a search ends within a billionth of a CPU."""
    model, asked = case
    before, after = needed(model, asked), needed(model, harder(asked, factor)[way])
    assert all(new >= old * (1 - 1e-9) for old, new in zip(before, after, strict=True))


@pytest.mark.parametrize("way", harder(Demanded("mean", 1.0, users=1.0), 2.0))
@given(case=cases(), offer=OFFERS, factor=MORE)
def test_a_harder_question_is_never_cheaper(way, case, offer, factor):
    """Of the candidates the best costs at least as much, or there is none any more."""
    model, asked = case
    after = cheapest(model, harder(asked, factor)[way], offer)
    assert after >= cheapest(model, asked, offer) * (1 - 1e-12)


@given(case=cases(), cpus=st.floats(0.1, 4.0))
def test_more_nodes_never_carry_less(case, cpus):
    """From two nodes on; a second node carries less only if the model says what it costs."""
    model, asked = prepare(*case)
    most = model.domain.cores[1]
    carry = [
        carried(model, asked, min(nodes * cpus, most), nodes).amount
        for nodes in range(1, max(model.domain.nodes) + 1)
    ]
    assert all(more >= less * (1 - 1e-9) for less, more in pairwise(carry[1:]))
    if len(carry) > 1 and model.response.node_cost == 1:
        assert carry[1] >= carry[0] * (1 - 1e-9)


@given(case=cases(), share=SHARE, nodes=st.integers(1, 3))
def test_what_is_carried_keeps_everything(case, share, nodes):
    """The load that is named keeps criterion, ceiling and domain by the prediction itself."""
    model, asked = prepare(*case)
    cores = max(model.domain.cores[0], share * model.domain.cores[1])
    most = carried(model, asked, cores, nodes).amount
    assume(most > 1e-6)
    found = predict(model, asked.with_amount(most), cores, nodes)
    kept = found.mean_s if asked.statistic == "mean" else found.p95_s
    full = model.response.bearable_per_s(cores, nodes)
    assert kept <= asked.limit_s * (1 + 1e-6)
    assert found.rate_per_s <= (1 if asked.ceiling is None else asked.ceiling) * full * (1 + 1e-6)
    assert found.rate_per_s <= model.domain.rate_per_s[1] * (1 + 1e-6)


@given(case=cases(), offer=OFFERS)
def test_a_candidate_that_fits_keeps_what_is_asked(case, offer):
    """With its failed nodes gone; the others say what they miss, and the best come first."""
    model, asked = prepare(*case)
    found = candidates(*case, offer)
    fits = [one for one in found if one.rejected is None]
    assert list(found[: len(fits)]) == fits
    prices = [one.total_cpus if one.price is None else one.price for one in fits]
    assert prices == sorted(prices)
    for one in fits:
        left = one.nodes - asked.spare_nodes
        assert 1 <= left <= one.nodes <= max(model.domain.nodes)
        assert model.domain.cores[0] <= one.counted_cpus <= left * one.cpus
        kept = one.predicted.mean_s if asked.statistic == "mean" else one.predicted.p95_s
        assert kept <= asked.limit_s * (1 + 1e-6)
        assert asked.ceiling is None or one.utilization <= asked.ceiling * (1 + 1e-6)
        assert one.carries >= asked.amount
        if one.heap_mib is not None and one.memory_gib is not None:
            assert 1024 * one.memory_gib >= (one.heap_mib + 220) * (1 - 1e-12)
    for one in found[len(fits) :]:
        if one.rejected in ("response", "utilization", "measured"):
            assert one.carries < asked.amount


@given(case=cases(), share=SHARE)
def test_the_curve_rises(case, share):
    """Response and throughput never fall as the load rises; the band holds the line."""
    model, asked = case
    cores = max(model.domain.cores[0], share * model.domain.cores[1])
    points = course(model, asked, cores, 1, 12)
    assert len(points) == 12
    for before, after in pairwise(points):
        assert after.amount > before.amount
        assert after.seconds >= before.seconds * (1 - 1e-6)
        assert after.rate_per_s >= before.rate_per_s * (1 - 1e-9)
    for one in points:
        assert one.low_s <= one.seconds <= one.high_s
        assert one.utilization <= 1 + 1e-9 or math.isinf(one.seconds)


@given(case=cases(), worth=st.floats(0.2, 3.0))
def test_a_factor_of_cpus_is_no_more_than_a_unit(case, worth):
    """CPUs that do so much of a measured one are needed in that proportion."""
    model, asked = case
    plain = size(model, replace(asked, cpu_worth=1.0)).cores
    found = size(model, replace(asked, cpu_worth=worth)).cores
    assert (plain is None) == (found is None)
    if plain is not None:
        assert found == pytest.approx(plain / worth, rel=1e-6)
