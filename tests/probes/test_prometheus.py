"""The text format and the mapping to our metrics, on captured text and over HTTP."""

import http.server
import threading
import time
from pathlib import Path

import pytest

from sizebook.probes.base import Unavailable
from sizebook.probes.exposition import ExpositionError, read_points
from sizebook.probes.prometheus import SERIES, PrometheusProbe, Series, gather, path_for, prepare
from sizebook.probes.registry import find_counter

CAPTURED = (Path(__file__).parent / "data" / "node.prom").read_text()
"""A scrape of one app node after some 2861 requests; the many series by URI are thinned out."""
CONNECTORS = (Path(__file__).parent / "data" / "connectors.prom").read_text()
"""The connectors' series of an app node and of its back end, one after the other."""


def test_captured_text_is_mapped():
    """The captured node's numbers come out under our names, all of them registered."""
    found = dict(gather(CAPTURED, prepare(SERIES, 8080)))
    assert found["requests_total"] == 2861
    assert (found["threads_busy"], found["threads_limit"]) == (0, 50)
    assert (found["pool_limit"], found["pool_acquired_total"]) == (20, 2824)
    assert found["heap_used_bytes"] == 36581056 + 398200 + 29154736
    assert found["code_cache_used_bytes"] == 1338752 + 4763648 + 17954048
    assert found["jvm_cpu_s"] == pytest.approx(12.83)
    assert found["answers_total/200"] == 2819
    assert {find_counter(metric).source for metric in found} == {"server"}


def test_every_series_is_registered():
    """A declared series has a registered metric, with a label exactly if it is split by one."""
    for one in SERIES:
        assert find_counter(f"{one.metric}/x" if one.label else one.metric).source == "server"


def test_ways_to_the_back_end_are_told_apart():
    """Captured from an app node and its back end: each way, protocol and pool has its number."""
    found = dict(gather(CONNECTORS, prepare(SERIES, 8080)))
    told = {metric: value for metric, value in found.items() if metric.startswith("connector_")}
    assert {metric.partition("/")[0] for metric in told} == {
        one.metric for one in SERIES if one.metric.startswith("connector_")
    }
    assert [told[f"connector_calls_total/{way}"] for way in ("soap", "rpc", "logged")] == [9, 9, 9]
    assert (told["connector_opened_total/soap"], told["connector_logins_total/soap"]) == (10, 9)
    assert told["connector_opened_total/rpc"] == told["connector_logins_total/rpc"] == 5
    assert told["connector_refused_total/soap"] == 1
    assert told["connector_forces_total/logged"] == 10
    assert told["connector_branches_total/committed"] == 9
    assert (told["connector_limit/rpc"], told["connector_waiting/logged"]) == (2, 0)
    assert told["connector_rejected_total/unknown"] == 1
    assert {find_counter(metric).source for metric in told} == {"server"}


def test_other_connectors_do_not_count():
    """Requests on another port, such as scrapes, are not in the node's total; none is missing."""
    found = dict(gather(CAPTURED, prepare(SERIES, 80)))
    assert found["requests_total"] is None and found["pool_limit"] == 20


def test_not_a_number_is_missing():
    """Micrometer's NaN for a gauge without object is a missing value."""
    found = dict(gather("hikaricp_connections_active NaN\n", prepare(SERIES, 80)))
    assert found["pool_active"] is None


def test_less_than_nothing_is_missing():
    """Tomcat says -1 for its threads where each request has a virtual one of its own."""
    line = 'tomcat_threads_config_max_threads{name="http-nio-127.0.0.1-80"} -1.0\n'
    found = dict(gather(line, prepare(SERIES, 80)))
    assert found["threads_limit"] is None


def test_what_lines_mean_is_kept_between_scrapes():
    """A second scrape gives its own values; time stamps, tabs and new labels are read as ever."""
    series = prepare(
        [
            Series("x", "threads_busy"),
            Series("y", "answers_total", label="status"),
            Series("z", "pool_active", {"a": "1"}, factor=2),
        ],
        80,
    )
    texts = [
        'x 1\ny{status="200"} 5\nz{a="1"} 4\nz{a="2"} 9\nother{a="b c"} 3\n',
        'x 2\ny{status="200"} 6\ny{status="} 404"} 1\nz{a="1"} 8\nz{a="2"} 1\nother{a="b c"} 4\n',
        'x 3 1700000000\ny{status="200"}\t7\ny{status="} 404"}\t2\nz{a="1"} NaN\n',
        "x\t4\n\n",
    ]
    known = {}
    for text in [*texts, *texts]:
        assert dict(gather(text, series, known)) == dict(gather(text, series))
    assert dict(gather(texts[2], series, known)) == {
        "threads_busy": 3,
        "answers_total/200": 7,
        "answers_total/} 404": 2,
        "pool_active": None,
    }
    with pytest.raises(ExpositionError):
        list(gather("x one\n", series, known))


def test_only_wanted_series_are_asked_for():
    """The endpoint knows series without the suffix of their kind; a gauge may end like a count."""
    names = ["a_seconds_count", "a_seconds_sum", "b_total", "c_bytes"]
    wanted = "a_seconds%2Ca_seconds_count%2Cb%2Cc_bytes"
    assert path_for(names) == f"/actuator/prometheus?includedNames={wanted}"


def test_same_points_as_the_client_library():
    """The client library reads the same values from the captured text."""
    parser = pytest.importorskip("prometheus_client.parser")
    theirs = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in parser.text_string_to_metric_families(CAPTURED)
        for sample in family.samples
    }
    names = {line.split("{")[0].split(" ")[0] for line in CAPTURED.splitlines() if line[0] != "#"}
    ours = {
        (point.name, tuple(sorted(point.labels.items()))): point.value
        for point in read_points(CAPTURED, names)
    }
    assert len(ours) > 100 and ours == theirs


def test_awkward_labels():
    """Label values may hold braces, commas, blanks, quotes, backslashes and line ends."""
    line = r'x{a="1,}{ \"q\"",b="\\n\n", c = "",} 1.5e3 1700000000'
    (point,) = read_points(line, {"x"})
    assert point.labels == {"a": '1,}{ "q"', "b": "\\n\n", "c": ""}
    assert point.value == 1500
    assert [p.value for p in read_points("x +Inf\nx{} -2\ny 3\n\n# x 9\n", {"x"})] == [
        float("inf"),
        -2,
    ]


@pytest.mark.parametrize(
    "line", ["x", "x one", "x 1 2 3", 'x{a="1 2', 'x{a="1"b="2"} 1', "x{a=1} 1", "x 0x10", "x 1_0"]
)
def test_broken_lines_are_refused(line):
    """A wanted line that is not in the format is an error; an unwanted one is not looked at."""
    with pytest.raises(ExpositionError):
        list(read_points(line, {"x"}))
    assert list(read_points(line, {"y"})) == []


class Node(http.server.BaseHTTPRequestHandler):
    """A management port that answers as its class attributes say."""

    protocol_version = "HTTP/1.1"
    status, text, connections, late_s = 200, CAPTURED, 0, 0.0

    def setup(self):
        super().setup()
        Node.connections += 1

    def do_GET(self):
        time.sleep(Node.late_s)
        body = Node.text.encode()
        self.send_response(Node.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def node():
    Node.status, Node.text, Node.connections, Node.late_s = 200, CAPTURED, 0, 0.0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Node)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def probe_of(port, interval_s=1.0):
    return PrometheusProbe(
        "server/app-1",
        address="127.0.0.1",
        management_port=port,
        service_port=8080,
        interval_s=interval_s,
    )


def test_scrapes_share_a_connection(node):
    """Three scrapes use one connection and give the node's numbers."""
    probe = probe_of(node.server_port)
    probe.attach()
    for _ in range(2):
        found = {sample.metric: sample.value for sample in probe.sample()}
    probe.detach()
    assert found["requests_total"] == 2861 and Node.connections == 1


def test_bad_answers_are_missing(node):
    """An error status or text of another form is a missing reading; the next may work."""
    probe = probe_of(node.server_port)
    Node.status = 503
    with pytest.raises(Unavailable, match="status 503"):
        probe.sample()
    Node.status, Node.text = 200, "hikaricp_connections_active many\n"
    with pytest.raises(Unavailable, match="many"):
        probe.sample()
    Node.text = CAPTURED
    assert probe.sample()
    probe.detach()


def test_a_busy_node_is_waited_for_a_second_or_half_the_interval(node):
    """What is asked every six seconds may answer in three; a later answer is a missing reading."""
    Node.late_s = 1.3
    with pytest.raises(Unavailable, match="gives no counters: timed out"):
        probe_of(node.server_port).sample()
    patient = probe_of(node.server_port, interval_s=6.0)
    assert patient.sample()
    patient.detach()


def test_no_node_is_missing():
    """Nobody at the port: missing with a reason."""
    with pytest.raises(Unavailable, match="gives no counters"):
        probe_of(1).sample()
