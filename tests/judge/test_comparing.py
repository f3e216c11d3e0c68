"""Two files compared: intervals hold what they should, and say what they cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bench.queueing import Server, closed, open_load

from bench import foreignfiles as files
from sizebook.judge import judge_results, read_results
from sizebook.judge.comparing import compare_results

DATA = Path(__file__).parent / "data"


def users(seed: int, service_s: float = 0.01) -> bytes:
    run = closed(Server(service_s=service_s), users=10, think_s=0.02, length_s=30, seed=seed)
    return files.jtl_csv(run, 10)


def test_a_file_beside_itself(judge) -> None:
    """Ratios are 1, and every interval holds it."""
    one = judge(users(1))
    found = compare_results(one, one)
    assert [each.name for each in found.figures] == ["rate", "mean", "p50", "p90", "p95", "p99",
                                                     "p99.9"][: len(found.figures)]  # fmt: skip
    for each in found.figures:
        assert each.ratio.estimate == 1.0
        assert each.ratio.excludes(1.0) is False
        assert each.words == "no difference seen"


def test_figures_are_those_of_all_requests(judge) -> None:
    """Percentiles of merged requests: to the width of a bucket those of the whole file."""
    run = open_load(Server(), rate_per_s=300, length_s=40, seed=2)
    one = judge(files.vegeta_lines(run))
    figures = {each.name: each.first for each in compare_results(one, one).figures}
    assert figures["rate"] == pytest.approx(300, rel=0.03)
    for percentile in (50, 90, 95, 99):
        expected = float(np.quantile(run.latency_s, percentile / 100)) * 1e3
        assert figures[f"p{percentile}"] == pytest.approx(expected, rel=0.02)


def test_a_slower_server_is_seen_and_an_equal_one_mostly_not(judge) -> None:
    """Of ten pairs of equal runs at most two seem to differ in the mean; 20 % always do."""
    seen = slower = 0
    first = judge(users(100))
    for seed in range(10):
        equal = compare_results(first, judge(users(200 + seed)))
        seen += {each.name: each.words for each in equal.figures}["mean"] != "no difference seen"
        worse = compare_results(first, judge(users(300 + seed, service_s=0.012)))
        slower += {each.name: each.words for each in worse.figures}["mean"] == "higher"
    assert seen <= 2
    assert slower == 10


def test_intervals_are_the_same_each_time(judge) -> None:
    """The draws have their seed."""
    pair = judge(users(1)), judge(users(2))
    assert compare_results(*pair) == compare_results(*pair)
    assert compare_results(*pair) != compare_results(*pair, seed=1)


def test_sums_have_ratios_and_no_intervals() -> None:
    """The reason stands where the interval would."""
    pair = [judge_results(read_results(DATA / f"k6-1.8.1-{f}.json")) for f in ("export", "machine")]
    found = compare_results(*pair)
    assert found.method == "none"
    for each in found.figures:
        assert each.ratio.low is None
        assert each.words == "no interval: a file has no course over time"
    assert {each.name for each in found.figures} == {"rate", "mean", "p50", "p90", "p95"}


def test_histograms_over_time_have_intervals(judge) -> None:
    """An interval log's own histograms are merged."""
    runs = [closed(Server(), users=5, think_s=0.03, length_s=40, seed=s) for s in (5, 6)]
    found = compare_results(*(judge(files.hlog(run)) for run in runs))
    assert "20 blocks of 2 s" in found.method
    median = next(each for each in found.figures if each.name == "p50")
    expected = float(np.median(runs[0].latency_s)) * 1e3
    assert median.first == pytest.approx(expected, rel=0.02)
    assert median.ratio.excludes(1.0) is False


def test_doubts_stand_beside_a_comparison(judge) -> None:
    """Different tools, files that are wrong in themselves, one run of each."""
    short = files.vegeta_lines(open_load(Server(), rate_per_s=100, length_s=8, seed=7))
    notes = compare_results(judge(users(1)), judge(short)).notes
    assert any("JMeter and vegeta measure different things" in note for note in notes)
    assert any("FR301-length" in note for note in notes)
    assert any("One run of each" in note for note in notes)
