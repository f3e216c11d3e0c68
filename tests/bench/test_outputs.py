"""What the peers printed once, read."""

from pathlib import Path

import pytest

from bench import outputs
from sizebook.model.errors import TrialError

DATA = Path(__file__).parent / "data"


def text(name: str) -> str:
    """Return a recorded output."""
    return (DATA / name).read_text()


def test_wrk():
    """Rate, requests and percentiles of wrk 4.1."""
    report = outputs.read_wrk(text("wrk.txt"))
    assert (report.rate_per_s, report.requests, report.failed) == (8540.50, 17936, 0)
    assert report.latency_us == {50.0: 1070.0, 75.0: 1480.0, 90.0: 2000.0, 99.0: 3590.0}


def test_wrk2():
    """Percentiles of wrk2's distribution, which counts from the intended start."""
    report = outputs.read_wrk(text("wrk2.txt"))
    assert (report.rate_per_s, report.requests) == (1982.12, 19821)
    assert report.latency_us[50.0] == 1150.0
    assert report.latency_us[99.9] == 1_990_000.0


def test_errors_of_wrk_are_counted():
    """Sockets and statuses."""
    words = "  Socket errors: connect 1, read 2, write 0, timeout 4\n"
    words += "  Non-2xx or 3xx responses: 10\n"
    assert outputs.read_wrk(text("wrk.txt") + words).failed == 17


def test_hey():
    """Rate and requests by status; the histogram's counts are no errors."""
    report = outputs.read_hey(text("hey.txt"))
    assert (report.rate_per_s, report.requests, report.failed) == (7007.59, 7033, 0)
    words = "  [503]\t3 responses\n\nError distribution:\n  [2]\tconnection refused\n"
    assert outputs.read_hey(text("hey.txt") + words).failed == 5


def test_k6():
    """Rate, dropped iterations and percentiles of k6 1.8."""
    report = outputs.read_k6(text("k6.json"))
    assert (round(report.rate_per_s, 3), report.requests, report.failed) == (999.595, 2001, 0)
    assert report.latency_us[99.0] == 3733.046
    assert report.dropped == 0


def test_locust():
    """Rate and percentiles of the tables that Locust 2.47 prints at its end."""
    report = outputs.read_locust(text("locust.txt"))
    assert (report.rate_per_s, report.requests, report.failed) == (7325.09, 21157, 0)
    assert report.latency_us[50.0] == 1000.0
    assert report.latency_us[99.0] == 4000.0
    assert report.latency_us[99.9] == 9000.0


def test_jmeter():
    """Samples of the last two seconds: the second of warm-up before them does not count."""
    report = outputs.read_jmeter(DATA / "jmeter.csv", 2.0)
    assert (report.rate_per_s, report.requests, report.failed) == (100.0, 200, 1)


@pytest.mark.parametrize("read", [outputs.read_wrk, outputs.read_hey, outputs.read_k6])
@pytest.mark.parametrize("words", ["", "{}", "connection refused"])
def test_what_is_no_report_is_refused(read, words):
    """No rate is made up."""
    with pytest.raises(TrialError, match="cannot be read"):
        read(words)


def test_an_empty_run_of_locust_is_refused():
    """Tables without percentiles, as Locust prints them when nothing was answered."""
    with pytest.raises(TrialError):
        outputs.read_locust("  Aggregated   0   0(0.00%) |  0  0  0  0 |  0.00  0.00\n")


def test_samples_without_lines_are_refused(tmp_path):
    """A head line alone, as JMeter leaves it when no thread ran."""
    (tmp_path / "samples.csv").write_text("timeStamp,elapsed,success\n")
    with pytest.raises(TrialError):
        outputs.read_jmeter(tmp_path / "samples.csv", 1.0)
