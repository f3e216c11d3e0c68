"""The command: names are checked, tables are drawn, made-up bundles can be summarised."""

import io

import pytest
from bench.__main__ import NAMES, parse
from bench.summarise import MEASURES, summarise
from bench.synthetic import write_jmeter_csv, write_synthetic
from bench_results import make_results
from rich.console import Console

from bench import gclogs, inference, printing
from sizebook.stats.histograms import merge_intervals, read_interval_log
from sizebook.store.bundles import HISTOGRAMS


def test_names_are_checked(capsys):
    """A typing error is told with the names that there are."""
    assert parse(["truth", "--short"]).names == ["truth"]
    with pytest.raises(SystemExit):
        parse(["thruth"])
    told = capsys.readouterr().err
    assert all(name in told for name in NAMES)


@pytest.mark.parametrize(
    "part",
    ["ceiling", "truth", "summary", "statistics", "probe_cost", "gc_logs", "turns", "planted"],
)
def test_results_are_shown_whole_and_in_parts(part):
    """Every benchmark has its table; what is missing is said."""
    for results in (make_results(), make_results(**{part: None})):
        page = io.StringIO()
        printing.show(results, Console(file=page, width=160))
        assert "missing: wrk2" in page.getvalue()


def test_equal_stacks_are_shown_both_ways():
    """Each block's ratio, and their spread around the truth, which is 0."""
    page = io.StringIO()
    printing.show(make_results(), Console(file=page, width=160))
    told = page.getvalue()
    assert "60 s a side" in told
    assert "+1.0%" in told
    assert "-18.2%" in told
    assert make_results().turns.sd(make_results().turns.turns) == pytest.approx(0.01)


def test_a_planted_slowdown_is_shown_beside_none():
    """Each side's ratio, and how many choices of four blocks tell it from the first."""
    page = io.StringIO()
    printing.show(make_results(), Console(file=page, width=160))
    told = page.getvalue()
    assert "5% more work planted, 5 blocks" in told
    assert "5 of 5" in told and "0 of 5" in told


def test_errors_are_told_against_each_truth():
    """Recorded 101 of 100, with a mark if it is too much; how many are not is counted."""
    page = io.StringIO()
    printing.show(make_results(), Console(file=page, width=200))
    told = page.getvalue()
    assert "+62 !" in told
    assert "+12 " in told
    assert "open ceiling 40,000/s, closed 80,000/s" in told
    assert "the law alone 3 of 3, law and way 0 of 3" in told
    assert "2.00 (2.00 to 2.10)" in told


def test_a_truth_without_runs_is_shown():
    """Every share of the ceiling failed: the reasons are told."""
    truth = make_results().truth.model_copy(update={"runs": ()})
    page = io.StringIO()
    printing.show(make_results(truth=truth), Console(file=page, width=160))
    assert "not measured: at 70% of the ceiling" in page.getvalue()


@pytest.mark.parametrize("count", [1, 60_000])
def test_a_made_up_bundle_is_summarised(tmp_path, count):
    """All requests are in it, and checks judge it; with enough of them every measure is there."""
    bundle = write_synthetic(tmp_path, count)
    assert bundle.requests.height == count
    found = summarise(bundle.path)
    assert found["requests"] == count
    if count > 1:
        assert None not in found["measures"].values()
        assert set(found["measures"]) == set(MEASURES)
        median_ms = found["measures"]["latency_ns p50 None"]
        log = merge_intervals(read_interval_log(bundle.path / HISTOGRAMS))
        assert log.get_value_at_percentile(50) == pytest.approx(1e6 * median_ms, rel=0.002)


def test_samples_for_jmeter_are_the_same_requests(tmp_path):
    """One line a request and JMeter's head."""
    write_jmeter_csv(tmp_path / "samples.csv", 1000)
    lines = (tmp_path / "samples.csv").read_text().splitlines()
    assert len(lines) == 1001
    assert lines[0].startswith("timeStamp,elapsed,label,responseCode,responseMessage,threadName")


def test_simulations_have_their_seed():
    """Two runs find the same; every case is simulated."""
    first, second = (inference.simulate(5, 2, lambda _: None) for _ in range(2))
    assert first == second
    assert len(first.rates) == len(inference.cases())
    assert all(0 <= rate.share <= 1 for rate in first.rates)


@pytest.mark.parametrize("name", gclogs.LOGS)
def test_both_readers_of_gc_logs_find_the_same_pauses(tmp_path, name):
    """The kept log so often as it takes; then neither reader may miss what the other finds."""
    path = gclogs.write_log(tmp_path, name, 1_000)
    assert path.read_bytes().count(b"\n") >= 1_000
    assert gclogs.read_ours(path) == gclogs.read_by_loop(path) > 20
