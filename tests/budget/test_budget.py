"""What is measured in a given time: what decides most per minute, all of it once, in order."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest

from sizebook.book.chapters import find_chapters, get_chapter
from sizebook.book.planning import PlannedChapter, plan_chapter
from sizebook.budget.choosing import choose_steps
from sizebook.budget.minutes import Deadline, parse_budget
from sizebook.budget.needs import Need, find_needs
from sizebook.budget.odds import AGAIN, ANEW, MOST_BLOCKS, foresee
from sizebook.budget.planning import plan_budget
from sizebook.budget.starts import Start, begun_starts, every_start, missing_starts
from sizebook.lab import Setup, null_server
from sizebook.lab.placement import Placement
from sizebook.lab.planning import plan_sessions
from sizebook.lab.profiles import get_profile
from sizebook.model.claim import ClaimOutcome, Comparison
from sizebook.model.design import Design, Factor
from sizebook.model.errors import UsageError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.store import find_project

ROOT = Path(__file__).resolve().parents[2]
PLACE = Placement(stack=(0,), generator=(1,), total_heap_mib=1024)


def planned(chapter: str, seconds: dict[str, float], *, blocks: int = 3, done: int = 0):
    """Return a chapter that plans a start a block for each experiment, of which some are done."""
    sessions = []
    for experiment, measured_s in seconds.items():
        load = LoadProfile(
            locustfile="null.py",
            arrivals=ClosedLoop(users=1),
            phases=Phases(warmup_s=0.0, measured_s=measured_s),
        )
        design = Design(experiment, (Factor("users", (1,)),), blocks, seed=1)
        sessions += plan_sessions(
            chapter,
            get_profile("quick"),
            design,
            lambda _, load=load: Setup(null_server(PLACE), load),
            0.0,
        )
    missing = tuple(session for session in sessions if session.replicate >= done)
    any_chapter = get_chapter(ROOT, "messaging")
    named = any_chapter.__class__(**{**vars(any_chapter), "id": chapter})
    return PlannedChapter(named, tuple(sessions), missing)


def need(name: str, plan: PlannedChapter, *experiments: str, blocks: int = 3, odds: float = 1.0):
    chapter = plan.chapter.id
    starts = {
        start
        for start, session in every_start([plan]).items()
        if session.experiment in experiments and session.replicate < blocks
    }
    return Need(name, chapter, frozenset(starts), odds)


def told(steps):
    return [[(where, one.experiment, one.replicate) for where, one in s.sessions] for s in steps]


def test_what_decides_most_per_minute_comes_first():
    """A long experiment with one claim waits for a short one; what both need is paid for once."""
    one = planned("one", {"long": 300.0, "short": 10.0})
    other = planned("other", {"shared": 60.0, "more": 30.0})
    needs = [
        need("of-long", one, "long"),
        need("of-short", one, "short"),
        need("a", other, "shared"),
        need("b", other, "shared"),
        need("c", other, "shared", "more"),
    ]
    steps = choose_steps([one, other], needs)
    firsts = [tuple({name for _, name, _ in step}) for step in told(steps)]
    assert firsts == [("short",), ("shared",), ("more",), ("long",)]
    assert [step.decisions for step in steps] == [1.0, 2.0, 1.0, 1.0]
    assert told(steps)[1] == [("other", "shared", block) for block in range(3)]


def test_everything_missing_is_in_one_step_and_once():
    """What no claim needs comes last, the first blocks of all before the second ones."""
    plans = [planned("one", {"a": 5.0, "b": 5.0}, done=1), planned("two", {"c": 5.0})]
    steps = choose_steps(plans, [need("x", plans[0], "a")])
    every = list(itertools.chain(*told(steps)))
    assert len(every) == len(set(every)) == len(missing_starts(plans)) == 7
    assert [step.decisions for step in steps] == [1.0, *[0.0] * 5]
    blocks = [step[0][2] for step in told(steps)[1:]]
    assert blocks == sorted(blocks)


def test_a_claim_whose_starts_are_all_there_needs_nothing():
    """It is decided, or cannot be, by what was measured."""
    plan = planned("one", {"a": 5.0}, done=3)
    assert choose_steps([plan], [need("x", plan, "a")]) == []
    assert set(begun_starts([plan])) == {Start("one", number) for number in range(3)}


def outcome(
    verdict="undetermined", effect=None, low=None, high=None, n=3, least=1.1, relation="gt"
):
    pair = Comparison({"users": 1}, {"users": 2}, effect, low, high, n, verdict, "")
    return ClaimOutcome(
        "own-x", "sizebook", "words", "c", "metric", relation, verdict, "", effect, low, high, n,
        least, "", None, "", (pair,),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "blocks", "odds"),
    [
        (outcome("confirmed", 2.0, 1.8, 2.2), 3, AGAIN),
        (outcome("undetermined", 1.8, 0.95, 3.41), 5, ANEW),  # narrows with more blocks
        (outcome("undetermined", 1.6, 1.15, 2.2, n=2), 3, ANEW),  # too few blocks counted
        (outcome("undetermined", 1.2, 0.3, 4.8), None, 0),  # hopeless
        (outcome("confirmed", n=5, least=None), MOST_BLOCKS, AGAIN),
        (outcome("undetermined", n=3, least=None), MOST_BLOCKS, ANEW),
        (outcome("undetermined", n=5, least=None), None, 0),  # neither in all nor in none
        (outcome("undetermined", 1.01, 0.92, 1.11, relation="approx"), 5, ANEW),
    ],
)  # fmt: skip
def test_blocks_are_foreseen_by_effect_and_spread(claim, blocks, odds):
    """Of a ratio by its interval, of an event by how often it must be seen."""
    found = foresee(claim)
    assert (found is None) == (blocks is None)
    if found is not None:
        assert (found.blocks, found.odds) == (blocks, odds)


def test_the_published_round_tells_what_claims_need():
    """Each need is of starts that its chapter plans, or one that it borrows from, in few blocks."""
    project = find_project()
    names = ("messaging", "bindings", "xml")
    plans = [
        plan_chapter(get_chapter(ROOT, name), {"profile": "quick", "replicates": MOST_BLOCKS})
        for name in names
    ]
    needs = find_needs(project, plans)
    known = every_start(plans)
    assert {each.chapter for each in needs} == set(names)
    assert all(each.starts and each.starts <= set(known) for each in needs)
    assert len({each.claim_id for each in needs}) == len(needs)
    assert {known[start].replicate for each in needs for start in each.starts} <= set(range(5))
    calls = next(each for each in needs if each.claim_id == "mii-async-9")
    assert {known[start].experiment for start in calls.starts} == {"calls"}


@pytest.mark.jvm  # is asked for its heap
def test_an_hour_is_planned_within_an_hour():
    """All chapters that measure are planned; more time never decides less."""
    plan = plan_budget(find_project(), "quick")
    measuring = [each.id for each in find_chapters(ROOT) if each.kind == "chapter"]
    assert {each.chapter.id for each in plan.planned} >= {*measuring} - {"virtualization"}
    decided = []
    for hours in (0.25, 1, 8, math.inf):
        chosen = plan.within(hours * 3600)
        assert sum(step.seconds for step in chosen) <= hours * 3600
        decided.append(sum(step.decisions for step in chosen))
    assert 0 < decided[0] < decided[1] < decided[2] <= decided[3]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("60", 3600),
        ("90m", 5400),
        ("8h", 28800),
        ("0.5h", 1800),
        ("10 min", 600),
        ("none", math.inf),
    ],
)
def test_a_budget_is_minutes_hours_or_none(text, seconds):
    assert parse_budget(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-5", "soon", "8 h 30", "nan", "inf", "1e3", "60s"])
def test_another_budget_is_refused_in_words(text):
    """With what one may type."""
    with pytest.raises(UsageError, match="minutes such as 60, hours such as 8h, or none"):
        parse_budget(text)


def test_a_deadline_keeps_time_for_pages_and_site():
    """The more chapters were measured, the earlier measuring ends."""
    now = [100.0]
    deadline = Deadline(1000.0, clock=lambda: now[0])
    assert (deadline.left_s, deadline.words) == (900.0, "15 min left")
    assert Deadline(math.inf).words == "no limit"
    assert deadline.measuring_s(0) > deadline.measuring_s(2) > deadline.measuring_s(5)
    now[0] = 2000.0
    assert deadline.measuring_s(0) < 0
