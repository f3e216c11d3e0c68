"""Variance components: a textbook's table, closed forms, an independent solution, simulation."""

import itertools
import math

import numpy as np
import pytest

from sizebook.stats.variance import best_repetitions, sd_of_mean, variance_split

DONCASTER = [
    *(4.5924, -0.5488, 6.1605, 2.3374, 5.1873, 3.3579, 6.3092, 3.2831),
    *(7.3809, 9.2085, 13.1147, 15.2654, 12.4188, 14.3951, 8.5986, 3.4945),
    *(21.3220, 25.0426, 22.6600, 24.1283, 16.5927, 10.2129, 9.8934, 10.0203),
]
"""Doncaster and Davey, Analysis of Variance and Covariance (2007), model 2.2(i), three nested
factors of 3, 2, 2 levels with 2 replicates: mean squares 372.68, 92.67, 17.68, 6.18."""


def nested(sizes):
    """Return labels by level for a tree given as a tuple of tuples of numbers of values."""
    labels = [
        (run, process)
        for run, processes in enumerate(sizes)
        for process, values in enumerate(processes)
        for _ in range(values)
    ]
    runs, processes = np.array(labels).T
    return {"run": runs, "process": processes}


def test_textbook_table():
    """Balanced data give the components that the book's mean squares give."""
    labels = {
        "a": np.repeat([0, 1, 2], 8),
        "b": np.tile(np.repeat([0, 1], 4), 3),
        "c": np.tile(np.repeat([0, 1], 2), 6),
    }
    found = variance_split(np.exp(np.array(DONCASTER) / 1000), labels, within="s")
    squares = [372.68, 92.67, 17.68, 6.18]
    expected = [(squares[0] - squares[1]) / 8, (squares[1] - squares[2]) / 4]
    expected += [(squares[2] - squares[3]) / 2, squares[3]]
    assert [c.level for c in found.components] == ["a", "b", "c", "s"]
    assert [c.freedom for c in found.components] == [2, 3, 6, 12]
    assert [c.groups for c in found.components] == [3, 6, 12, 24]
    # The book's mean squares have two decimals.
    assert [c.variance * 1e6 for c in found.components] == pytest.approx(expected, abs=0.01)


UNBALANCED = ((3, 1, 4), (2,), (5, 2), (1, 1, 3, 2))


def by_traces(logs, labels):
    """Return the method of moments solved with projection matrices: the definition, slowly."""
    size = logs.size
    pairs = list(zip(labels["run"], labels["process"], strict=True))
    groups = [np.zeros(size), labels["run"], [pairs.index(pair) for pair in pairs], np.arange(size)]
    indicators = [np.equal.outer(np.array(g), np.array(g)).astype(float) for g in groups]
    means = [z / z.sum(axis=1, keepdims=True) for z in indicators]
    steps = [after - before for before, after in itertools.pairwise(means)]
    expected = [[np.trace(step @ z) for z in indicators[1:]] for step in steps]
    return np.linalg.solve(expected, [logs @ step @ logs for step in steps])


def test_unbalanced_agrees_with_the_definition():
    """Unequal sizes give what projection matrices and their traces give, negatives as 0."""
    random = np.random.default_rng(1)
    labels = nested(UNBALANCED)
    negative = 0
    for _ in range(20):
        logs = random.normal(0, 0.05, labels["run"].size)
        found = variance_split(np.exp(logs), labels)
        expected = by_traces(logs, labels)
        ours = [c.variance for c in found.components]
        assert ours == pytest.approx(np.maximum(expected, 0))
        said = [c.level for c in found.components if "negative" in c.reason]
        assert said == [
            c.level for c, raw in zip(found.components, expected, strict=True) if raw < 0
        ]
        negative += len(said)
    assert negative > 0


def test_components_are_recovered():
    """Planted components are found on average: run 2 %, process 4 %, window 3 %."""
    random = np.random.default_rng(2)
    labels = nested(((4, 6, 5), (3, 7), (5, 5, 5, 2), (6, 2), (4, 4, 4), (3, 5)) * 5)
    codes = np.unique(np.stack(list(labels.values())), axis=1, return_inverse=True)[1]
    found = []
    for _ in range(200):
        logs = random.normal(0, 0.02, 30)[labels["run"]] + random.normal(0, 0.04, 90)[codes]
        logs += random.normal(0, 0.03, codes.size)
        found.append([c.variance for c in variance_split(np.exp(logs), labels).components])
    means = np.sqrt(np.mean(found, axis=0))
    assert means == pytest.approx([0.02, 0.04, 0.03], rel=0.08)


def test_labels_need_be_unique_within_their_group_only():
    """Text labels and labels that repeat in every run give the same components."""
    random = np.random.default_rng(3)
    labels = nested(UNBALANCED)
    values = random.lognormal(0, 0.1, labels["run"].size)
    other = {
        "run": [f"run {x}" for x in labels["run"]],
        "process": [f"{a}/{b}" for a, b in zip(*labels.values(), strict=True)],
    }
    assert variance_split(values, labels) == variance_split(values, other)


def test_levels_that_cannot_be_told():
    """One run, one process in every run, one value in every process: each says so."""
    random = np.random.default_rng(4)
    one_run = variance_split(random.lognormal(0, 0.1, 6), nested(((3, 3),)))
    assert one_run["run"].sd_percent is None and one_run["run"].reason == "a single run"
    assert one_run["process"].freedom == 1 and one_run["window"].freedom == 4
    one_each = variance_split(random.lognormal(0, 0.1, 6), nested(((3,), (3,))))
    assert one_each["process"].sd_percent is None
    assert one_each["process"].reason.startswith("one process in every run")
    assert one_each["run"].sd_percent is not None
    values = np.array([1.0, 1.1, 0.9, 1.2])
    single = variance_split(values, nested(((1, 1), (1, 1))))
    assert single["window"].reason.startswith("one window in every process")
    logs = np.log(values).reshape(2, 2)
    assert single["process"].variance == pytest.approx(logs.var(axis=1, ddof=1).mean())


def test_no_groups_is_the_plain_spread():
    """Without a level the component is the standard deviation of the logs."""
    values = np.array([1.0, 1.1, 0.9, 1.2])
    found = variance_split(values, {})
    assert found["window"].sd_percent == pytest.approx(100 * np.log(values).std(ddof=1))


@pytest.mark.parametrize("size", [0, 1])
def test_nothing_to_split(size):
    """No value and one value have no components, and the reason says which."""
    found = variance_split(np.ones(size), {"run": np.zeros(size)})
    assert found.components == () and found.reason
    with pytest.raises(KeyError):
        found["run"]


def test_constant_values_have_no_spread():
    """Values that never vary: every component is 0."""
    found = variance_split(np.full(20, 7.0), nested(((5, 5), (5, 5))))
    assert [c.sd_percent for c in found.components] == [0.0, 0.0, 0.0]


def test_nonsense_is_refused():
    """A zero has no logarithm; labels belong to values; names of levels are distinct."""
    with pytest.raises(ValueError, match="no logarithm"):
        variance_split([1.0, 0.0], {})
    with pytest.raises(ValueError, match="1 labels of run for 2 values"):
        variance_split([1.0, 2.0], {"run": [1]})
    with pytest.raises(ValueError, match="window"):
        variance_split([1.0, 2.0], {"window": [1, 1]})


def test_best_repetitions_by_hand():
    """sqrt(cost ratio) times the ratio of SDs, rounded up, at least 1."""
    found = best_repetitions(
        {"run": 2.0, "process": 4.0, "window": 3.0}, {"run": 400, "process": 100, "window": 1}
    )
    assert found.counts == {"process": 4, "window": 8}
    assert best_repetitions({"a": 9.0, "b": 0.0}, {"a": 1, "b": 1}).counts == {"b": 1}


def test_best_repetitions_are_best():
    """Among all whole numbers none makes the mean clearly more precise for the same time."""
    sds = {"run": 2.0, "process": 3.0, "window": 6.0}
    costs = {"run": 300.0, "process": 60.0, "window": 4.0}

    def price(process, window):
        per_run = costs["run"] + process * (costs["process"] + window * costs["window"])
        return per_run * sd_of_mean(sds, {"run": 1, "process": process, "window": window}) ** 2

    found = best_repetitions(sds, costs).counts
    least = min(price(p, w) for p in range(1, 30) for w in range(1, 60))
    assert price(found["process"], found["window"]) <= 1.03 * least


def test_no_spread_outside():
    """Where processes do not differ, only windows help; the reason names them."""
    found = best_repetitions({"process": 0.0, "window": 3.0}, {"process": 9, "window": 1})
    assert found.counts is None and "process adds no spread" in found.reason


@pytest.mark.parametrize(
    ("sds", "costs"),
    [
        ({"a": 1.0}, {"a": 1}),
        ({"a": 1.0, "b": 1.0}, {"a": 1}),
        ({"a": -1.0, "b": 1}, {"a": 1, "b": 1}),
    ],
)
def test_repetitions_refuse_nonsense(sds, costs):
    """One level, costs of other levels, negative SDs."""
    with pytest.raises(ValueError, match=r"expected|negative"):
        best_repetitions(sds, costs)


def test_sd_of_the_mean_by_hand():
    """The variance over the groups of each level altogether."""
    found = sd_of_mean({"run": 2.0, "window": 3.0}, {"run": 4, "window": 5})
    assert found == pytest.approx(math.sqrt(4 / 4 + 9 / 20))
