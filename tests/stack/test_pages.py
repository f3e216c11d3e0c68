"""Pages over real nodes: sessions stay on their node, the mix offers what it should."""

import json

import polars as pl
import pytest
from tests.stack.part_stack import ask, counters, load, post, started

from sizebook.chapters.user_mix.pages import pages_stack
from sizebook.lab.placement import place
from sizebook.model.load import PacedGroup, PacedUsers


def mix(users, fast_s, slow_s, document_s):
    """Return half of the users clicking fast, half slowly, and the background."""
    return PacedUsers(
        groups=(
            PacedGroup(users=users // 2, period_s=fast_s, name="clerks"),
            PacedGroup(users=users // 2, period_s=slow_s, name="clerks"),
            PacedGroup(users=1, period_s=document_s, name="background"),
        )
    )


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """Two app nodes behind a balancer that keeps sessions, started once."""
    deployment = pages_stack(place(), nodes=2, total_heap_mib=256)
    with started(deployment, tmp_path_factory.mktemp("pages")) as running:
        yield running


def test_the_mix(stack, tmp_path):
    """Whole pages, three requests a part; every session found again; a row for each document."""
    rows = ask(stack, "select count(*) from document")[0][0]
    before = counters(stack)
    arrivals = mix(8, fast_s=0.4, slow_s=1.2, document_s=0.3)
    settings = {"document_bytes": 10_000}
    collected = load(stack, tmp_path, "user_mix.py", arrivals, settings, measured_s=2.5)
    after = counters(stack)
    assert collected.facts.failed == 0
    names = dict(collected.requests.group_by(pl.col("name").cast(pl.String)).len().iter_rows())
    assert names["query"] == names["display"] == names["data"]
    assert 8 <= names["document"] <= 9
    assert names["login"] == 8
    logins = "logins_total/accepted"
    assert after[logins] - before[logins] == 8
    assert after["sessions/active"] - before["sessions/active"] == 8
    assert ask(stack, "select count(*) from document")[0][0] - rows == names["document"]
    clicks = collected.requests.filter(pl.col("user") < 8)
    per_click = clicks.filter(pl.col("name").cast(pl.String) == "query").group_by("iteration").len()
    assert set(per_click["len"]) <= {4, 5}
    # 4 users click every 0.4 s, 4 every 1.2 s, over 2.6 s; a group misses its rate by less than 2.
    assert abs(per_click.height - 2.6 * (4 / 0.4 + 4 / 1.2)) < 4
    assert collected.facts.dropped == 0


def test_the_same_seed_clicks_at_the_same_times(stack, tmp_path):
    """Due times count from the start and come from the seed alone."""
    arrivals = mix(2, fast_s=0.3, slow_s=0.3, document_s=0.2)
    first, second = (
        load(stack, tmp_path / str(n), "user_mix.py", arrivals, {"document_bytes": 1000}, 0.6)
        for n in (1, 2)
    )
    due = []
    for collected in (first, second):
        start = min(mark.begin_ns for mark in collected.phases)
        heads = collected.requests.filter(pl.col("name").cast(pl.String) == "document")
        due.append([int(ns) - start for ns in heads["intended_ns"].sort()])
    assert due[0] == due[1] and len(due[0]) >= 3


def test_errors_are_told_by_their_status(stack):
    """No session, bad name, broken document: each its status."""
    url = stack.url("app")
    assert post(f"{url}/pages/logout")[0] == 401
    assert post(f"{url}/pages/login?user=a%20b")[0] == 400
    status, body = post(f"{url}/pages/documents?id=x", b"<a")
    assert status == 400 and "well-formed" in json.loads(body)["detail"]
