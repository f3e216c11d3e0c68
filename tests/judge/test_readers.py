"""Every reader finds in a real or made file what its tool put there, and refuses what is none."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from bench.queueing import Server, closed, open_load
from hdrh.histogram import HdrHistogram

from bench import foreignfiles as files
from sizebook.judge import ForeignResults, judge_results, read_results
from sizebook.model.errors import UsageError

DATA = Path(__file__).parent / "data"
USERS = closed(Server(), users=5, think_s=0.05, length_s=20, seed=1, names=4)
RATE = open_load(Server(), rate_per_s=40, length_s=20, seed=2)
MS = 1_000_000


@pytest.fixture
def read(tmp_path):
    """Give the results in some bytes, in a file whose name tells nothing."""

    def put(data: bytes) -> ForeignResults:
        path = tmp_path / "results.dat"
        path.write_bytes(data)
        return read_results(path)

    return put


def lines_of(name: str) -> list[str]:
    return (DATA / name).read_text().splitlines()


def test_a_jtl_of_jmeter_in_csv() -> None:
    """Start, latency, thread and number of threads are those of its lines."""
    found = read_results(DATA / "jmeter-5.6.3.csv")
    rows = [line.split(",") for line in lines_of("jmeter-5.6.3.csv")[1:]]
    table = found.table
    assert (found.tool, found.form, found.cut, found.left_out) == ("JMeter", "JTL, CSV", "", 0)
    assert table.latency_ns.tolist() == [int(row[1]) * MS for row in rows]
    assert table.start_ns.tolist() == [int(row[0]) * MS for row in rows]
    assert table.running.tolist() == [int(row[12]) for row in rows]
    assert np.unique(table.thread).size == 3


def test_a_jtl_of_jmeter_in_xml() -> None:
    """The same facts stand in attributes."""
    text = (DATA / "jmeter-5.6.3.xml").read_text()
    found = read_results(DATA / "jmeter-5.6.3.xml")
    assert found.table.latency_ns.tolist() == [int(t) * MS for t in re.findall(r' t="(\d+)"', text)]
    assert found.table.start_ns.tolist() == [int(t) * MS for t in re.findall(r'ts="(\d+)"', text)]
    assert found.cut == ""


def test_samples_within_a_sample_are_parts_of_it(read) -> None:
    """A page counts once, and not again with each of its images."""
    data = (
        b'<?xml version="1.0"?><testResults version="1.2">'
        b'<sample t="30" ts="1700000000000" s="true" lb="page" tn="a 1-1" na="1">'
        b'<httpSample t="10" ts="1700000000000" s="true" lb="image" tn="a 1-1" na="1"/></sample>'
        b'<httpSample t="5" ts="1700000000050" s="false" lb="x" tn="a 1-1" na="1"/></testResults>'
    )
    table = read(data).table
    assert table.latency_ns.tolist() == [30 * MS, 5 * MS]
    assert table.failed.tolist() == [False, True]
    assert table.names == ("page", "x")


def test_xml_with_entities_is_refused(read) -> None:
    """Neither those of other files nor those that multiply are ever resolved."""
    text = (
        '<?xml version="1.0"?><!DOCTYPE testResults [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
        '<testResults><sample t="1" ts="1700000000000" lb="&a;"/></testResults>'
    )
    with pytest.raises(UsageError, match="declares entities"):
        read(text.encode())


def test_quoted_line_ends_stay_within_a_row(read) -> None:
    """A message of two lines, with quotes and commas in it, is one field."""
    run = closed(Server(failing=0.3), users=3, think_s=0.1, length_s=12, seed=3)
    data = files.jtl_csv(run, 3)
    assert b'"Service ""busy"",\ntry again"' in data
    found = read(data)
    assert (found.table.size, found.left_out) == (run.size, 0)
    assert int(found.table.failed.sum()) == int(run.failed.sum())


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_a_jtl_may_have_other_delimiters_and_columns(read, delimiter) -> None:
    """The header says which, in any order; other columns are passed over."""
    head = delimiter.join(["label", "elapsed", "timeStamp", "extra"])
    rows = [delimiter.join(["a", str(n), str(1_700_000_000_000 + n), "?"]) for n in range(5)]
    found = read("\n".join([head, *rows, ""]).encode())
    assert found.table.latency_ns.tolist() == [n * MS for n in range(5)]
    assert "errors are not known" in found.notes[0]


def test_a_jtl_without_a_header(read) -> None:
    """JMeter's own columns are assumed where a line has as many."""
    data = files.jtl_csv(USERS, 5).partition(b"\n")[2]
    assert read(data).table.size == USERS.size


def test_dates_as_time_stamps(read) -> None:
    """JMeter's forms of them, with and without milliseconds."""
    for stamp, ns in (
        ("2026/01/02 03:04:05.678", 1_767_323_045_678 * MS),
        ("2026-01-02 03:04:05", 1_767_323_045_000 * MS),
    ):
        found = read(f"timeStamp,elapsed,success\n{stamp},7,true\n".encode())
        assert found.table.start_ns.tolist() == [ns]


def test_time_stamps_of_ends_are_found_out(read) -> None:
    """Samples of one thread cannot overlap; taken for starts, these would."""
    run = closed(Server(servers=2), users=4, think_s=0.0, length_s=12, seed=4)
    by_start, by_end = read(files.jtl_csv(run, 4)), read(files.jtl_csv(run, 4, ends=True))
    assert by_start.notes == ()
    assert "the end of each sample" in by_end.notes[0]
    assert np.array_equal(by_start.table.start_ns, by_end.table.start_ns)


def test_a_header_within_tells_of_several_runs(read) -> None:
    """Written by a script that joined two files."""
    data = files.jtl_csv(USERS, 5)
    found = read(data + data)
    assert "comes 2 times" in found.cut
    assert found.table.size == 2 * USERS.size


def test_samples_of_k6_in_both_forms() -> None:
    """JSON lines and CSV of one run begin with the same requests; CSV has whole seconds."""
    lines, rows = (read_results(DATA / f"k6-1.8.1.{form}") for form in ("ndjson", "csv"))
    both = min(lines.table.size, rows.table.size)
    assert both >= 2
    assert lines.table.latency_ns[:both].tolist() == rows.table.latency_ns[:both].tolist()
    assert (lines.table.clock_ns, rows.table.clock_ns) == (1, 1_000_000_000)
    assert set(lines.table.running.tolist()) == {3}
    first = json.loads(next(x for x in lines_of("k6-1.8.1.ndjson") if '"Point"' in x))
    assert first["data"]["time"].endswith("39.233567705Z")
    assert (lines.table.start_ns + lines.table.latency_ns)[0] % 60_000_000_000 == 39_233_567_705


def test_dropped_iterations_tell_of_an_open_load() -> None:
    """k6 counts them where an executor has an arrival rate and too few VUs."""
    found = read_results(DATA / "k6-1.8.1-dropped.ndjson")
    every = map(json.loads, lines_of("k6-1.8.1-dropped.ndjson"))
    lines = [x for x in every if (x["metric"], x["type"]) == ("dropped_iterations", "Point")]
    assert (found.loop, found.dropped) == ("open", len(lines))
    assert len(lines) > 5


@pytest.mark.parametrize("form", ["export", "handled", "machine"])
def test_a_summary_of_k6_in_its_three_forms(form) -> None:
    """Count, length, users and percentiles, wherever they stand."""
    found = read_results(DATA / f"k6-1.8.1-{form}.json")
    row = found.totals.whole
    assert (found.tool, found.totals.users, row.failed) == ("k6", 3, 0)
    assert row.requests == {"export": 205, "handled": 209, "machine": 212}[form]
    assert found.totals.length_s == pytest.approx(4.03, abs=0.02)
    assert list(row.percentiles_ns) == [50.0, 90.0, 95.0]
    assert row.least_ns < row.percentiles_ns[50.0] < row.mean_ns < row.most_ns


@pytest.mark.parametrize("stamp", ["2026-01-02T03:04:05Z", "1767323045", "1767323045000000000"])
def test_time_stamps_of_k6_in_csv(read, stamp) -> None:
    """RFC 3339, seconds and nanoseconds, as K6_CSV_TIME_FORMAT sets it."""
    text = f"metric_name,timestamp,metric_value,status\nhttp_req_duration,{stamp},5.000000,200\n"
    table = read(text.encode()).table
    assert (table.start_ns + table.latency_ns).tolist() == [1_767_323_045_000 * MS]


def as_gatling_2(line: str) -> str:
    """Return a line as Gatling 2 wrote it: with scenario and user."""
    return line.replace("REQUEST\t", "REQUEST\tshop\t7\t").replace(
        "USER\tshop\t", "USER\tshop\t7\t"
    )


def as_gatling_3_0(line: str) -> str:
    """Return a line as Gatling 3.0 to 3.3 wrote it: with the user."""
    return line.replace("REQUEST\t", "REQUEST\t7\t").replace("USER\tshop\t", "USER\tshop\t7\t")


@pytest.mark.parametrize("older", [str, as_gatling_3_0, as_gatling_2])
def test_a_log_of_gatling_of_each_age(read, older) -> None:
    """Fields stand elsewhere; the requests are the same."""
    text = files.gatling_log(RATE, users=False).decode()
    found = read("".join(map(older, text.splitlines(keepends=True))).encode())
    assert (found.tool, found.form, found.cut) == ("Gatling", "simulation.log of 3.9.5", "")
    assert found.table.size == RATE.size
    whole = np.sort((RATE.latency_s * 1e3).astype(int)) * MS
    assert np.sort(found.table.latency_ns).tolist() == whole.tolist()


def test_the_binary_log_of_gatling_is_refused_by_name(read) -> None:
    """Version 3.12 and later."""
    with pytest.raises(UsageError, match=r"binary simulation.log of Gatling 3\.13\.1"):
        read(b"\x00\x00\x00\x00\x063.13.1\x00\x00\x00\x00\x04shop")


def test_tables_of_locust() -> None:
    """Real ones: totals, rows of names, and the requests of each second."""
    stats = read_results(DATA / "locust-2_stats.csv")
    assert stats.totals.whole.requests == 515 == sum(p.requests for p in stats.totals.parts)
    assert stats.totals.whole.percentiles_ns[95.0] == 20 * MS
    history = read_results(DATA / "locust-2_stats_history.csv")
    assert history.course.requests.sum() == history.totals.whole.requests == 455
    assert history.course.users.tolist() == [5.0] * history.course.users.size
    rows = [line.split(",") for line in lines_of("locust-2_stats_history.csv")]
    mean_ms = float(rows[2][-4]), float(rows[3][-4])
    second = (100 * mean_ms[1] - 50 * mean_ms[0]) / 50
    assert history.course.mean_ns[1] == pytest.approx(second * MS)
    assert not history.windowed
    assert read_results(DATA / "locust-2_full_history.csv").windowed


def test_a_table_of_percentiles_from_three_writers(read) -> None:
    """HdrHistogram in Python, its form in Java and C, and vegeta's plot."""
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    for value in range(1, 2001):
        histogram.record_value(value * MS)
    out = io.BytesIO()
    histogram.output_percentile_distribution(out, 1e6)
    java = out.getvalue().replace(
        b"TotalCount     =     2000.000", b"Total count    =         2000"
    )
    for data in (out.getvalue(), java):
        found = read(data)
        assert (found.spectrum.size, found.cut) == (2000, "")
        assert found.spectrum.quantile_ns(50) == pytest.approx(1000 * MS, rel=0.002)
        assert found.totals.whole.mean_ns == pytest.approx(1000.5 * MS, rel=0.001)
    vegeta = read_results(DATA / "vegeta-12.13.hgrm")
    report = read_results(DATA / "vegeta-12.13.json")
    assert vegeta.spectrum.size == report.totals.whole.requests == 200
    assert vegeta.cut == ""
    assert vegeta.totals.whole.most_ns == report.totals.whole.most_ns == 19_626_972


def test_a_cut_table_of_percentiles(read) -> None:
    """The counts of its last line and of the sum below differ, or the sum is missing."""
    data = files.hgrm(RATE.latency_s)
    assert "missing" in read(data[: len(data) // 2]).cut
    lines = data.splitlines(keepends=True)
    assert "ends at" in read(b"".join([*lines[:20], *lines[-3:]])).cut


def test_the_output_of_wrk2(read) -> None:
    """Corrected by its own word, unless it prints uncorrected latencies; with its errors."""
    data = files.wrk2(RATE, 8, 40.0)
    found = read(data)
    assert (found.tool, found.loop, found.corrected) == ("wrk2", "open", True)
    assert (found.totals.users, found.totals.length_s) == (8, 20)
    raw = b"Uncorrected Latency (measured without taking delayed starts into account)"
    changed = data.replace(b"Latency Distribution (HdrHistogram - Recorded Latency)", raw)
    assert read(changed).uncorrected
    bad = data.replace(b"Requests/sec", b"  Non-2xx or 3xx responses: 7\nRequests/sec")
    assert read(bad).totals.whole.failed == 7


def test_an_interval_log(read) -> None:
    """As many values as ended in whole seconds; tags are put together, and said."""
    data = files.hlog(USERS)
    found = read(data)
    ended = int(np.count_nonzero(USERS.start_s + USERS.latency_s < 20))
    assert found.spectrum.size == ended == found.course.requests.sum()
    assert found.spectrum.quantile_ns(50) == pytest.approx(
        float(np.median(USERS.latency_s)) * 1e9, rel=0.02
    )
    lines = data.splitlines(keepends=True)
    tagged = [*lines[:4], *(b"Tag=x," + line for line in lines[4:])]
    assert "2 tags" in read(b"".join(tagged)).notes[-1]
    broken = read(b"".join([*lines[:-1], lines[-1][:60] + b"\n"]))
    assert broken.left_out == 1


def test_reports_of_oha_and_vegeta(read) -> None:
    """Counts, percentiles and errors as the tools print them."""
    run = open_load(Server(failing=0.1), rate_per_s=40, length_s=20, seed=5)
    oha = read(files.oha(run)).totals
    assert (oha.whole.requests, oha.whole.failed) == (run.size, int(run.failed.sum()))
    assert oha.whole.percentiles_ns[99.0] == pytest.approx(np.quantile(run.latency_s, 0.99) * 1e9)
    vegeta = read_results(DATA / "vegeta-12.13.json").totals
    assert vegeta.whole.requests == 200
    assert vegeta.whole.percentiles_ns[95.0] == 10_727_009
    assert vegeta.length_s == pytest.approx(3.979786973)


def test_results_of_vegeta_one_a_line() -> None:
    """Start and latency in ns."""
    found = read_results(DATA / "vegeta-12.13.ndjson")
    first = json.loads(lines_of("vegeta-12.13.ndjson")[0])
    assert (found.tool, found.loop, found.table.size) == ("vegeta", "open", 40)
    assert found.table.latency_ns[0] == first["latency"] == 7_978_963
    assert found.table.start_ns[0] % 1_000_000_000 == 632_247_142


def test_broken_lines_are_counted_and_left_out(read) -> None:
    """Those that are no JSON, and those of other types."""
    lines = lines_of("vegeta-12.13.ndjson")
    strange = ['{"timestamp": 7}', "nonsense", '{"latency": "soon"}', "[1]", lines[3][:50]]
    found = read("\n".join([*lines[:10], *strange, *lines[10:], ""]).encode())
    assert (found.table.size, found.left_out) == (40, 5)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "an empty file"),
        (b"hello\nworld\n", "begins with 'hello'"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"PK\x03\x04", "zip"),
        (b"<html></html>", "no JTL"),
        (b'<testResults version="1.2"></testResults>', "without a sample"),
        (b'{"a": 1}', "JSON with 'a'"),
        (b'{"a": ', "ends or breaks"),
        (b"timeStamp,elapsed,label\n", "none with a time"),
        (b"timeStamp,elapsed,elapsed\n1,2,3\n", "twice"),
        (b"elapsed,timeStamp\nx,y\n", "none with a time"),
        (b"metric_name,timestamp,metric_value\nvus,1,1\n", "without http_req_duration"),
        (b"RUN\ta\tb\t1\t \t3.9.5\n", "without a request"),
        (b"Type,Name,Request Count,Failure Count\n", "without the row Aggregated"),
        (b"Timestamp,User Count,Type,Name\n", "history of 0 rows"),
        (b"Value  Percentile  TotalCount  1/(1-Percentile)\n", "without a line below"),
        (b"#[Histogram log format version 1.3]\n0.0,1.0,2.0,HISTxx\n", "without a histogram"),
        (b"\x00\x01", "begins with"),
    ],
)
def test_what_holds_no_results_is_refused(read, data, words) -> None:
    """By what is wrong with it, with what can be read and what to do."""
    with pytest.raises(UsageError) as refusal:
        read(data)
    assert words in refusal.value.found
    assert "JMeter" in refusal.value.expected and refusal.value.next_step


def test_binary_results_of_vegeta_are_refused_by_name() -> None:
    """With the command that turns them into what can be read."""
    with pytest.raises(UsageError, match="vegeta encode --to json"):
        read_results(DATA / "vegeta-12.13.bin")


def test_what_is_no_file_is_refused(tmp_path) -> None:
    """A folder, and a name of nothing."""
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(UsageError):
            read_results(path)


def test_a_mark_before_the_text_does_no_harm(read) -> None:
    """Editors of one system put one before UTF-8."""
    for data in (files.jtl_csv(USERS, 5), files.oha(USERS), files.locust_stats(USERS)):
        plain, marked = read(data), read(b"\xef\xbb\xbf" + data)
        assert judge_results(plain).case.requests == judge_results(marked).case.requests
