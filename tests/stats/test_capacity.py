"""The model that is chosen predicts what it has not seen, and says how well."""

from dataclasses import replace

import numpy as np
import pytest

from sizebook.stats.capacity import BASELINE, Observed, contest, predicted, sizing_model
from sizebook.stats.queues import closed_answer
from sizebook.stats.sizing import Response

THINK_S = 1.0


def observe(seconds, cores, users, nodes=None, noise=0.0, seed=1):
    """Return trials whose throughput and mean response are ``seconds(cores, users, nodes)``."""
    random = np.random.default_rng(seed)
    nodes = [1] * len(cores) if nodes is None else nodes
    exact = np.array([seconds(*row) for row in zip(cores, users, nodes, strict=True)])
    mean = exact * np.exp(random.normal(0, noise, exact.size))
    asked = np.array(users, dtype=float)
    return Observed(
        cores=np.array(cores, dtype=float),
        nodes=np.array(nodes, dtype=float),
        users=asked,
        think_s=np.full(asked.size, THINK_S),
        offered_per_s=np.full(asked.size, np.nan),
        rate_per_s=asked / (THINK_S + mean),
        mean_s=mean,
        p95_s=2.5 * mean,
        levels=tuple(zip(cores, users, nodes, strict=True)),
    )


def sweep(replicates=2):
    """Return CPUs and users of a sweep."""
    per_cpu = (40, 64, 100, 160, 205, 256, 410)
    pairs = [(c, round(c * n)) for c in (0.25, 0.5, 1.0) for n in per_cpu] * replicates
    return [c for c, _ in pairs], [n for _, n in pairs]


def queue(cores, users, _nodes):
    return closed_answer(users, [0.005 / cores], THINK_S, 0.002).response_s


def test_a_closed_queue_is_predicted_where_it_was_not_seen():
    """Trials of an exact queueing network with 3 % of noise: left-out levels within a few percent,
    far better than the baseline, and CPUs between the measured ones as well."""
    trials = observe(queue, *sweep(), noise=0.03)
    found = contest(trials)
    best = found.fitted[found.chosen]
    assert found.chosen != BASELINE
    assert best.held_out["mean"].median_error < 0.12
    assert best.held_out["mean"].median_error < found.fitted[BASELINE].held_out["mean"].median_error
    assert best.response.capacity_per_s == pytest.approx(200.0, rel=0.05)
    new = observe(queue, [0.75] * 3, [60, 120, 180])
    said = predicted(best.response, best.tail, new)
    band = best.held_out["mean"].band(0.9)
    assert np.abs(np.log(said["mean"] / new.mean_s)).max() < np.log(band)
    assert said["rate"] == pytest.approx(new.rate_per_s, rel=0.05)


def test_the_true_form_is_recovered():
    """Points of one of the forms give its parameters and are predicted without error."""
    truth = Response(180.0, 0.004, 0.0, 0.01, 3.0, 0.0, 1.0)

    def seconds(cores, users, nodes):
        return users / float(truth.rate_of(users, THINK_S, cores, nodes)) - THINK_S

    trials = observe(seconds, *sweep(1))
    best = contest(trials).fitted["late knee"]
    assert best.held_out["mean"].median_error < 1e-3
    for name in ("capacity_per_s", "base_s", "wait_s", "power"):
        assert getattr(best.response, name) == pytest.approx(getattr(truth, name), rel=0.01)


def test_last_bits_do_not_matter():
    """Another CPU's powers and logarithms differ in them; the audit there finds the same."""
    trials = observe(queue, *sweep(), noise=0.03)
    off = np.random.default_rng(2).integers(-1, 2, trials.mean_s.size)
    other = replace(trials, mean_s=trials.mean_s * (1 + off * np.finfo(float).eps))
    assert np.any(other.mean_s != trials.mean_s)
    here, there = contest(trials), contest(other)
    assert here.chosen == there.chosen
    for name, one in here.fitted.items():
        assert there.fitted[name].fit.estimates == one.fit.estimates
        for quantity, held in one.held_out.items():
            assert there.fitted[name].held_out[quantity].predicted == pytest.approx(
                held.predicted, rel=1e-13
            )


def test_several_nodes_have_their_cost():
    """Two nodes that cost a fifth more are seen to, and may be asked for."""

    def seconds(cores, users, nodes):
        cost = 1.2 if nodes > 1 else 1.0
        return closed_answer(users, [cost * 0.005 / cores], THINK_S).response_s

    cores, users = sweep()
    trials = observe(seconds, cores * 2, users * 2, [1] * len(cores) + [2] * len(cores), 0.02)
    found = contest(trials)
    best = found.fitted[found.chosen]
    assert best.response.node_cost == pytest.approx(1.2, rel=0.05)
    model = sizing_model(best, trials, None)
    assert model.domain.nodes == (1, 2)
    assert model.domain.cores == (0.25, 1.0)
    assert model.domain.think_s == (THINK_S, THINK_S)


def test_random_requests_widen_the_domain():
    """Trials with requests at random are fitted with the others; thinking then has no upper end."""
    trials = observe(queue, *sweep())
    rates = np.array([20.0, 60.0, 120.0])
    mean = 0.002 + 0.005 / (1 - rates * 0.005)
    more = Observed(
        **{
            name: np.concatenate([getattr(trials, name), values])
            for name, values in {
                "cores": np.ones(3),
                "nodes": np.ones(3),
                "users": np.full(3, np.nan),
                "think_s": np.full(3, np.nan),
                "offered_per_s": rates,
                "rate_per_s": rates,
                "mean_s": mean,
                "p95_s": 2.5 * mean,
            }.items()
        },
        levels=(*trials.levels, "a", "b", "c"),
    )
    found = contest(more)
    model = sizing_model(found.fitted[found.chosen], more, None)
    assert model.domain.think_s == (THINK_S, None)
    assert model.domain.users == (10.0, 410.0)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_trials_make_no_model(count):
    """Nothing to leave out, nothing to learn from: no choice, and no calculator."""
    cores, users = sweep(1)
    trials = observe(queue, cores[:count], users[:count])
    found = contest(trials)
    assert found.chosen is None
    assert all(sizing_model(one, trials, None) is None for one in found.fitted.values())
