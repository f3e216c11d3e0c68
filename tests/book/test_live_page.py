"""The live page: what a browser shows of a measurement's events, and who is answered at all."""

import http.client
import json
import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browser import Browser
from tests.waiting import HANGS_S

from sizebook.book.live_server import live_page
from sizebook.lab.live_file import LIVE_FILE, tell_watchers
from sizebook.model.errors import UsageError

TRIAL = {
    "chapter": "checkout", "experiment": "load", "block": 2, "purpose": "measured",
    "treatment": "users <b>10</b>",
}  # fmt: skip


@pytest.fixture
def address():
    with live_page(0) as url:
        yield url


def asked(address, path, host=""):
    """Return status and body of an answer."""
    there = urlsplit(address).netloc
    connection = http.client.HTTPConnection(there, timeout=HANGS_S)
    connection.request("GET", path, headers={"Host": host or there})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def added(address, since=0):
    """Return the place behind the events, and the events."""
    found = json.loads(asked(address, f"/events?since={since}")[1])
    return found["next"], found["events"]


def test_events_are_handed_out_once_and_whole(address):
    """From a place on, with the place behind them; half a line is left for later."""
    assert added(address) == (0, [])
    tell_watchers("step", chapter="checkout", done=0, total=2, left_s=9.5, label="conditioning")
    behind, events = added(address)
    assert [(one["kind"], one["label"]) for one in events] == [("step", "conditioning")]
    assert added(address, behind) == (behind, [])
    with Path(os.environ[LIVE_FILE]).open("a") as sink:
        sink.write('{"kind": "second", "t"')
    assert added(address, behind) == (behind, [])
    for strange in ("x", "-1", "10000000", "9" * 5000, ""):
        assert asked(address, f"/events?since={strange}")[0] == 200


def test_nobody_else_is_answered(address):
    """A page elsewhere may lead a browser here under a name of its own."""
    assert asked(address, "/", host="evil.example:80")[0] == 403
    assert asked(address, "/events", host="127.0.0.1:1")[0] == 403
    assert asked(address, "/../events.jsonl")[0] == 404
    assert asked(address, "/")[0] == 200


def test_without_a_watcher_nothing_is_written(tmp_path):
    """Behind the block nobody watches, and a folder that is gone is no error."""
    with live_page(0):
        file = Path(os.environ[LIVE_FILE])
    assert LIVE_FILE not in os.environ
    assert not file.parent.exists()
    tell_watchers("over")
    os.environ[LIVE_FILE] = str(tmp_path / "gone" / "events.jsonl")
    try:
        tell_watchers("over")
    finally:
        del os.environ[LIVE_FILE]


def test_a_port_that_is_taken_is_refused_by_its_number():
    """With the way to another one."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port}"), live_page(port):
            pass


def test_a_browser_shows_what_runs_what_it_gives_and_what_it_is_worth(
    address: str, browser: Browser
) -> None:
    """Trial, rate, latency, CPU, verdicts and time left; words stay words."""
    tell_watchers("step", chapter="checkout", done=1, total=4, left_s=150.0, label="conditioning")
    tell_watchers("trial", **TRIAL, planned_s=6.0)
    for second in range(1, 4):
        tell_watchers(
            "second", elapsed_s=float(second), rate_per_s=1000.0 + second, failed_per_s=2.0,
            latency_ms=4.25, users=10, stack_cpus=0.87, generator_cpus=None,
        )  # fmt: skip
    tell_watchers("stored", **TRIAL, verdict="noisy", reason="CPU was stolen")
    browser.open(address)
    browser.wait_for("document.getElementById('rate').textContent === '1,003'")
    shown = {
        name: browser.run(f"document.getElementById('{name}').textContent")
        for name in ("what", "label", "left", "latency", "cpu", "counts", "rate-note")
    }
    assert shown["what"] == "checkout"
    assert shown["label"] == "load, block 2: users <b>10</b> (6 s)"
    assert shown["left"] == "1 of 4 trials; 2 min left"
    assert (shown["latency"], shown["cpu"], shown["counts"]) == ("4.25 ms", "0.87", "1 noisy")
    assert "2.00 failed per second now; 10 users" in shown["rate-note"]
    row = browser.run("document.querySelector('#trials tbody tr').textContent")
    assert row == "load, block 2: users <b>10</b>noisyCPU was stolen"
    assert browser.run("document.querySelector('#rate-line path').getAttribute('d')") != ""
    tell_watchers("over")
    browser.wait_for("document.getElementById('label').textContent.includes('is over')")
    assert browser.complaints == []
    assert all(urlsplit(each).netloc == urlsplit(address).netloc for each in browser.requests)
