"""The text format and the mapping to our metrics, on captured text and over HTTP."""

import gzip
import http.server
import re
import threading
import time
import zlib
from pathlib import Path

import pytest

from sizebook.model.notes import SEVERAL_PROCESSES
from sizebook.probes.base import Unavailable
from sizebook.probes.exposition import ExpositionError, read_points
from sizebook.probes.gathering import explain, gather
from sizebook.probes.prometheus import PrometheusProbe
from sizebook.probes.registry import find_counter
from sizebook.probes.series import SERIES, Series, matches, path_for, prepare

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
    "line",
    [
        *("x", "x one", "x 1 2 3", "x 1 soon", 'x{a="1 2', 'x{a="1"b="2"} 1', "x{a=1} 1"),
        *("x 0x10", "x 1_0", "x ١", "x 1 # of 2", 'x{a="1"} # {b="2"} 1', "x infinit"),
    ],
)
def test_broken_lines_are_refused(line):
    """A wanted line that is not in the format is an error; an unwanted one is not looked at."""
    with pytest.raises(ExpositionError):
        list(read_points(line, {"x"}))
    assert list(read_points(line, {"y"})) == []


@pytest.mark.parametrize(
    "mark", ["\u2028", "\u2029", "\x85", "\v", "\f", "\x1c", "\x1e", "\r", " 7 "]
)
def test_only_a_line_feed_ends_a_line(mark):
    """What Python takes for a line's end may be in a label; CR before LF is left aside."""
    text = f'w{{a="x{mark}v 99{mark}"}} 1\nv 2\r\n\r\n'
    assert [(p.labels, p.value) for p in read_points(text, {"w"})] == [
        ({"a": f"x{mark}v 99{mark}"}, 1)
    ]
    known = {}
    for _ in range(2):
        assert dict(gather(text, prepare([Series("v", "m")], 80), known)) == {"m": 2}


def test_exemplars_are_left_aside():
    """OpenMetrics has them after a value: with labels that change, with a time, without labels."""
    series = prepare([Series("x_total", "m"), Series("y_total", "n")], 80)
    known = {}
    for value, trace in ((5, "a"), (6, "b} 7"), (6, "b} 8")):
        plain = f'x_total {value} # {{trace="{trace}"}} 1\n'
        text = plain + f'y_total{{p=" # {{"}} {value}.0 17.5 # {{}} 1 2.5\n# EOF\n'
        assert dict(gather(text, series, known)) == {"m": value, "n": value}


def test_labels_as_servers_write_them():
    """Backslashes that nobody escaped are themselves; a name in quotes is a name."""
    (point,) = read_points(r'x{dir="C:\data\new\x", "a.b"="c" , } 1', {"x"})
    assert point.labels == {"dir": "C:\\data\new\\x", "a.b": "c"}
    assert [p.value for p in read_points("ns:x:sum 1\nx 2", {"ns:x:sum"})] == [1]


@pytest.mark.parametrize(
    "word", ["nan", "NaN", "inf", "+Inf", "-inf", "Infinity", "-INFINITY", "iNf"]
)
def test_no_finite_number_is_a_missing_value(word):
    """In every case that Go's ParseFloat takes; the other points count, and it is said."""
    series = prepare([Series("x", "told/x"), Series("y", "told/y")], 80)
    left_out = set()
    text = f'x {word}\ny{{a="1"}} {word}\ny{{a="2"}} 5\n'
    assert dict(gather(text, series, None, left_out)) == {"told/x": None, "told/y": 5}
    assert left_out == {"told/x", "told/y"}
    assert re.fullmatch(
        r"y: 1 of 2 points, left out, are (NaN|[+-]Inf)", explain(text, series["y"])
    )


def test_less_than_nothing_is_a_value_of_what_keeps_its_name():
    """A temperature or a lag; of one of our counters it is missing, with the reason."""
    text = 'x{a="1"} -442\nx{a="2"} 600\n'
    named, own = Series("x", "threads_busy"), Series("x", "told/x")
    assert dict(gather(text, prepare([own], 80))) == {"told/x": 158}
    assert dict(gather(text, prepare([named], 80))) == {"threads_busy": 600}
    assert "less than nothing" in explain(text, [named])


@pytest.mark.parametrize(
    ("pattern", "value", "same"),
    [
        ("/api/[id]", "/api/[id]", True),
        ("/api/[id]", "/api/i", False),
        ("/[lang]/*", "/[lang]/a/b", True),
        ("/[lang]/*", "/l/a", False),
        ("*-{port}", "http-{port}", True),
        ("a?c", "abc", True),
        ("a[?]c", "a?c", True),
        ("a[?]c", "abc", False),
        ("[*]", "*", True),
        ("[*]", "x", False),
        ("[[]a]", "[a]", True),
        ("/a.b+(c)|d^$\\", "/a.b+(c)|d^$\\", True),
        ("*", "two\nlines", True),
        ("", "", True),
    ],
)
def test_patterns(pattern, value, same):
    """An asterisk and a question mark stand for others, and can be quoted; all else is itself."""
    assert matches(value, pattern) is same


def test_each_missing_value_has_its_reason():
    """Never there, none that matches, parts that make no sum: each is said, with what is near."""
    text = (
        'jobs_total{path="/a"} 1\njobs_total 2\nwait_s_count 3\nwait_s{quantile="0.5"} 4\n'
        'wait_s{quantile="0.9"} 5\n'
    )
    said = {
        "job_total": "no series job_total in the answer; near it: jobs_total",
        "wait": "no series wait in the answer; near it: wait_s, wait_s_count",
        "wait_s": "wait_s has a value by quantile, of which no sum makes sense: name one in "
        "'where', such as quantile=0.5",
    }
    for name, reason in said.items():
        assert explain(text, [Series(name, f"told/{name}")]) == reason
        assert dict(gather(text, prepare([Series(name, "m")], 80))) == {"m": None}
    chosen = Series("jobs_total", "m", {"path": "/b*"})
    assert explain(text, [chosen]) == (
        "none of the 2 points of jobs_total has path=/b*; there is no path, path=/a"
    )
    median = Series("wait_s", "m", {"quantile": "0.5"})
    assert dict(gather(text, prepare([median], 80))) == {"m": 4}


class Node(http.server.BaseHTTPRequestHandler):
    """A management port that answers as its class attributes say."""

    protocol_version = "HTTP/1.1"
    status, text, connections, late_s = 200, CAPTURED, 0, 0.0
    head, asked, turns = {}, {}, []

    def setup(self):
        super().setup()
        Node.connections += 1

    def do_GET(self):
        time.sleep(Node.late_s)
        Node.asked = dict(self.headers)
        text = Node.turns[(Node.connections - 1) % len(Node.turns)] if Node.turns else Node.text
        body = text if isinstance(text, bytes) else text.encode()
        self.send_response(Node.status)
        for name, value in Node.head.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def node():
    Node.status, Node.text, Node.connections, Node.late_s = 200, CAPTURED, 0, 0.0
    Node.head, Node.asked, Node.turns = {}, {}, []
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


TOLD = (Series("jobs_total", "requests_total"), Series("queue", "told/queue"))


def told_probe_of(node):
    return PrometheusProbe(
        "server/shop-1",
        address="127.0.0.1",
        management_port=node.server_port,
        service_port=80,
        series=TOLD,
        path="/metrics",
    )


def test_the_text_format_is_asked_for(node):
    """It is named, and all else is taken rather than nothing; no encoding is asked for."""
    probe_of(node.server_port).sample()
    assert Node.asked["Accept"] == "text/plain;version=0.0.4, */*;q=0.1"
    assert Node.asked["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("kind", ["text/html", "application/openmetrics-text; version=1.0.0", ""])
def test_an_answer_is_known_by_its_lines(node, kind):
    """Many a server gives its counters as a page; OpenMetrics is read; one bad line is no page."""
    Node.head = {"Content-Type": kind} if kind else {}
    Node.text = "# HELP jobs_total <b>Jobs</b>\nother many\njobs_total 3\nqueue 1\n# EOF\n"
    assert {s.metric: s.value for s in told_probe_of(node).sample()} == {
        "requests_total": 3,
        "told/queue": 1,
    }


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"text": "<html>\n<p>log in 5</p>"}, "not the text format.*content type x/y.*<html>"),
        ({"text": '{"jobs_total": 5}'}, "not the text format.*content type x/y.*jobs_total"),
        ({"text": "Access denied\n"}, "not the text format.*Access denied"),
        ({"text": "# only a comment\n"}, "no line of it"),
        ({"text": ""}, "no line of it"),
        ({"status": 401}, "status 401, it asks for a login"),
        ({"status": 406}, "status 406, it has no text format"),
        ({"status": 307, "head": {"Location": "http://x.test/m?a=b"}}, "a redirect to path /m;"),
        ({"head": {"Content-Encoding": "br"}}, "content encoding br, which nobody asked for"),
        ({"head": {"Content-Encoding": "gzip"}}, "content encoding gzip, which is damaged"),
        (
            {"head": {"Content-Encoding": "gzip"}, "text": gzip.compress(b"queue 1\n")[:-9]},
            "ends too early",
        ),
        (
            {"head": {"Content-Encoding": "gzip"}, "text": gzip.compress(b"queue 1\n" * 2**21)},
            "more than 8 MiB",
        ),
        (
            {"head": {"Content-Type": "application/openmetrics-text"}, "text": "queue 1\n"},
            "without its end",
        ),
    ],
)
def test_an_answer_that_is_no_exposition_is_missing_and_named(node, changes, reason):
    """A login, a redirect, another format, an encoding: no reading, and the reason says what."""
    Node.head = {"Content-Type": "x/y"}
    for name, value in changes.items():
        setattr(Node, name, value)
    with pytest.raises(Unavailable, match=reason):
        told_probe_of(node).sample()


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_an_encoding_that_nobody_asked_for_is_taken_off(node, encoding):
    """Some servers pack whatever is asked for."""
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    Node.head, Node.text = {"Content-Encoding": encoding}, pack(b"queue 4\n")
    assert {s.metric: s.value for s in told_probe_of(node).sample()}["told/queue"] == 4


def test_what_was_never_told_is_named_and_what_was_at_times_counted(node):
    """Over the readings since it was attached; a node of the stack lacks by design, and is not."""
    probe = told_probe_of(node)
    probe.attach()
    for text in ("queues 1\n", "queues 1\n", "queues 1\nqueue NaN\n", "queues 1\nqueue 2\n"):
        Node.text = text
        probe.sample()
    assert probe.lacking() == {
        "requests_total": "no series jobs_total in the answer",
        "told/queue": "no series queue in the answer; near it: queues (2 of 4 readings); "
        "queue: is NaN (1 of 4 readings)",
    }
    probe.attach()
    assert probe.lacking() == {}
    Node.text = "queue 2\n"
    bare = probe_of(node.server_port)
    bare.sample()
    assert bare.lacking() == {}


@pytest.mark.parametrize(
    "turns",
    [
        ["jobs_total 20\nqueue 1\n", "jobs_total 30\nqueue 1\n"],
        [f"process_start_time_seconds {at}\njobs_total 7\nqueue 1\n" for at in (1.5, 1.75)],
    ],
)
def test_workers_that_count_for_themselves_are_found_after_the_load(node, turns):
    """On one connection one worker answers; several show that counts fall, or starts differ."""
    Node.turns = turns
    probe = told_probe_of(node)
    probe.attach()
    first, second = probe.sample(), probe.sample()
    assert first == second and probe.lacking() == {}
    probe.detach()
    assert SEVERAL_PROCESSES in probe.lacking()["requests_total"]
    assert "told/queue" not in probe.lacking()


def test_one_process_is_not_taken_for_several(node):
    """A count that grows with each look, and a gauge that falls, are no sign of it."""
    Node.turns = [f"jobs_total {50 + n}\nqueue {50 - n}\n" for n in range(20)]
    probe = told_probe_of(node)
    probe.attach()
    probe.sample()
    probe.detach()
    assert probe.lacking() == {} and Node.connections == 9
    unread = told_probe_of(node)
    unread.attach()
    unread.detach()
    assert Node.connections == 10
