"""The project's own locustfiles, against servers that answer as the reference stack does."""

from __future__ import annotations

import polars as pl
import pytest
from until import LONG_S, run_until, run_until_asked

from sizebook.model.errors import TrialError, UsageError
from sizebook.model.load import ClosedLoop, LoadProfile, OpenArrivals, Phases

DAYS = [f"2011-06-{day:02}" for day in range(1, 13)]
MILLIS = {day: 1306886400000 + index * 86_400_000 for index, day in enumerate(DAYS)}
SUMMARY = (
    "carrid,connid,fldate,airline,airportFrom,cityFrom,airportTo,cityTo,"
    "departureTime,arrivalTime,price,currency,changedAt"
)


def entry(form: str, day: str) -> str:
    if form == "rest-json":
        return f'{{"carrid":"AA","connid":"0017","fldate":"{day}","price":1}}'
    if form == "odata-json":
        date = f"\\/Date({MILLIS[day]})\\/"
        return f'{{"__metadata":{{}},"carrid":"AA","connid":"0017","fldate":"{date}"}}'
    if form == "odata-atom":
        return (
            "<entry><d:carrid>AA</d:carrid><d:connid>0017</d:connid>"
            f"<d:fldate>{day}T00:00:00</d:fldate></entry>"
        )
    return f"<flight><carrid>AA</carrid><connid>0017</connid><fldate>{day}</fldate></flight>"


def pages(form: str, mode: str) -> dict[str, tuple[str, bytes]]:
    """Return list and details in one representation, by path."""
    start, between, end = {
        "rest-json": ("[", ",", "]"),
        "odata-json": ('{"d":{"results":[', ",", "]}}"),
        "odata-atom": ("<feed>", "", "</feed>"),
    }.get(form, ("<flights>", "", "</flights>"))
    kind = {"rest-json": "application/json", "odata-json": "application/json"}.get(
        form, "application/atom+xml;type=feed" if form == "odata-atom" else "application/xml"
    )
    if form.startswith("rest"):
        query = "?pad=atom" if form.endswith("padded") else ""
        collection = "/rest/flights" + query
        details = {day: f"/rest/flights/AA/0017/{day}{query}" for day in DAYS}
    else:
        asked = f"$format={form.removeprefix('odata-')}"
        base = f"/odata/{mode}/FlightCollection"
        collection = f"{base}?$select={SUMMARY}&{asked}"
        details = {
            day: f"{base}(carrid='AA',connid='0017',fldate=datetime'{day}T00:00:00')?{asked}"
            for day in DAYS
        }
    whole = start + between.join(entry(form, day) for day in DAYS) + end
    return {collection: (kind, whole.encode())} | {
        path: (kind, entry(form, day).encode()) for day, path in details.items()
    }


def flights(form: str, mode: str = "standard", **settings) -> LoadProfile:
    return LoadProfile(
        locustfile="odata_rest.py",
        arrivals=ClosedLoop(users=3),
        phases=Phases(warmup_s=0.1, measured_s=1.0, drain_s=10.0),
        settings={"representation": form, "mode": mode, "flights": len(DAYS), **settings},
    )


@pytest.mark.parametrize(
    ("form", "mode"),
    [
        ("rest-json", "standard"),
        ("rest-xml", "standard"),
        ("rest-xml-padded", "standard"),
        ("odata-json", "compatibility"),
        ("odata-atom", "standard"),
    ],
)
def test_flights(own, server, tmp_path, form, mode):
    """A run is one list and each flight once; runs follow each other; whole ones are counted."""
    server.pages = pages(form, mode)
    own.prepare(flights(form, mode), {"app": server.url}, tmp_path)
    seen_in_set_up = server.requests
    collected = own.run()
    frame = collected.requests.with_columns(pl.col("name", "phase").cast(pl.String))
    assert seen_in_set_up == 2
    assert collected.facts.failed == 0
    assert frame.height == server.requests - seen_in_set_up
    runs = frame.group_by("iteration", maintain_order=True).agg(
        pl.len(),
        (pl.col("name") == "list").sum().alias("lists"),
        pl.col("start_ns").min().alias("begin_ns"),
        (pl.col("start_ns") + pl.col("service_ns")).max().alias("end_ns"),
        pl.col("user").n_unique().alias("users"),
    )
    assert set(runs["len"]) == {len(DAYS) + 1}
    assert set(runs["lists"]) == {1}
    assert (runs["begin_ns"].to_numpy()[1:] >= runs["end_ns"].to_numpy()[:-1]).all()
    assert runs["users"].max() == 3
    measured = next(mark for mark in collected.phases if mark.name == "measured")
    whole = runs.filter(
        (pl.col("begin_ns") >= measured.begin_ns) & (pl.col("end_ns") <= measured.end_ns)
    )
    assert abs(collected.facts.iterations - whole.height) <= 1
    assert collected.facts.iterations > 3
    assert collected.notes["connections_opened"] == 3


def test_flights_that_are_not_as_expected(own, server, tmp_path):
    """Too few flights fail the set-up; a detail of another flight fails its request."""
    server.pages = pages("rest-json", "standard")
    with pytest.raises(TrialError, match="body error at set-up request /rest/flights"):
        own.prepare(flights("rest-json", flights=11), {"app": server.url}, tmp_path)
    wrong = server.pages[f"/rest/flights/AA/0017/{DAYS[0]}"]
    own.prepare(flights("rest-json"), {"app": server.url}, tmp_path)
    server.pages[f"/rest/flights/AA/0017/{DAYS[5]}"] = wrong
    collected = own.run()
    share = collected.facts.failed / collected.facts.issued
    assert share == pytest.approx(1 / (len(DAYS) + 1), abs=0.02)
    assert set(collected.requests["error"].unique().cast(pl.String)) == {"", "body"}


CLIENTS = {
    "null.py": "LeanHttpUser",
    "null_fast.py": "FastHttpUser",
    "null_http.py": "HttpUser",
}
GOOD = b"x" * 1024


def answer(status: str, body: bytes, *headers: str) -> bytes:
    lines = (f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", "")
    return "\r\n".join(lines).encode() + body


OUTCOMES = {
    "/good": (answer("200 OK", GOOD), 200, ""),
    "/close": (answer("200 OK", GOOD, "Connection: close"), 200, ""),
    "/chunked": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"200\r\n" + GOOD[:512] + b"\r\n200\r\n" + GOOD[512:] + b"\r\n0\r\n\r\n",
        200,
        "",
    ),
    "/short": (answer("200 OK", b"short"), 200, "body"),
    "/moved": (answer("302 Found", GOOD, "Location: /good"), 302, "status"),
    "/created": (answer("201 Created", GOOD), 201, "status"),
    "/missing": (answer("404 Not Found", GOOD), 404, "status"),
    "/broken": (answer("500 Oops", GOOD), 500, "status"),
}
"""What the server answers; the status and the error class of each request."""


def null_load(locustfile: str, path: str = "/", measured_s: float = 0.15, **more) -> LoadProfile:
    return LoadProfile(
        locustfile=locustfile,
        arrivals=more.pop("arrivals", ClosedLoop(users=2)),
        phases=Phases(warmup_s=0.0, measured_s=measured_s, drain_s=1.0),
        settings={"path": path, **more},
    )


@pytest.mark.parametrize("locustfile", CLIENTS)
@pytest.mark.parametrize("path", OUTCOMES)
def test_null_means_the_same_with_every_client(own, server, tmp_path, locustfile, path):
    """One order, three clients: the same status and error class, connections kept, no redirect."""
    text, status, error = OUTCOMES[path]
    server.answers = {path: lambda head: text}
    load = null_load(locustfile, path, measured_s=LONG_S)
    own.prepare(load, {"nullserver": server.url}, tmp_path)
    collected = run_until(own, lambda: server.requests > 20)
    frame, facts = collected.requests, collected.facts
    assert facts.client == CLIENTS[locustfile]
    assert frame["error"].unique().to_list() == [error]
    assert frame["status"].unique().to_list() == [status]
    assert frame["name"].unique().to_list() == ["null"]
    assert facts.issued == facts.completed + facts.failed == frame.height == server.requests > 2
    assert server.paths == {path: frame.height}
    assert server.connections == (frame.height if path == "/close" else 2)


@pytest.mark.parametrize("locustfile", CLIENTS)
def test_null_takes_the_same_orders(own, server, tmp_path, locustfile):
    """Settings are checked alike, and open arrivals pace every client."""
    target = {"nullserver": server.url}
    with pytest.raises(UsageError, match="setting 'size'"):
        own.prepare(null_load(locustfile, size=1), target, tmp_path)
    own.prepare(null_load(locustfile, measured_s=LONG_S, expect_bytes=5), target, tmp_path)
    facts = run_until_asked(own).facts
    assert facts.failed == facts.issued > 0
    arrivals = OpenArrivals(kind="poisson", rate_per_s=100, users=20)
    own.prepare(null_load(locustfile, arrivals=arrivals, measured_s=0.3), target, tmp_path)
    collected = own.run()
    due = (collected.schedule + collected.phases[0].begin_ns).tolist()
    assert sorted(collected.requests["intended_ns"]) == due
    assert collected.facts.failed == collected.facts.dropped == 0


@pytest.mark.parametrize("locustfile", CLIENTS)
def test_null_when_nobody_listens(own, tmp_path, locustfile):
    """Refused connections are of one class, and no client gives up or spins."""
    load = null_load(locustfile, measured_s=LONG_S)
    own.prepare(load, {"nullserver": "http://127.0.0.1:1"}, tmp_path)
    collected = run_until_asked(own)
    assert collected.requests["error"].unique().to_list() == ["connect"]
    assert collected.requests["status"].unique().to_list() == [0]


TRUNCATED = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"


@pytest.mark.parametrize("locustfile", CLIENTS)
@pytest.mark.parametrize(
    ("sent", "error"), [(TRUNCATED, "reset"), (b"\x16\x03no\r\n\r\n", "protocol"), (b"", "reset")]
)
def test_null_and_a_server_that_breaks_off(own, scripted, tmp_path, locustfile, sent, error):
    """Half an answer, something else, nothing: the same classes, and every request is counted."""

    def script(connection, number):
        if connection.recv(65536):
            connection.sendall(sent)

    target = {"nullserver": scripted(script).url}
    own.prepare(null_load(locustfile, measured_s=LONG_S), target, tmp_path)
    collected = run_until_asked(own)
    assert collected.requests["error"].unique().to_list() == [error]
    assert collected.facts.issued == collected.facts.failed > 0
    assert collected.notes["script_errors"] == 0
