"""Locust's own user classes, as they are written: told apart, and paused as they say."""

from __future__ import annotations

import subprocess
import sys

import polars as pl
import pytest
from until import LONG_S, run_until

from sizebook.load.schedule import ThinkTimes
from sizebook.load.stages import StagedUsers
from sizebook.model.errors import LocustfileError, TrialError, UsageError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases, UserStage


@pytest.fixture
def run(generator, locustfiles, tmp_path, server):
    def carry_out(text, arrivals=None, enough=None, measured_s=0.5, **more):
        (locustfiles / "plain.py").write_text(text)
        load = LoadProfile(
            locustfile="plain.py",
            arrivals=arrivals or ClosedLoop(users=2),
            phases=Phases(warmup_s=0.1, measured_s=LONG_S if enough else measured_s, drain_s=1.0),
            **more,
        )
        generator.prepare(load, {"app": server.url}, tmp_path)
        return run_until(generator, enough) if enough else generator.run()

    return carry_out


PAUSING = """
from locust import FastHttpUser, HttpUser, SequentialTaskSet, User, between, constant
from locust import constant_pacing, constant_throughput, task

class Reader({base}):
    {wait}

    @task
    def read(self):
        self.client.get("/", name="page")
"""


@pytest.mark.parametrize("base", ["HttpUser", "FastHttpUser"])
@pytest.mark.parametrize(
    ("wait", "told", "least_ns"),
    [
        ("wait_time = between(0.05, 0.07)", "between(0.05, 0.07)", 50_000_000),
        ("wait_time = constant(0.06)", "constant(0.06)", 60_000_000),
        ("wait_time = constant_pacing(0.1)", "constant_pacing(0.1)", 0),
        ("wait_time = constant_throughput(10)", "constant_pacing(0.1)", 0),
        ("wait_time = constant(0)", "", 0),
        ("def wait_time(self): return 0.05", "Reader.wait_time", 50_000_000),
        ("", "", 0),
    ],
)
def test_plain_users_pause_as_they_say(run, server, base, wait, told, least_ns):
    """After each task; each task is a pass of its user, and the facts name the pauses."""
    collected = run(PAUSING.format(base=base, wait=wait), enough=lambda: server.requests > 6)
    assert (collected.facts.failed, collected.facts.pauses) == (0, told)
    rows = collected.requests
    assert set(rows["user"]) == {0, 1}
    assert rows["iteration"].n_unique() == rows.height == server.requests > 2
    for user in range(2):
        own = rows.filter(pl.col("user") == user).sort("start_ns")
        ends = (own["start_ns"] + own["service_ns"]).to_numpy()
        pauses = own["start_ns"].to_numpy()[1:] - ends[:-1]
        assert (pauses >= least_ns - 2_000_000).all()


SEQUENCE = """
from locust import HttpUser, SequentialTaskSet, between, constant, task

class Steps(SequentialTaskSet):
    wait_time = constant(0.02)

    @task
    def first(self):
        self.client.get("/", name="first")

    @task
    def second(self):
        self.client.get("/", name="second")
        self.wait()

class Reader(HttpUser):
    tasks = [Steps]
    wait_time = between(0, 0)
"""


def test_pauses_of_task_sets_are_named(run, server):
    """They override their user's; nested ones are found."""
    collected = run(SEQUENCE)
    assert (collected.facts.failed, collected.facts.pauses) == (0, "constant(0.02)")
    assert collected.notes["script_errors"] == 0
    assert set(collected.requests["name"].cast(pl.String)) == {"first", "second"}


@pytest.mark.parametrize("random", [False, True])
def test_plain_users_think_as_the_profile_says(run, server, random):
    """Where the locustfile does not say it: seeded, never shorter, one pass after the other."""
    arrivals = ClosedLoop(users=3, think_s=0.03, think_random=random)
    collected = run(PAUSING.format(base="HttpUser", wait=""), arrivals=arrivals, seed=5)
    assert (collected.facts.failed, collected.facts.pauses) == (0, "")
    for user in range(3):
        own = collected.requests.filter(pl.col("user") == user).sort("start_ns")
        ends = (own["start_ns"] + own["service_ns"]).to_numpy()
        pauses = own["start_ns"].to_numpy()[1:] - ends[:-1]
        planned = ThinkTimes(arrivals, 5, user)
        assert len(pauses) > 0
        assert (pauses >= [planned.next_ns() - 2_000_000 for _ in pauses]).all()
        assert own["iteration"].n_unique() == own.height


OWN_PROTOCOL = """
import time
import gevent
from locust import User, constant, task

class Chatter(User):
    number = "mine"
    error = "mine"

    def on_start(self):
        {start}

    def say(self):
        begin = time.time()
        gevent.sleep(0.005)
        self.environment.events.request.fire(
            request_type="WS", name="say", response_time=1000 * (time.time() - begin),
            response_length=5, start_time=begin, exception=None, {context}
        )

    def hear(self):
        while True:
            self.say()

    @task
    def go(self):
        {go}
"""


@pytest.mark.parametrize("context", ["context={}", "context={'room': 1}", "", "context=None"])
@pytest.mark.parametrize(
    ("start", "go"),
    [
        ("pass", "self.say()"),
        ("gevent.spawn(self.hear)", "gevent.sleep(1)"),
        ("pass", "gevent.spawn(gevent.spawn, self.say).get().join()"),
        ("pass", "gevent.joinall([gevent.spawn(self.say), gevent.spawn(gevent.sleep, 0.01)])"),
    ],
)
def test_users_of_another_protocol_are_told_apart(run, context, start, go):
    """Whatever context they hand over, also from other greenlets; attributes stay theirs."""
    text = OWN_PROTOCOL.replace("{context}", context).replace("{start}", start)
    collected = run(text.replace("{go}", go), arrivals=ClosedLoop(users=4))
    rows = collected.requests
    assert set(rows["user"]) == {0, 1, 2, 3}
    assert rows.height == collected.facts.issued > 40
    assert collected.facts.failed == collected.notes["script_errors"] == 0


def test_what_users_leave_running_is_no_part_of_the_next_trial(run, server):
    """A greenlet that a locustfile has spawned ends with its trial, kept somewhere or not."""
    text = OWN_PROTOCOL.replace("{context}", "context={}")
    text = text.replace("{start}", "gevent.spawn(self.hear)").replace("{go}", "gevent.sleep(1)")
    assert set(run(text).requests["name"]) == {"say"}
    collected = run(
        PAUSING.format(base="FastHttpUser", wait=""), enough=lambda: server.requests > 2
    )
    assert set(collected.requests["name"]) == {"page"}
    assert collected.requests.height == server.requests


OPTIONS = """
from locust import FastHttpUser, events, task

@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--page", {default})
    parser.add_argument("--depth", type=int, env_var="LOCUST_DEPTH", default=3)

class Reader(FastHttpUser):
    @task
    def read(self):
        given = self.environment.parsed_options
        assert given.host.startswith("http://127.0.0.1:") and given.num_users == 2
        self.client.get("/", name=f"{{given.page}} {{given.depth}} {{given.run_time}}")
"""


def test_arguments_of_a_locustfile_have_their_defaults(run, server):
    """What it would have of Locust's own command line is there; the host and the users, too."""
    text = OPTIONS.format(default="default='start'")
    collected = run(text, enough=lambda: server.requests > 2)
    assert set(collected.requests["name"]) == {"start 3 None"}
    assert collected.facts.failed == collected.notes["script_errors"] == 0
    assert collected.requests.height == server.requests > 2
    collected = run(PAUSING.format(base="FastHttpUser", wait=""))
    assert set(collected.requests["name"]) == {"page"}


def test_an_argument_that_must_be_given_is_refused(run):
    """There is no command line in a trial; the generator serves the next one."""
    with pytest.raises(LocustfileError) as refused:
        run(OPTIONS.format(default="required=True"))
    assert "arguments of plain.py that cannot be left out" in refused.value.found
    assert "--page" in refused.value.found
    assert set(run(OPTIONS.format(default="default=7")).requests["name"]) == {"7 3 None"}


def test_settings_give_arguments_tags_and_classes(run):
    """Those of the load profile; they are recorded with the trial."""
    text = OPTIONS.format(default="default='start'")
    collected = run(text, settings={"page": "x", "depth": 7})
    assert set(collected.requests["name"]) == {"x 7 None"}
    with pytest.raises(UsageError, match="invalid int value: 'deep'"):
        run(text, settings={"depth": "deep"})
    text += "\nclass Other(Reader):\n    pass\n"
    collected = run(text, settings={"user_classes": "Other"})
    assert collected.facts.completed > 0
    with pytest.raises(UsageError, match="user class 'Nobody'"):
        run(text, settings={"user_classes": "Nobody"})


ENDING = """
from locust import HttpUser, constant, task
from locust.exception import StopUser

class Ending(HttpUser):
    wait_time = constant(0.05)
    {more}

    @task
    def go(self):
        self.client.get("/")
        {what}
"""


@pytest.mark.parametrize(
    ("more", "what", "told"),
    [
        ("", "self.environment.runner.quit()", "plain.py, which ended the load"),
        ("", "raise StopUser", "all users of plain.py gone"),
        ("def on_start(self): {}['x']", "pass", "KeyError in plain.py, line 7: 'x'"),
        ("", "import sys; sys.exit(3)", "exit (sys.exit, code 3) in plain.py, line 12"),
    ],
)
def test_a_locustfile_that_ends_its_load_fails_by_name(run, more, what, told):
    """It would otherwise be a load that nobody asked for, measured until the end."""
    with pytest.raises(TrialError) as failed:
        run(ENDING.format(more=more, what=what), enough=lambda: False)
    assert told in failed.value.found
    collected = run(PAUSING.format(base="FastHttpUser", wait=""))  # the next trial is served
    assert collected.facts.completed > 0


def test_exceptions_end_a_task_and_no_user(run):
    """They are counted, and the first is kept with its place; users go on."""
    collected = run(ENDING.format(more="", what="{}['token']"))
    assert collected.notes["script_errors"] == collected.requests.height > 4
    assert collected.notes["script_error"] == "KeyError in plain.py, line 12: 'token'"


def test_users_of_stages_come_and_go(run):
    """At their times, by their numbers; who goes ends its pass before."""
    stages = tuple(
        UserStage(length_s=0.5, begin_users=users, end_users=users) for users in (1, 3, 0, 2)
    )
    load = ClosedLoop(users=3, stages=stages)
    collected = run(PAUSING.format(base="HttpUser", wait="wait_time = constant(0.01)"), load,
                    measured_s=2.0)  # fmt: skip
    start_ns = collected.phases[0].begin_ns
    staged = StagedUsers(0.1, stages)
    for user in range(3):
        starts = collected.requests.filter(pl.col("user") == user)["start_ns"] - start_ns
        stays = staged.stays(user)
        assert starts.len() > 0
        outside = [not any(a <= at < b for a, b in stays) for at in starts]
        assert sum(outside) <= len(stays)
        assert starts.min() >= stays[0][0]
    assert collected.facts.failed == collected.notes["script_errors"] == 0


def test_variables_of_the_environment_are_no_arguments(monkeypatch):
    """What is not recorded with a trial must not change it."""
    monkeypatch.setenv("LOCUST_RUN_TIME", "77")
    code = "from sizebook.load.options import default_options as o; "
    code += "print(o('x.py', host=None, users=1).run_time)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"
