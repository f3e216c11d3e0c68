"""The load of a ledger's work, against a server that answers as the reference stack does."""

from __future__ import annotations

import itertools
import json

import pytest
from answering import Answering, served
from until import LONG_S, run_until

from sizebook.model.errors import UserError
from sizebook.model.load import ClosedLoop, LoadProfile, PacedGroup, PacedUsers, Phases

PAIRS = ("aggregates", "view", "subqueries", "tables", "context")
WORKS = (
    *("count", "summary", "items"),
    *(f"{pair}-{variant}" for pair in PAIRS for variant in ("naive", "better")),
    *("statistics", "all", "closing", "generation"),
)


ANSWERS = {
    "count": lambda of: {"count": 1000},
    "all": lambda of: {"group": of["group"], "count": 1000, "total": 0.0, "pages": 1},
    "items": lambda of: {**of, "page": of.get("page", 1), "count": 0},
    "summary": lambda of: {**of, "items": 0},
    "selection": lambda of: {**of, "to": 12},
    "statistics": lambda of: {"tables": {"ledger_item": 1000}},
    "closing": lambda of: {"accounts": of.get("accounts", 50), "items": 1000, "balances": 600},
    "generation": lambda of: {**of, "sourceBytes": 1},
}
"""What a node with 1000 items answers, by the last word of the path."""


def told(path, of, wrong):
    """Return the answer to a request as text; pairs in ``wrong`` give another result."""
    if path[2] == "pairs":
        pair, variant = path[3:]
        result = "x" if (pair, variant) in wrong else f"{pair} {of['key']}"
        answer = {"pair": pair, "variant": variant, **of, "result": result, "rows": 1}
    else:
        answer = ANSWERS[path[-1]](of)
    return json.dumps(answer, separators=(",", ":")).replace(":0.0,", ":0.00,").encode()


@pytest.fixture
def node():
    """Give a server, the list of works that it was asked for, and a set of pairs to get wrong."""
    asked, wrong = [], set()

    class Handler(Answering):
        def answer(self):
            whole, query = self.asked()
            path = whole.split("/")
            asked.append("-".join(path[3:]) if path[2] == "pairs" else path[-1])
            self.tell(told(path, {name: int(value) for name, value in query.items()}, wrong))

    with served(Handler) as url:
        yield url, asked, wrong


def profile(locustfile="work.py", arrivals=None, measured_s=0.3, **settings):
    return LoadProfile(
        locustfile=locustfile,
        arrivals=arrivals or ClosedLoop(users=1),
        phases=Phases(warmup_s=0.0, measured_s=measured_s, drain_s=5.0),
        settings=settings,
    )


def run(own, target, tmp_path, load, enough=None):
    """Carry a load out, or as much of it as is ``enough``."""
    own.prepare(load, {"app": target}, tmp_path)
    return run_until(own, enough) if enough else own.run()


def test_every_work_is_asked_for_in_turn_the_count_first(own, node, tmp_path):
    """So the first count after a start is the very first piece of work; the longest come last."""
    url, asked, _ = node
    whole = profile(work="every", rows=1000, measured_s=LONG_S)
    collected = run(own, url, tmp_path, whole, enough=lambda: len(asked) > len(WORKS))
    assert collected.facts.failed == 0
    assert asked == list(itertools.islice(itertools.cycle(WORKS), len(asked)))


@pytest.mark.parametrize("work", ["all", "view-better", "closing"])
def test_one_work_is_asked_for_again_and_again(own, node, tmp_path, work):
    """Requests are named after the work, whatever their paths."""
    url, asked, _ = node
    collected = run(own, url, tmp_path, profile(work=work, rows=1000))
    assert collected.facts.failed == 0 and set(asked) == {work}
    assert set(collected.requests["name"].cast(str)) == {work}


def test_variants_that_disagree_fail(own, node, tmp_path):
    """The later of two that differ is the failure; all other works are as expected."""
    url, asked, wrong = node
    wrong.add(("view", "better"))
    whole = profile(work="every", rows=1000, measured_s=LONG_S)
    collected = run(own, url, tmp_path, whole, enough=lambda: len(asked) > len(WORKS))
    failed = collected.requests.filter(collected.requests["error"].cast(str) != "")
    assert set(failed["name"].cast(str)) == {"view-better"}
    assert set(failed["error"].cast(str)) == {"body"}


def test_a_wrong_count_fails(own, node, tmp_path):
    """Status 200 is no success."""
    collected = run(own, node[0], tmp_path, profile(work="count", rows=999))
    assert collected.facts.failed == collected.requests.height > 0


def test_unknown_work_is_refused(own, node, tmp_path):
    """Before anything is asked for."""
    with pytest.raises(UserError, match="work='sleep'"):
        own.prepare(profile(work="sleep"), {"app": node[0]}, tmp_path)
    assert node[1] == []


def test_dialogues_have_four_steps_and_jobs_take_turns(own, node, tmp_path):
    """Each user goes through summary, two pages of items, and a selection."""
    url, asked, _ = node
    mix = PacedUsers(
        groups=(
            PacedGroup(name="dialogue", users=1, period_s=0.05),
            PacedGroup(name="background", users=1, period_s=0.1),
        )
    )

    def steps_and_jobs():
        jobs = ("closing", "statistics")
        return [w for w in asked if w not in jobs], [w for w in asked if w in jobs]

    def enough():
        steps, jobs = steps_and_jobs()
        return len(steps) > 8 and len(jobs) > 1

    whole = profile("work_mix.py", mix, LONG_S, accounts=50)
    collected = run(own, url, tmp_path, whole, enough)
    assert collected.facts.failed == 0
    steps, jobs = steps_and_jobs()
    turns = itertools.cycle(["summary", "items", "items", "selection"])
    assert steps == list(itertools.islice(turns, len(steps)))
    assert jobs[:2] == ["closing", "statistics"]
