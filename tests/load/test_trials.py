"""Whole trials: the generator's process against a small real server."""

from __future__ import annotations

import itertools
import resource
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.asking import asked_again

from sizebook.load.collect import Collected
from sizebook.load.control import GeneratorClient
from sizebook.load.protocol import SCHEDULE_FILE
from sizebook.load.schedule import ThinkTimes, arrival_offsets, paced_offsets
from sizebook.model.bundle import REQUEST_COLUMNS
from sizebook.model.errors import UsageError
from sizebook.model.load import (
    Arrivals,
    ClosedLoop,
    LoadProfile,
    OpenArrivals,
    PacedGroup,
    PacedUsers,
    Phases,
)

PAGE = """
from sizebook.load.settings import Setting
from sizebook.load.users import Expect, LeanHttpUser

class Reader(LeanHttpUser):
    settings = {"path": Setting("/")}

    def iteration(self):
        self.get(str(self.setting("path")), name="page", check=Expect(length=1024))
"""

FOREIGN = """
from locust import FastHttpUser, HttpUser, constant, task

class Fast(FastHttpUser):
    wait_time = constant(0.01)
    @task
    def get(self):
        self.client.get("/", name="fast")

class Plain(HttpUser):
    wait_time = constant(0.01)
    @task
    def get(self):
        with self.client.get("/wrong", name="plain", catch_response=True) as answer:
            if answer.status_code == 500:
                answer.failure("five hundred")
"""

FAST_SCENARIO = """
from locust import FastHttpUser
from sizebook.load.users import Scenario

class Reader(Scenario, FastHttpUser):
    def iteration(self):
        self.client.get("/", name="fast")
"""


SESSION = """
from sizebook.load.users import Expect, LeanHttpUser

class Reader(LeanHttpUser):
    known = False

    def iteration(self):
        if not self.known:
            self.get("/login", name="login", check=Expect())
            self.known = True
        self.get(f"/page?user={self.number}", name="page", check=Expect())
"""

CUSTOM = """
from locust import User
from sizebook.load.users import Scenario

class Reader(Scenario, User):
    def iteration(self):
        self.environment.events.request.fire(
            request_type="X", name="x", response_time=1.0, response_length=0,
            context=self.context(), exception=None,
        )
        self.course.clock.sleep_until(self.course.end_ns)
"""


JOINING = """
from sizebook.load.users import Expect, LeanHttpUser

class Reader(LeanHttpUser):
    def join(self):
        self.get("/", name="login", check=Expect())

    def iteration(self):
        self.get("/", name="page", check=Expect())
"""


GROUPS = """
from sizebook.load.users import Expect, LeanHttpUser

class Clerk(LeanHttpUser):
    groups = ("clerks", "background")

    def join(self):
        self.get("/", name="login", check=Expect())

    def iteration(self):
        for part in range(1 if self.group_name == "background" else 3):
            self.get("/", name=f"{self.group_name} {part}", check=Expect())
"""


def carry_out(
    generator: GeneratorClient,
    out: Path,
    locustfiles: Path,
    url: str,
    text: str,
    arrivals: Arrivals,
    **more,
) -> Collected:
    (locustfiles / "scenario.py").write_text(text)
    phases = more.pop("phases", Phases(warmup_s=0.2, measured_s=0.6, drain_s=1.0))
    load = LoadProfile(locustfile="scenario.py", arrivals=arrivals, phases=phases, **more)
    generator.prepare(load, {"app": url}, out)
    return generator.run()


def assert_closed(collected: Collected) -> None:
    facts = collected.facts
    assert facts.issued == facts.completed + facts.failed + facts.dropped
    assert collected.requests.height == facts.completed + facts.failed
    assert collected.requests.filter(pl.col("error") != "").height == facts.failed
    assert collected.notes["locust_requests"] == collected.requests.height


@pytest.fixture
def run(generator, tmp_path, locustfiles):
    return lambda url, text, arrivals, **more: carry_out(
        generator, tmp_path, locustfiles, url, text, arrivals, **more
    )


def test_closed_loop_end_to_end(run, server):
    """The server counts what the client counts; every column is there; connections are kept."""
    collected = run(server.url, PAGE, ClosedLoop(users=5))
    assert_closed(collected)
    frame = collected.requests
    assert frame.columns == list(REQUEST_COLUMNS)
    assert frame.height == server.requests >= 5
    assert collected.facts.failed == 0
    assert collected.notes["connections_opened"] == 5
    assert (frame["start_ns"] == frame["intended_ns"]).all()
    assert (frame["latency_ns"] == frame["service_ns"]).all()
    assert set(frame["user"]) == set(range(5))
    assert frame["iteration"].n_unique() == frame.height
    assert frame["body_bytes"].unique().to_list() == [1024]
    assert collected.facts.cpu_s > 0
    assert {"cpu_share", "lag_p99_ms"} <= set(collected.counters["metric"]) or (
        collected.counters.is_empty()
    )
    assert set(collected.facts.versions) == {"locust", "gevent", "sizebook", "python"}


def test_phases_by_intended_start(run, server):
    """Phases follow each other without gap, hold their planned lengths, and label every row."""
    phases = Phases(ramp_s=0.3, warmup_s=0.2, measured_s=0.4, drain_s=1.0)
    collected = run(server.url, PAGE, ClosedLoop(users=3), phases=phases)
    marks = collected.phases
    assert [mark.name for mark in marks] == ["ramp", "warm-up", "measured", "drain"]
    lengths = [(mark.end_ns - mark.begin_ns) / 1e9 for mark in marks[:3]]
    assert lengths == pytest.approx([0.3, 0.2, 0.4])
    assert all(one.end_ns == two.begin_ns for one, two in itertools.pairwise(marks))
    for mark in marks:
        rows = collected.requests.filter(pl.col("phase").cast(pl.String) == mark.name)
        assert rows.filter(
            (pl.col("intended_ns") < mark.begin_ns) | (pl.col("intended_ns") >= mark.end_ns)
        ).is_empty()
    firsts = collected.requests.group_by("user").agg(pl.col("start_ns").min()).sort("user")
    starts = (firsts["start_ns"] - marks[0].begin_ns) / 1e9
    assert (starts.to_numpy() >= [0.0, 0.1, 0.2]).all()


@pytest.mark.parametrize("random", [False, True])
def test_users_think_between_requests(run, server, random):
    """After each answer a user pauses as long as its seeded think times say, never shorter."""
    arrivals = ClosedLoop(users=4, think_s=0.02, think_random=random)

    collected = asked_again(
        lambda: run(server.url, PAGE, arrivals, seed=3),
        lambda found: min(found.requests.filter(user=user).height for user in range(4)) > 3,
        "a user paused less than three times",
    )
    assert_closed(collected)
    for user in range(4):
        rows = collected.requests.filter(pl.col("user") == user)
        ends = (rows["start_ns"] + rows["service_ns"]).to_numpy()
        pauses = rows["start_ns"].to_numpy()[1:] - ends[:-1]
        planned = ThinkTimes(arrivals, 3, user)
        assert (pauses >= [planned.next_ns() for _ in pauses]).all()


def test_users_hardly_pause_in_a_rush(run, server):
    """A pause that begins in the rush is ten times shorter; from its end on it is as it was."""
    arrivals = ClosedLoop(users=4, think_s=0.4, rush_s=0.6)
    phases = Phases(warmup_s=1.0, measured_s=1.5, drain_s=2.0)

    def pauses_of(user, found):
        """Return a user's pauses: those that began in the rush, and those after it."""
        rows = found.requests.filter(pl.col("user") == user)
        ends = (rows["start_ns"] + rows["service_ns"]).to_numpy()[:-1]
        pauses = rows["start_ns"].to_numpy()[1:] - ends
        rush_end_ns = found.phases[0].begin_ns + 600_000_000
        return pauses[ends < rush_end_ns - 1_000_000], pauses[ends >= rush_end_ns]

    collected = asked_again(
        lambda: run(server.url, PAGE, arrivals, phases=phases, seed=3),
        lambda found: all(
            rushed.size > 4 and np.median(rushed) < 200_000_000 and calm.size > 1
            for rushed, calm in (pauses_of(user, found) for user in range(4))
        ),
        "the machine woke users up so late that their pauses were not those of a rush",
    )
    assert_closed(collected)
    for user in range(4):
        rushed, calm = pauses_of(user, collected)
        assert rushed.min() >= 40_000_000
        assert calm.min() >= 400_000_000


def test_users_think_after_joining(run, server):
    """Joining is a pass of its own: the first page comes when the first pause is over."""
    arrivals = ClosedLoop(users=4, think_s=0.05, think_random=True)
    collected = run(server.url, JOINING, arrivals, seed=3)
    assert_closed(collected)
    for user in range(4):
        rows = collected.requests.filter(pl.col("user") == user)
        assert rows["name"].cast(pl.String).to_list()[:2] == ["login", "page"]
        pause_ns = rows["start_ns"][1] - rows["start_ns"][0] - rows["service_ns"][0]
        assert pause_ns >= ThinkTimes(arrivals, 3, user).next_ns()


def test_cookies_belong_to_a_user(run, server):
    """Each user sends back the cookie that it was given, and nobody else's."""
    given, sent = itertools.count(), {}

    def login(head):
        cookie = f"id={next(given)}"
        return f"HTTP/1.1 200 OK\r\nSet-Cookie: {cookie}\r\nContent-Length: 0\r\n\r\n".encode()

    def page(head):
        user = head.split(b" ")[1].partition(b"=")[2]
        cookies = [line for line in head.split(b"\r\n") if line.startswith(b"Cookie:")]
        sent.setdefault(user, set()).add(b"".join(cookies))
        return b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    server.answers = {"/login": login, "/page": page}
    collected = run(server.url, SESSION, ClosedLoop(users=5))
    assert_closed(collected)
    assert collected.facts.failed == 0
    assert server.paths["/login"] == 5
    assert sorted(b"".join(cookies) for cookies in sent.values()) == [
        b"Cookie: id=%d" % number for number in range(5)
    ]


def test_open_arrivals_follow_the_schedule(run, server, tmp_path):
    """Each due time of the stored, reproducible schedule is the intended start of one request.

    None starts before it, and each that starts more than a ms after it is counted as late. Most
    start no later than the generator's own ticks come, which a busy machine delays as well.
    """
    arrivals = OpenArrivals(kind="poisson", rate_per_s=300, users=50)
    phases = Phases(warmup_s=0.2, measured_s=0.6, drain_s=60.0)
    collected = run(server.url, PAGE, arrivals, seed=9, phases=phases)
    assert_closed(collected)
    offsets = np.load(tmp_path / SCHEDULE_FILE)
    np.testing.assert_array_equal(offsets, arrival_offsets(arrivals, phases, seed=9))
    np.testing.assert_array_equal(collected.schedule, offsets)
    intended = np.sort(collected.requests["intended_ns"].to_numpy())
    np.testing.assert_array_equal(intended, offsets + collected.phases[0].begin_ns)
    late_ns = (collected.requests["start_ns"] - collected.requests["intended_ns"]).to_numpy()
    assert late_ns.min() >= 0
    assert collected.facts.late_starts == int((late_ns > 1_000_000).sum())
    assert np.median(late_ns) < 1_000_000 + collected.facts.lag_p99_ms * 1e6
    assert collected.facts.dropped == 0


def test_a_stall_shows_in_latency_not_in_service_time(run, server):
    """The server freezes for 1 s under 10 users at 200/s: every arrival that is due waits for it.

    Only ten requests can be under way in the freeze, one a user. All others start after it, so that
    their service times know nothing of it, and their latencies hold all of it that was left.
    """
    server.freeze_at(140, 1.0)
    collected = run(
        server.url, PAGE, OpenArrivals(kind="constant", rate_per_s=200, users=10),
        phases=Phases(warmup_s=0.3, measured_s=2.7, drain_s=60.0),
    )  # fmt: skip
    assert_closed(collected)
    frozen_ns, thawed_ns = server.frozen_ns
    assert thawed_ns - frozen_ns >= 1_000_000_000
    frame = collected.requests
    due_ns, start_ns = frame["intended_ns"].to_numpy(), frame["start_ns"].to_numpy()
    stalled = (due_ns > frozen_ns) & (due_ns < thawed_ns)
    planned_ns = collected.schedule + collected.phases[0].begin_ns
    assert stalled.sum() == ((planned_ns > frozen_ns) & (planned_ns < thawed_ns)).sum() > 20
    assert (frame["latency_ns"].to_numpy()[stalled] >= thawed_ns - due_ns[stalled]).all()
    under_way = (start_ns < thawed_ns) & (start_ns + frame["service_ns"].to_numpy() >= thawed_ns)
    assert 0 < under_way.sum() <= 10
    assert (start_ns[stalled & ~under_way] >= thawed_ns).all()
    assert (stalled & ~under_way).sum() >= stalled.sum() - 10
    assert collected.facts.late_starts == (start_ns - due_ns > 1_000_000).sum()
    assert (start_ns - due_ns)[stalled & ~under_way].min() > 0


def test_arrivals_that_never_start_are_dropped(run, server):
    """With every user stuck, what was due and never started is counted as dropped."""
    collected = run(
        server.url, PAGE, OpenArrivals(kind="constant", rate_per_s=100, users=4),
        settings={"path": "/never"}, phases=Phases(warmup_s=0.1, measured_s=0.4, drain_s=0.3),
    )  # fmt: skip
    facts = collected.facts
    assert (facts.issued, facts.failed, facts.dropped, facts.completed) == (50, 4, 46, 0)
    assert collected.requests["error"].unique().to_list() == ["unfinished"]
    assert (collected.requests["latency_ns"] > 600_000_000).all()


def test_a_load_says_how_long_a_request_may_take(run, server):
    """Whoever waits longer is told so; a load that does not say waits for half a minute."""
    collected = run(
        server.url, PAGE, ClosedLoop(users=2), request_timeout_s=0.3,
        settings={"path": "/never"}, phases=Phases(warmup_s=0.0, measured_s=0.5, drain_s=5.0),
    )  # fmt: skip
    assert_closed(collected)
    assert collected.requests["error"].unique().to_list() == ["timeout"]
    assert (collected.requests["service_ns"] >= 300_000_000).all()
    assert (collected.requests["service_ns"] < 30_000_000_000).all()
    load = LoadProfile(
        locustfile="a.py", arrivals=ClosedLoop(users=1), phases=Phases(warmup_s=0, measured_s=1)
    )
    assert load.request_timeout_s == 30.0
    assert "request_timeout_s" not in load.model_dump_json()


def test_paced_users_follow_their_own_due_times(run, server, tmp_path):
    """Each due time of a user is the intended start of one pass, once the user has joined."""
    arrivals = PacedUsers(
        groups=(
            PacedGroup(users=8, period_s=0.2, name="clerks"),
            PacedGroup(users=3, period_s=0.5, name="clerks"),
            PacedGroup(users=1, period_s=0.1, name="background"),
        )
    )
    phases = Phases(ramp_s=0.3, warmup_s=0.2, measured_s=0.6, drain_s=1.0)
    collected = run(server.url, GROUPS, arrivals, seed=4, phases=phases)
    assert_closed(collected)
    each = paced_offsets(arrivals, phases, 4)
    np.testing.assert_array_equal(np.load(tmp_path / SCHEDULE_FILE), np.sort(np.concatenate(each)))
    frame = collected.requests.with_columns(pl.col("name").cast(pl.String))
    begin_ns = collected.phases[0].begin_ns
    heads = frame.filter(pl.col("name").str.ends_with(" 0"))
    for user, due in enumerate(each):
        own = np.sort(heads.filter(pl.col("user") == user)["intended_ns"].to_numpy())
        np.testing.assert_array_equal(own, due + begin_ns)
    assert set(frame.filter(pl.col("user") == 11)["name"]) == {"login", "background 0"}
    clicks = frame.filter((pl.col("user") < 11) & (pl.col("name") != "login"))
    assert clicks.group_by("iteration").len()["len"].unique().item() == 3
    rest = frame.filter(~pl.col("name").str.ends_with(" 0"))
    joins = rest.filter(pl.col("name") == "login").sort("user")["start_ns"] - begin_ns
    assert (joins.to_numpy()[:8] >= np.arange(8) * 0.3 / 8 * 1e9).all() and len(joins) == 12
    assert (rest["intended_ns"] == rest["start_ns"]).all()
    assert collected.facts.dropped == 0


def test_paced_users_catch_up_one_pass_at_a_time(run, server):
    """After a freeze what fell due meanwhile is done at once, but no user does two at a time."""
    server.freeze_at(20, 0.6)
    collected = run(
        server.url, PAGE, PacedUsers(groups=(PacedGroup(users=5, period_s=0.1),)),
        phases=Phases(warmup_s=0.2, measured_s=1.8, drain_s=60.0),
    )  # fmt: skip
    assert_closed(collected)
    frozen_ns, thawed_ns = server.frozen_ns
    frame = collected.requests
    assert (frame.height, collected.facts.dropped) == (100, 0)
    assert (frame["start_ns"] - frame["intended_ns"]).min() >= 0
    in_freeze = pl.col("intended_ns").is_between(frozen_ns, thawed_ns)
    overdue = frame.filter(in_freeze, pl.col("start_ns") >= thawed_ns).height
    assert overdue >= frame.filter(in_freeze).height - 5 > 5
    for user in range(5):
        own = frame.filter(pl.col("user") == user).sort("start_ns")
        ends = (own["start_ns"] + own["service_ns"]).to_numpy()
        assert own["intended_ns"].is_sorted()
        assert (own["start_ns"].to_numpy()[1:] >= ends[:-1]).all()


def test_what_paced_users_never_start_is_dropped(run, server):
    """Each user is stuck in its first pass: all its later ones are dropped, and counted."""
    collected = run(
        server.url, PAGE, PacedUsers(groups=(PacedGroup(users=4, period_s=0.1),)),
        settings={"path": "/never"}, phases=Phases(warmup_s=0.1, measured_s=0.4, drain_s=0.3),
    )  # fmt: skip
    facts = collected.facts
    assert (facts.issued, facts.failed, facts.dropped, facts.completed) == (20, 4, 16, 0)


def test_an_early_stop_leaves_what_is_overdue_and_cuts_nothing_off(
    generator, server, tmp_path, locustfiles
):
    """Users far behind their pace: stopped, they begin no pass more, and every request ends."""
    (locustfiles / "hurried.py").write_text(PAGE)
    load = LoadProfile(
        locustfile="hurried.py",
        arrivals=PacedUsers(groups=(PacedGroup(users=20, period_s=0.0002),)),  # nobody is so fast
        phases=Phases(warmup_s=0.0, measured_s=5.0, drain_s=60.0),
    )
    generator.prepare(load, {"app": server.url}, tmp_path)
    collected = generator.run(lambda _: generator.stop_trial())
    assert_closed(collected)
    assert collected.stopped_early
    assert collected.facts.dropped > 0
    assert (collected.facts.failed, collected.requests.height) == (0, server.requests)
    drain = collected.phases[-1]
    late = collected.requests.filter(pl.col("start_ns") > drain.begin_ns)
    assert late["user"].is_unique().all()  # of the pass that the user was in


@pytest.mark.parametrize(
    ("text", "arrivals", "message"),
    [
        (GROUPS, ClosedLoop(users=2), "closed arrivals for scenario.py"),
        (GROUPS, PacedUsers(groups=(PacedGroup(users=2, period_s=1),)), "group ''"),
        (PAGE, PacedUsers(groups=(PacedGroup(users=2, period_s=1, name="a"),)), "group 'a'"),
    ],
)
def test_groups_that_the_scenario_does_not_know_are_refused(run, server, text, arrivals, message):
    """A scenario with groups wants paced users in just these; one without wants no names."""
    with pytest.raises(UsageError, match=message):
        run(server.url, text, arrivals)


@pytest.mark.parametrize(("path", "error"), [("/wrong", "status"), ("/drop", "reset")])
def test_accounting_closes_when_the_server_misbehaves(run, server, path, error):
    """Wrong answers and dropped connections are failures by class; nothing is lost or doubled."""
    collected = run(server.url, PAGE, ClosedLoop(users=4), settings={"path": path})
    assert_closed(collected)
    frame = collected.requests
    assert set(frame["error"].unique().cast(pl.String)) <= {"", error}
    if path == "/drop":
        retried = collected.notes["requests_retried"]
        assert server.dropped == retried + collected.facts.failed > 0
        assert server.requests == frame.height + retried
    else:
        assert collected.facts.failed == server.requests // 5


def test_nobody_listens(run):
    """A refused connection is a failure, and users do not spin on it."""
    collected = run("http://127.0.0.1:1", PAGE, ClosedLoop(users=2))
    assert_closed(collected)
    assert collected.requests["error"].unique().to_list() == ["connect"]
    assert collected.requests.height < 400


def test_an_answer_too_many_is_accounted_for(run, server):
    """Answers that come one early would otherwise pass for good ones, from then on."""
    told = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    early = iter([told])

    def answer(head):
        return told

    def first_and_another(head):
        server.answers["/page"] = answer
        server._loop.call_later(0.05, server.writers[-1].write, next(early))
        return told

    server.answers["/page"] = first_and_another
    text = PAGE.replace("length=1024", "length=0")
    collected = run(server.url, text, ClosedLoop(users=1, think_s=0.1), settings={"path": "/page"})
    assert collected.facts.strays == 1
    assert set(collected.requests["error"].cast(pl.String)) == {"", "protocol"}
    assert collected.notes["connections_opened"] == 2
    assert run(server.url, PAGE, ClosedLoop(users=1)).facts.strays == 0


def test_the_address_in_use_is_noted(run, server):
    """Of a name; of an address in numbers there is nothing to tell."""
    port = server.url.rpartition(":")[2]
    collected = run(f"http://localhost:{port}", PAGE, ClosedLoop(users=2))
    assert_closed(collected)
    assert collected.facts.failed == 0
    assert collected.notes["address_app"].startswith("127.0.0.1, address ")
    assert collected.notes["connections_opened"] == 2
    assert "address_app" not in run(server.url, PAGE, ClosedLoop(users=1)).notes


def test_locusts_own_users_are_recorded(run, server):
    """HttpUser and FastHttpUser, unchanged, leave a row a request and who made it."""
    collected = run(server.url, FOREIGN, ClosedLoop(users=4))
    assert_closed(collected)
    frame = collected.requests
    assert collected.facts.client == "FastHttpUser+HttpUser"
    assert collected.schedule is None
    assert set(frame["name"].unique().cast(pl.String)) == {"fast", "plain"}
    assert frame.height == server.requests
    assert set(frame["user"]) == {0, 1, 2, 3}
    assert set(frame["error"].unique().cast(pl.String)) == {"", "body"}
    assert frame["start_ns"].min() >= collected.phases[0].begin_ns - 1_000_000
    assert (frame["service_ns"] > 0).all()


def test_locusts_client_with_our_arrivals(run, server):
    """A scenario on FastHttpUser gets open arrivals and latencies from the intended start."""
    collected = run(
        server.url, FAST_SCENARIO, OpenArrivals(kind="constant", rate_per_s=100, users=20)
    )
    assert_closed(collected)
    assert collected.facts.issued == 80 == server.requests
    assert collected.facts.client == "FastHttpUser"
    offsets_ns = collected.requests["intended_ns"].sort().diff().drop_nulls()
    assert set(offsets_ns) == {10_000_000}


def test_a_client_of_ones_own_is_named_by_its_base(run, server):
    """What is neither ours nor one of Locust's HTTP classes goes by the class it is built on."""
    collected = run(server.url, CUSTOM, ClosedLoop(users=2))
    assert collected.facts.client == "User"
    assert collected.requests.height == collected.facts.issued == 2


def test_several_trials_in_one_process(run, server):
    """Nothing of a trial remains in the next: counts start from zero each time."""
    first = run(server.url, PAGE, ClosedLoop(users=2))
    second = run(server.url, PAGE, ClosedLoop(users=3))
    assert first.requests.height + second.requests.height == server.requests
    assert second.requests["iteration"].min() == 0
    assert second.notes["connections_opened"] == 3


def test_workers_share_the_arrivals(generator, locustfiles, tmp_path, server):
    """Two workers together carry each arrival once, each under its own number."""
    (locustfiles / "scenario.py").write_text(PAGE)
    load = LoadProfile(
        locustfile="scenario.py",
        arrivals=OpenArrivals(kind="constant", rate_per_s=100, users=5),
        phases=Phases(warmup_s=0, measured_s=0.4, drain_s=0.5),
    )
    offsets, users = [], set()
    for worker in range(2):
        generator.prepare(load, {"app": server.url}, tmp_path / str(worker), worker=worker,
                          workers=2)  # fmt: skip
        collected = generator.run()
        begin_ns = collected.phases[0].begin_ns
        offsets += (collected.requests["intended_ns"] - begin_ns).to_list()
        users |= set(collected.requests["user"])
        assert collected.requests["worker"].unique().to_list() == [worker]
    assert sorted(offsets) == [k * 10_000_000 for k in range(40)]
    assert users <= {0, 1, 2, 3, 4}


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of another process: Linux")
def test_more_users_than_files_are_refused(run, generator, server):
    """Each user keeps a connection; the error names both numbers, and the next trial runs."""
    pid = generator.process.inner_pid
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (100, hard))
    try:
        with pytest.raises(UsageError, match="200 users for a worker that may open 100 files"):
            run(server.url, PAGE, ClosedLoop(users=200))
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
    assert run(server.url, PAGE, ClosedLoop(users=200)).notes["connections_opened"] == 200
