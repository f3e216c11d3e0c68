"""Bad input, missing parts, interruption and killing: one message, whole bundles, no process."""

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests.waiting import HANGS_S, children_of, still_alive

from sizebook.store import find_bundles, measurement_lock, open_bundle
from sizebook.store.bundles import verify_bundle
from sizebook.store.lock import NOT_ALONE

TRIAL = ("trial", "--conditioning", "0", "--warmup", "0", "--json")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "no-such-chapter"), "no chapter 'no-such-chapter'"),
        (("run", "odata-rest", "--profile", "fast"), "profile 'fast'"),
        (("run", "odata-rest", "-p", "colour=red"), "no parameter 'colour'"),
        (("run", "odata-rest", "-p", "users=many"), "users='many'"),
        (("run", "odata-rest", "-p", "users"), "parameter 'users'"),
        (("run", "odata-rest", "--source", "no-such-folder"), "source 'no-such-folder'"),
        (("plan", "odata-rest", "--profile", "fast"), "profile 'fast'"),
        (("chapters", "no-such-chapter"), "no chapter"),
        (("trial", "--locustfile", "none.py"), "load profile 'none.py'"),
        (("trial", "-s", "representation=paper"), "paper"),
        (("trial", "-s", "representation"), "setting 'representation'"),
        (("trial", "-a", "treads=5"), "'treads'"),
        (("trial", "--topology", "near"), "topology 'near'"),
        (("trial", "--heap", "9000000"), "MiB of free memory"),
    ],
    ids=lambda value: "-".join(value)[:50] if isinstance(value, tuple) else "",
)
def test_bad_input_is_one_message_and_no_traceback(copied_project, arguments, message):
    """Exit code 1, found/expected/next in one line, and nothing was measured."""
    done = copied_project.sizebook(*arguments)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert message in said
    assert "expected" in said
    assert "next:" in said
    assert "Traceback" not in said


def test_flags_of_the_wrong_type_are_refused_by_name(copied_project):
    """A malformed flag is named; exit code 2 as usual for usage errors."""
    done = copied_project.sizebook("trial", "--users", "ten")
    assert done.returncode == 2
    assert "--users" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_measurement_is_refused(copied_project):
    """Whoever holds the project is named, and whoever holds the machine (tests/store)."""
    with measurement_lock("a test", copied_project.root / ".sizebook"):
        done = copied_project.sizebook(*TRIAL)
    assert done.returncode == 1
    assert f"process {os.getpid()}, a test" in done.stderr


def test_a_trial_by_hand_leaves_a_bundle_and_its_numbers(copied_project):
    """Open arrivals at a rate: offered = achieved, latency from the intended start."""
    out = copied_project.root / "data" / "by-hand"
    done = copied_project.sizebook(
        "trial", "--rate", "100", "--poisson", "--warmup", "0.5", "--measured", "2",
        "--conditioning", "1", "--locustfile", "flight.py", "--out", str(out), "--json", check=0,
    )  # fmt: skip
    report = json.loads(done.stdout)
    bundle = open_bundle(Path(report["bundle"]))
    rows = bundle.requests
    assert report["outcome"] == "completed"
    assert 100 < rows.height < 400
    assert (rows["latency_ns"] >= rows["service_ns"]).all()
    assert (rows["start_ns"] >= rows["intended_ns"]).all()
    findings = {finding["rule"]: finding for finding in report["findings"]}
    assert findings["SB302-offered"]["passed"] is not None


def start_run(copied_project, *arguments):
    """Start a measuring command and wait until its stack serves a load."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sizebook.cli", *arguments],
        cwd=copied_project.root,
        env={**os.environ, "SIZEBOOK_ROOT": str(copied_project.root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + HANGS_S
    while time.monotonic() < deadline and process.poll() is None:
        commands = [" ".join(_command(child)) for child in children_of(process.pid)]
        if any("refstack.role" in c for c in commands) and any(
            (copied_project.root / ".sizebook" / "run").glob("*/trial-*")
        ):
            return process, children_of(process.pid)
        time.sleep(0.05)
    raise AssertionError(f"no trial started: {process.communicate()}")


def _command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


LONG = ("trial", "--conditioning", "0", "--warmup", "0", "--measured", "60")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_trial_leaves_nothing_running(copied_project, number):
    """Ctrl-C, termination, kill -9: every process ends, whole bundles stay, the next run works."""
    before = sorted(find_bundles(copied_project.root / "data" / "runs"))
    process, family = start_run(copied_project, *LONG)
    process.send_signal(number)
    _, said = process.communicate(timeout=HANGS_S)
    assert still_alive(family) == []
    assert "Traceback" not in said
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert "finished trials are kept" in said
    assert sorted(find_bundles(copied_project.root / "data" / "runs")) == before
    copied_project.sizebook(*TRIAL, "--measured", "0.2", check=0)
    assert list((copied_project.root / ".sizebook" / "run").glob("*")) == []


def test_a_killed_chapter_run_goes_on_where_it_stopped(copied_project):
    """kill -9 of 'sizebook run' in the middle: finished trials are kept and not measured twice."""
    chapter = "rules-of-thumb"
    options = ("--profile", "smoke", "-p", "seed=2")
    runs = copied_project.runs(chapter)
    known = set(copied_project.bundles(chapter))
    process, family = start_run(copied_project, "run", chapter, *options)
    deadline = time.monotonic() + HANGS_S
    while len(set(copied_project.bundles(chapter)) - known) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.communicate()
    assert still_alive(family) == []
    finished = set(copied_project.bundles(chapter)) - known
    for name in finished:
        verify_bundle(open_bundle(runs / name))
    (plan,) = json.loads(
        copied_project.sizebook("plan", chapter, *options, "--json", check=0).stdout
    )
    measured = [n for n in finished if open_bundle(runs / n).record.trial.purpose == "measured"]
    assert 0 < plan["missing"] == plan["trials"] - len(measured)
    done = copied_project.sizebook("run", chapter, *options, check=0)
    assert f"{chapter}: ran" in done.stdout
    keys = [open_bundle(path).record for path in find_bundles(runs)]
    measured_keys = [r.key for r in keys if r.trial.purpose == "measured"]
    assert len(measured_keys) == len(set(measured_keys))


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("refstack.role", "app-1 ended with -9"),
        ("bin/postgres", "database-1 ended with -9"),
        ("sizebook.load.generator", "a generator that ended by itself (exit code -9)"),
    ],
    ids=["node", "database", "generator"],
)
def test_what_dies_within_a_trial_fails_it_with_the_reason(copied_project, part, words):
    """kill -9 in the middle of a trial: a bundle that says so, exit code 1, nothing running."""
    out = copied_project.root / "data" / f"killed-{part.rpartition('/')[2]}"
    process, family = start_run(copied_project, *LONG, "--out", str(out), "--json")
    next(p for p in family if part in " ".join(_command(p))).kill()
    printed, said = process.communicate(timeout=HANGS_S)
    assert process.returncode == 1, said
    report = json.loads(printed)
    assert report["outcome"] == "failed"
    assert words in report["failure"]
    assert report["verdict"] == "failed"
    assert "Traceback" not in said
    assert still_alive(family) == []
    verify_bundle(open_bundle(next(iter(find_bundles(out)))))


def test_the_stack_can_be_tried_by_hand(copied_project):
    """up serves, status shows it, a measurement is refused meanwhile, down leaves nothing."""
    import urllib.request

    up = json.loads(copied_project.sizebook("stack", "up", "--json", check=0).stdout)
    try:
        with urllib.request.urlopen(up["urls"]["app"] + "/rest/flights") as answer:
            assert len(json.load(answer)) == 400
        assert (
            json.loads(copied_project.sizebook("stack", "status", "--json", check=0).stdout) == up
        )
        assert copied_project.sizebook("stack", "up").returncode == 1
        assert "a stack held by hand" in copied_project.sizebook(*TRIAL).stderr
        family = [psutil.Process(up["holder_pid"]), *children_of(up["holder_pid"])]
    finally:
        copied_project.sizebook("stack", "down", check=0)
    assert still_alive(family) == []
    assert copied_project.sizebook("stack", "status").returncode == 1


def test_an_ordinary_user_can_run_a_trial(copied_project, tmp_path_factory):
    """Database, nodes and generator work without root."""
    if os.geteuid() != 0:
        copied_project.sizebook(*TRIAL, "--measured", "0.2", check=0)
        return
    home = tmp_path_factory.mktemp("nobody")
    made = next(folder for folder in home.parents if folder.name.startswith("pytest-of-"))
    for folder in (home, *home.parents):
        if folder.is_relative_to(made):
            folder.chmod(0o755)
    copy = home / "project"
    left_out = shutil.ignore_patterns(".sizebook", "_build", "data", "target")
    shutil.copytree(copied_project.root, copy, ignore=left_out)
    (copy / "stack" / "target").symlink_to((copied_project.root / "stack" / "target").resolve())
    subprocess.run(["chown", "-Rh", "65534:65534", str(home)], check=True)
    # An ordinary user in every respect but one: the tests' own Python may lie in root's home.
    ordinary = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    ordinary += ["--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]
    done = subprocess.run(
        [*ordinary, sys.executable, "-m", "sizebook.cli", *TRIAL, "--measured", "0.3"],
        cwd=copy,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "TMPDIR": str(home),
            "SIZEBOOK_ROOT": str(copy),
            NOT_ALONE: "1",
        },
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome"] == "completed"


def test_a_conditioning_load_that_fails_ends_its_session(copied_project):
    """It is not tried for ever: the session's trials are stored as failed, with the reason."""
    from sizebook.lab import Setup, app_stack, place
    from sizebook.lab.bench import opened_bench
    from sizebook.lab.planning import plan_sessions
    from sizebook.lab.profiles import get_profile
    from sizebook.lab.progress import Progress
    from sizebook.model.design import Design, Factor
    from sizebook.model.load import ClosedLoop, LoadProfile
    from sizebook.store import Project

    smoke, here = get_profile("smoke"), place()

    def wrong_number_of_flights(treatment):
        load = LoadProfile(
            locustfile="odata_rest.py",
            arrivals=ClosedLoop(users=treatment["users"]),
            phases=smoke.phases,
            settings={"flights": 399},
            cpus=here.generator,
        )
        return Setup(app_stack(here), load)

    design = Design("d", (Factor("users", (1, 2), plot="sub"),), replicates=1, seed=1)
    (session,) = plan_sessions("c", smoke, design, wrong_number_of_flights, 0.3)
    with opened_bench(Project(copied_project.root), "a test") as bench:
        folder = copied_project.root / "data" / "conditioning"
        bundles = bench.run(session, folder, Progress("c", 2, session.planned_s()))
    assert [b.record.trial.purpose for b in bundles] == ["conditioning", "measured", "measured"]
    assert {b.record.outcome for b in bundles} == {"failed"}
    assert all("its conditioning load failed" in b.record.failure for b in bundles[1:])


def conditioned_twice(copied_project):
    """Return a session of two trials on the null server, whose conditioning load comes twice."""
    from sizebook.lab import Setup, null_server, place
    from sizebook.lab.planning import Session, conditioning, plan_sessions
    from sizebook.lab.profiles import get_profile
    from sizebook.model.design import Design, Factor
    from sizebook.model.load import ClosedLoop, LoadProfile

    smoke, here = get_profile("smoke"), place()

    def users(treatment):
        arrivals = ClosedLoop(users=treatment["users"])
        load = LoadProfile(
            locustfile="null.py", arrivals=arrivals, phases=smoke.phases, cpus=here.generator
        )
        return Setup(null_server(here), load)

    design = Design("d", (Factor("users", (1, 2), plot="sub"),), replicates=1, seed=1)
    (plain,) = plan_sessions("c", smoke, design, users, 0.0)
    loads = conditioning(plain.trials, 0.4) + conditioning(plain.trials, 0.7)
    return Session("d", 0, loads, plain.trials)


def run_session(copied_project, session, folder):
    """Run a session and return its bundles, which are all that is in the folder."""
    from sizebook.lab.bench import opened_bench
    from sizebook.lab.progress import Progress
    from sizebook.store import Project

    with opened_bench(Project(copied_project.root), "a test") as bench:
        bundles = bench.run(session, folder, Progress("c", 2, session.planned_s()))
    assert {path.name for path in find_bundles(folder)} == {one.id for one in bundles}
    return bundles


def test_of_several_conditioning_loads_the_first_is_kept(copied_project):
    """The trials say how long all of them lasted, and stand in their places as if it were one."""
    session = conditioned_twice(copied_project)
    bundles = run_session(copied_project, session, copied_project.root / "data" / "twice")
    first, *trials = (one.record for one in bundles)
    assert first.trial == session.conditioning[0]
    assert first.execution.phases_s() < session.conditioning[1].load.phases.planned_s
    assert [one.trial for one in trials] == list(session.trials)
    assert [one.execution.position for one in (first, *trials)] == [0, 1, 2]
    assert {one.outcome for one in (first, *trials)} == {"completed"}
    assert first.execution.facts["conditioned_s"] == 0
    for one in trials:
        assert one.execution.facts["conditioned_s"] >= 0.4 + 0.7


def test_a_second_conditioning_load_that_fails_is_kept_with_its_reason(copied_project):
    """Beside the first, which succeeded; the trials fail for that reason."""
    session = conditioned_twice(copied_project)
    good, bad = session.conditioning
    bad = bad.model_copy(update={"load": bad.load.model_copy(update={"locustfile": "broken.py"})})
    session = dataclasses.replace(session, conditioning=(good, bad))
    broken = copied_project.root / "locustfiles" / "broken.py"
    broken.write_text("raise ValueError('SYNTHETIC')\n")
    try:
        bundles = run_session(copied_project, session, copied_project.root / "data" / "second")
    finally:
        broken.unlink()
    assert [one.record.trial for one in bundles] == [good, bad, *session.trials]
    assert [one.record.outcome for one in bundles] == ["completed", *["failed"] * 3]
    assert "SYNTHETIC" in bundles[1].record.failure
    for one in bundles[2:]:
        assert bundles[1].record.failure in one.record.failure
