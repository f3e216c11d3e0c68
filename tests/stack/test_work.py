"""Work over a ledger through a real node and database: what it finds, takes and counts."""

import json
import re
import threading
import time
import urllib.error
import urllib.request

import psycopg
import pytest
from tests.stack.part_stack import ask, counters, load, post, started
from tests.waiting import wait_until

from sizebook.lab.deployments import work_stack
from sizebook.lab.placement import place
from sizebook.model.load import PacedGroup, PacedUsers

ROWS = 26_000
GROUPS = 2
PAIRS = ("aggregates", "view", "subqueries", "tables", "context")
WORKS = (
    *("count", "summary", "items", "all", "statistics", "closing", "generation"),
    *(f"{pair}-{variant}" for pair in PAIRS for variant in ("naive", "better")),
)


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """One app node and a database with a small ledger, started once."""
    deployment = work_stack(place(), heap_mib=160, ledger_rows=ROWS)
    with started(deployment, tmp_path_factory.mktemp("work")) as running:
        yield running


def get(url):
    """Return status, body and Server-Timing (total and database, ms) of the answer to a GET."""
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            timing = re.findall(r"dur=([\d.]+)", answer.headers["Server-Timing"])
            return answer.status, answer.read(), tuple(map(float, timing))
    except urllib.error.HTTPError as error:
        return error.code, error.read(), None


def rise(stack, before):
    """Return how much the counters of work rose."""
    return {k: v - before.get(k, 0) for k, v in counters(stack).items() if k.startswith("work_")}


def test_the_template_holds_the_ledger_at_rest(stack):
    """As many items as asked for, balanced, frozen: the server has no reason to vacuum them."""
    assert ask(stack, "select count(*), sum(amount) from ledger_item") == [(ROWS, 0)]
    tables = "relname in ('ledger_account', 'ledger_document', 'ledger_item')"
    changed = "select max(n_ins_since_vacuum + n_mod_since_analyze) from pg_stat_user_tables"
    assert ask(stack, f"{changed} where {tables}") == [(0,)]
    seen = ask(stack, f"select relpages, relallvisible, reltuples from pg_class where {tables}")
    assert all(pages == visible > 0 for pages, visible, _ in seen)
    assert ROWS in {rows for _, _, rows in seen}


def test_only_who_asks_for_a_ledger_gets_one(stack):
    """A deployment without one is specified as before there were ledgers."""
    assert work_stack(place()).database().ledger_rows == 259_480
    assert "ledger_rows" not in work_stack(place(), ledger_rows=0).model_dump_json()
    assert '"ledger_rows":7' in work_stack(place(), ledger_rows=7).model_dump_json()


def test_total_and_database_time_are_told_for_each_request_and_counted(stack):
    """The header's numbers are those by which the counters rise; the rest is the node's own."""
    before = counters(stack)
    status, body, (total_ms, database_ms) = get(f"{stack.url('app')}/ledger/count")
    assert status == 200 and json.loads(body) == {"count": ROWS}
    assert 0 < database_ms < total_ms
    found = rise(stack, before)
    assert found["work_requests_total/dialogue"] == found["work_done_total/count"] == 1
    assert found["work_s/dialogue"] == pytest.approx(total_ms / 1e3, abs=2e-6)
    assert found["work_done_database_s/count"] == pytest.approx(database_ms / 1e3, abs=2e-6)
    assert found["work_rows_total/dialogue"] == 1
    status, body = post(f"{stack.url('app')}/ledger/jobs/generation?programs=2&seed=1")
    assert status == 200 and json.loads(body)["programs"] == 2
    found = rise(stack, before)
    assert found["work_requests_total/background"] == 1 and found["work_s/background"] > 0
    assert found["work_database_s/background"] == 0


WAITING = "select count(*) from pg_locks where not granted"


def test_a_slow_database_is_counted_as_the_databases_time(stack):
    """While its table is locked a count waits: that time is all in the database's part."""
    with psycopg.connect(stack.cluster.admin_dsn) as connection:
        connection.execute("lock table ledger_item in access exclusive mode")
        held_ms = []

        def hold():
            wait_until(lambda: ask(stack, WAITING)[0][0] > 0)
            begin = time.monotonic()
            time.sleep(2.0)
            held_ms.append(1e3 * (time.monotonic() - begin))
            connection.commit()

        holder = threading.Thread(target=hold)
        holder.start()
        _, _, (total_ms, database_ms) = get(f"{stack.url('app')}/ledger/count")
        holder.join()
    assert held_ms[0] <= database_ms <= total_ms
    assert total_ms - database_ms < held_ms[0]  # else it would be the application's


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/ledger/report/items?period=13", 400),
        ("/ledger/selection?account=abc", 400),
        ("/ledger/pairs/view/other", 404),
        ("/ledger/jobs/closing", 405),
    ],
)
def test_wrong_requests_are_refused_in_words(stack, path, status):
    """A clear status and no stack trace, in answer or log."""
    found, body, _ = get(stack.url("app") + path)
    assert found == status and json.loads(body)["status"] == status
    assert b"Exception" not in body
    for node in stack.nodes:
        assert "\tat " not in node.process.log_tail(200)


@pytest.mark.parametrize("work", ["every", *WORKS])
def test_the_load_profile_gets_what_it_expects(stack, tmp_path, work):
    """Every answer is checked; the node counted as many pieces of that work as were answered."""
    before = counters(stack)
    settings = {"work": work, "rows": ROWS, "groups": GROUPS, "programs": 2}
    collected = load(stack, tmp_path, "work.py", 1, settings, measured_s=0.2)
    sent = collected.requests.height
    assert collected.facts.failed == 0 and sent > 0
    found = rise(stack, before)
    done = {k.partition("/")[2]: v for k, v in found.items() if k.startswith("work_done_total/")}
    assert sum(done.values()) == sent
    if work != "every":
        assert done[work] == sent


def test_answers_about_another_ledger_fail(stack, tmp_path):
    """A count that is not the one of the settings is no success, whatever its status."""
    settings = {"work": "count", "rows": ROWS - 1, "groups": GROUPS}
    collected = load(stack, tmp_path, "work.py", 1, settings, measured_s=0.2)
    assert collected.facts.failed == collected.requests.height > 0


def test_dialogues_and_jobs_run_beside_each_other(stack, tmp_path):
    """Both kinds are done and counted apart, each with its time in the database."""
    before = counters(stack)
    mix = PacedUsers(
        groups=(
            PacedGroup(name="dialogue", users=4, period_s=0.2),
            PacedGroup(name="background", users=1, period_s=0.2),
        )
    )
    settings = {"accounts": 50, "groups": GROUPS}
    collected = load(stack, tmp_path, "work_mix.py", mix, settings, measured_s=1.5)
    assert collected.facts.failed == 0
    names = set(collected.requests["name"].cast(str))
    assert names == {"summary", "items", "selection", "closing", "statistics"}
    found = rise(stack, before)
    for kind in ("dialogue", "background"):
        assert found[f"work_requests_total/{kind}"] > 2
        assert 0 < found[f"work_database_s/{kind}"] < found[f"work_s/{kind}"]
    assert sum(found[f"work_requests_total/{k}"] for k in ("dialogue", "background")) == (
        collected.requests.height
    )
