"""``sizebook run --locustfile``: files as Locust's documentation writes them run unchanged."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import psutil
import pytest
from tests.waiting import HANGS_S, still_alive, wait_until
from typer.testing import CliRunner

from sizebook.checks import judge
from sizebook.cli.main import app
from sizebook.load.stages import StagedUsers
from sizebook.store import find_bundles, open_bundle

STYLES = Path(__file__).parent / "styles"
SHORT = ("--seconds", "1", "--warmup", "0.1", "--users", "4")
COMMAND = [sys.executable, "-m", "sizebook.cli", "run"]


@pytest.fixture
def run(outside, shop):
    """Measure a locustfile by the command; give its bundle, what it printed, the server's count."""

    def measure(file, *options, host=True, code=0):
        before = shop.counts()
        at = ("--host", shop.url) if host else ()
        words = ["run", "--locustfile", str(file), *at, *options, "--json"]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == code, (done.output, done.exception)
        said = json.loads(done.stdout)
        bundle = open_bundle(Path(said["bundle"]))
        asked = shop.since(before)
        return bundle, said, asked

    return measure


def names(bundle):
    """Return how often each name was recorded in all of a trial."""
    counted = bundle.requests["name"].cast(pl.String).value_counts()
    return dict(counted.iter_rows())


def plain(asked):
    """Return the server's count by path, without what asks whether it is there."""
    found = {}
    for words, number in asked.items():
        path = words.partition(" ")[2]
        found[path] = found.get(path, 0) + number
    found["/"] = found.get("/", 0) - 2  # by the command, and by the trial before its load
    return {path: number for path, number in found.items() if number}


WITHOUT_FAILURE = {
    "quickstart.py": {"/hello", "/world", "/item", "/login"},
    "nested_task_sets.py": {"/index", "/thread", "/thread/begin"},
    "sequence.py": {"/look", "/choose", "/pay"},
    "login_token.py": {"/login", "/cart"},
    "rest_fast.py": {"/api/echo"},
    "tagged.py": {"/one", "/both", "/none"},
    "several_classes.py": {"/web", "/mobile", "/admin"},
    "own_client.py": {"/rpc"},
    "arguments.py": {"/default"},
    "markov.py": {"/browse", "/add"},
}


@pytest.mark.parametrize("style", WITHOUT_FAILURE)
def test_files_in_the_styles_of_the_documentation_run_unchanged(run, style):
    """What they ask for is recorded as the server counts it; no exception, nothing failed."""
    bundle, said, asked = run(STYLES / style, *SHORT)
    assert said["outcome"] == "completed"
    facts = bundle.record.execution.facts
    assert facts["script_errors"] == 0
    assert bundle.record.generator.failed == 0
    recorded = names(bundle)
    assert WITHOUT_FAILURE[style] <= recorded.keys()
    counted = plain(asked)
    counted.pop("/logout", None)  # some are cut off with their users
    recorded.pop("/logout", None)
    assert recorded == counted
    findings = {one["rule"]: one for one in said["findings"]}
    assert findings["SB101-accounting"]["passed"]
    assert findings["SB301-errors"]["passed"]
    assert all(one["message"] for one in said["findings"])


def test_steps_come_in_their_order_and_tasks_end_passes(run):
    """A SequentialTaskSet: look, three times choose, pay."""
    bundle, _, _ = run(STYLES / "sequence.py", *SHORT)
    steps = ["/look", "/choose", "/choose", "/choose", "/pay"]
    for user in range(4):
        own = bundle.requests.filter(pl.col("user") == user).sort("start_ns")
        asked = own["name"].cast(pl.String).to_list()
        assert len(asked) > 5
        assert asked == [steps[at % 5] for at in range(len(asked))]
        assert own["iteration"].n_unique() == own.height


def test_pauses_of_nested_task_sets_end_passes_too(run):
    """A TaskSet's own wait_time paces its user's passes, and is named."""
    bundle, _, _ = run(STYLES / "nested_task_sets.py", *SHORT)
    assert bundle.record.generator.pauses == "constant(0.01), constant(0.02)"
    reads = bundle.requests.filter(pl.col("name").cast(pl.String) == "/thread")
    assert reads["iteration"].n_unique() > 1


def test_what_the_locustfile_says_of_an_answer_counts(run):
    """A 404 that was expected is good; a 200 with another body has failed."""
    bundle, said, asked = run(STYLES / "catch_response.py", *SHORT, "--failed-share", "1")
    rows = bundle.requests.with_columns(pl.col("name", "error").cast(pl.String))
    errors = {name: set(own["error"]) for (name,), own in rows.group_by("name")}
    assert errors == {"/missing": {""}, "wrong body": {"body"}}
    assert rows.height == plain(asked)["/missing"] + plain(asked)["/body"]
    assert said["outcome"] == "completed"


def test_listeners_hear_all_events_and_an_exit_code_is_told(run):
    """From init to quitting; the trial has failed by our own rule, too."""
    bundle, said, _ = run(STYLES / "listeners.py", *SHORT)
    assert bundle.record.execution.facts["locust_exit_code"] == 7
    assert any("exit code 7" in line for line in said["not_known"])
    assert said["verdict"] == "failed"
    assert said["failed_share"] == 100.0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--tags", "tag1"), {"/one", "/both"}),
        (("--tags", "tag1", "--exclude-tags", "tag2"), {"/one"}),
    ],
)
def test_tags_choose_tasks(run, options, expected):
    """They are part of the trial's identity."""
    bundle, _, _ = run(STYLES / "tagged.py", *SHORT, *options)
    assert names(bundle).keys() == expected
    assert bundle.record.trial.load.settings


def test_classes_have_their_weights_and_counts_and_can_be_chosen(run):
    """One admin; the rest by three to one."""
    bundle, _, _ = run(
        STYLES / "several_classes.py", "--seconds", "1", "--warmup", "0.1", "-u", "9"
    )
    rows = bundle.requests.with_columns(pl.col("name").cast(pl.String))
    users = {name: own["user"].n_unique() for (name,), own in rows.group_by("name")}
    assert users == {"/admin": 1, "/web": 6, "/mobile": 2}
    assert bundle.record.generator.client == "FastHttpUser+HttpUser"
    chosen, _, _ = run(STYLES / "several_classes.py", *SHORT, "--user-class", "MobileUser")
    assert names(chosen).keys() == {"/mobile"}
    assert chosen.record.generator.client == "FastHttpUser"


def test_arguments_of_a_locustfile_can_be_given(run):
    """By their names, with the types that the file declares."""
    given = ("-p", "my_page=front", "-p", "times=2", "-p", "shout=true")
    bundle, _, _ = run(STYLES / "arguments.py", *SHORT, *given)
    assert names(bundle).keys() == {"/front!"}
    passes = bundle.requests.group_by("user", "iteration").len()
    assert passes.filter(pl.col("len") == 2).height > 0


def test_a_load_shape_becomes_users_over_time(run):
    """Nobody comes before its time, and who has to go asks once more at most."""
    bundle, said, _ = run(STYLES / "staged.py", "--warmup", "0.2")
    load = bundle.record.trial.load
    assert (load.arrivals.users, load.phases.measured_s) == (4, 3.0)
    start_ns = bundle.record.execution.phases[0].begin_ns
    staged = StagedUsers.of(load)
    own = {u: bundle.requests.filter(pl.col("user") == u)["start_ns"] - start_ns for u in range(4)}
    for user, starts in own.items():
        (begin_ns, end_ns), *_ = staged.stays(user)
        assert starts.len() > 0
        assert (starts >= begin_ns).all()
        assert (starts > end_ns).sum() <= 1
    steady = next(one for one in said["findings"] if one["rule"] == "SB601-steady")
    assert steady["passed"] is None
    assert "users come and go on purpose, 0 to 4 at a time" in steady["message"]


def test_the_host_of_a_class_and_files_beside_it_are_enough(run, shop, outside):
    """Without --host; data and modules are told by name, and nothing of where the file lies."""
    folder = outside / "mine"
    folder.mkdir()
    (folder / "helper_beside.py").write_text("PATHS = ['/beside']\n")
    (folder / "people.csv").write_text("ann\nbob\n")
    (folder / "mine.py").write_text(
        "import csv\nfrom helper_beside import PATHS\nfrom locust import HttpUser, constant, task\n"
        "PEOPLE = [row[0] for row in csv.reader(open('people.csv'))]\n"
        "class Mine(HttpUser):\n"
        f"    host = '{shop.url}/'\n"
        "    wait_time = constant(0.01)\n"
        "    @task\n"
        "    def go(self):\n"
        "        for path in PATHS:\n"
        "            self.client.get(f'{path}/{PEOPLE[0]}', name=path)\n"
    )
    bundle, _, asked = run(folder / "mine.py", *SHORT, host=False)
    assert names(bundle) == {"/beside": plain(asked)["/beside/ann"]}
    assert bundle.record.fingerprints.data.keys() == {"helper_beside.py", "people.csv"}
    assert str(outside) not in (bundle.path / "trial.json").read_text()
    assert bundle.path.parent == outside / "sizebook-runs"


def test_the_server_s_process_is_found_and_watched(run):
    """CPU and memory of whatever listens at the port of this machine."""
    bundle, said, _ = run(STYLES / "quickstart.py", *SHORT)
    sources = set(bundle.counters["source"].cast(pl.String))
    assert "process/system-1" in sources
    assert not any(line.startswith("CPU and memory") for line in said["not_known"])
    assert judge(bundle).findings


RAISING = """
from locust import HttpUser, constant, task

class Raising(HttpUser):
    wait_time = constant(0.05)

    @task
    def go(self):
        self.client.get("/before")
        {}["token"]
"""


def test_exceptions_of_tasks_are_counted_and_named(run, outside):
    """As Locust does, users go on; the trial's errors tell of them with file and line."""
    (outside / "raising.py").write_text(RAISING)
    bundle, said, _ = run(outside / "raising.py", *SHORT)
    assert bundle.requests.height > 4
    assert said["verdict"] == "failed"
    errors = next(one for one in said["findings"] if one["rule"] == "SB301-errors")
    assert "exceptions of the locustfile, the first: KeyError in raising.py, line 10" in str(errors)


def test_what_is_printed_has_requests_findings_and_what_is_not_known(outside, shop):
    """For people: a row a name, each rule that does not apply with its reason, the bundle."""
    words = ["run", "-f", str(STYLES / "quickstart.py"), "-H", shop.url, *SHORT]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert f"target: {shop.url} (" in done.stderr
    assert f"process {shop.pid})" in done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith("/item ") for line in lines)
    unknown = [line for line in lines if " n/a " in line]
    assert unknown
    assert all("does not apply: " in line for line in unknown)
    assert any(line.startswith("verdict: ") for line in lines)
    assert any(line.startswith("not known: how late a request was sent") for line in lines)


def test_ctrl_c_keeps_what_was_measured_and_leaves_nothing(outside, shop):
    """The bundle says that it failed, and when; a shell is told 130."""
    shutil.copy(STYLES / "quickstart.py", outside)
    before = shop.counts().get("GET /item", 0)
    command = [*COMMAND, "-f", "quickstart.py", "-H", shop.url, "-t", "600", "--warmup", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert wait_until(lambda: shop.counts().get("GET /item", 0) > before + 30)
        family = psutil.Process(process.pid).children(recursive=True)
        os.kill(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=HANGS_S)
    assert process.returncode == 130, errors
    assert still_alive(family) == []
    (path,) = find_bundles(outside / "sizebook-runs")
    bundle = open_bundle(path)
    assert bundle.record.outcome == "failed"
    assert "stopped by hand" in bundle.record.failure
    assert bundle.requests.height > 30
    assert "stopped by hand" in output
    assert "verdict: failed" in output


def test_a_project_keeps_it_among_its_runs(run, outside):
    """And its stack, which the load does not need, is not built."""
    (outside / "_config.yml").touch()
    (outside / "notebooks").mkdir()
    (outside / "stack").mkdir()
    (outside / "stack" / "pom.xml").write_text("not to be built")
    bundle, _, _ = run(STYLES / "tagged.py", *SHORT)
    assert bundle.path.parent == outside / "data" / "runs" / "trial"
    assert bundle.record.fingerprints.stack == ""
