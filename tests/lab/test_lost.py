"""Something was killed once: it is started again, and what follows is measured."""

import contextlib
from types import SimpleNamespace

import pytest
from audited_book import formats_spec

from sizebook.lab.bench import Bench
from sizebook.lab.measuring import _need_stored
from sizebook.lab.planning import Session
from sizebook.lab.progress import Progress
from sizebook.lab.started import SessionLost
from sizebook.model.errors import BundleError, LostError, TrialError
from sizebook.stack.endings import Ending, NodeEndedError, NodeKilledError
from sizebook.store import Project

LOST = LostError(found="app-1 ended with -9", expected="life", next_step="again")
WRONG = TrialError(found="no module named x", expected="one", next_step="install it")


class Faked(Bench):
    """A bench on which starts, conditioning and trials go as they are told: None, or an error."""

    def __init__(self, tmp_path, *, starts=(), loads=(), trials=()):
        host = SimpleNamespace(cpus=(0,))
        super().__init__(Project(tmp_path), host, None, None, None, alone=True)
        self.outcomes = {"start": list(starts), "load": list(loads), "trial": list(trials)}
        self.done = []

    def next(self, what):
        self.done.append(what)
        return self.outcomes[what].pop(0) if self.outcomes[what] else None

    @contextlib.contextmanager
    def started(self, session, name):
        if (error := self.next("start")) is not None:
            raise error
        stack = SimpleNamespace(spread=lambda _: None, pin=lambda: None, is_as_deployed=True)
        yield SimpleNamespace(stack=stack, conditioned_s=0.0)

    def condition(self, started, loads, folder, first, *, prepare=True):
        yield self.end("load", loads[0])

    def trial(self, started, spec, folder, then=None):
        return self.end("trial", spec)

    def end(self, what, spec):
        error = self.next(what)
        bundle = bundle_of(spec.model_copy(update={"purpose": PURPOSES[what]}), error)
        if error is not None:
            raise SessionLost(bundle, may_return=isinstance(error, LostError))
        return bundle

    def _failed(self, spec, reason, folder):
        return bundle_of(spec, reason)


PURPOSES = {"load": "conditioning", "trial": "measured"}


def bundle_of(spec, error):
    """A bundle as far as the bench looks at it."""
    failure = str(error or "")
    execution = SimpleNamespace(phases_s=lambda: 0.0)
    return SimpleNamespace(record=SimpleNamespace(trial=spec, failure=failure, execution=execution))


def run(bench, tmp_path):
    """Run a session of three trials; return what was done, and how the trials failed."""
    specs = tuple(formats_spec("json", number) for number in range(3))
    session = Session("formats", 0, specs[:1], specs)
    bundles = bench.run(session, tmp_path, Progress("c", 3, 1.0))
    measured = [one for one in bundles if one.record.trial.purpose == "measured"]
    assert [one.record.trial for one in measured] == list(specs)
    return bench.done, [one.record.failure for one in measured]


WHOLE = ["start", "load", "trial", "trial", "trial"]


@pytest.mark.parametrize(
    ("lost", "before"),
    [({"starts": [LOST]}, ["start"]), ({"loads": [LOST]}, ["start", "load"])],
    ids=["at the start", "in conditioning"],
)
def test_what_was_killed_before_a_trial_is_started_once_more(tmp_path, lost, before):
    """No trial fails for it."""
    done, failures = run(Faked(tmp_path, **lost), tmp_path)
    assert done == before + WHOLE
    assert failures == ["", "", ""]


def test_what_was_killed_in_a_trial_fails_that_one_alone(tmp_path):
    """With its cause; the others follow after a fresh start."""
    done, failures = run(Faked(tmp_path, trials=[None, LOST]), tmp_path)
    assert done == ["start", "load", "trial", "trial", "start", "load", "trial"]
    assert failures == ["", str(LOST), ""]


@pytest.mark.parametrize(
    ("lost", "done"),
    [
        ({"starts": [LOST, LOST]}, ["start"] * 2),
        ({"loads": [LOST, LOST]}, ["start", "load"] * 2),
        ({"starts": [WRONG]}, ["start"]),
        ({"loads": [WRONG]}, ["start", "load"]),
    ],
    ids=["killed twice", "killed twice in conditioning", "wrong", "wrong load"],
)
def test_what_would_fail_again_is_not_tried_again(tmp_path, lost, done):
    """All that is due fails for one reason, told once."""
    bench = Faked(tmp_path, **lost)
    found, failures = run(bench, tmp_path)
    assert found == done
    assert len({*failures}) == 1
    assert failures[0]


@pytest.mark.parametrize(
    ("code", "killed"), [(-9, True), (-15, True), (137, True), (143, True), (1, False), (0, False)]
)
def test_a_signal_tells_that_something_was_killed(code, killed):
    """Its number negative, or with 128 added to it by what started the process."""
    ending = Ending("app-1", code, "")
    assert ending.is_killed is killed
    assert isinstance(ending.error, LostError) is killed
    assert isinstance(NodeEndedError.of(ending), NodeKilledError) is killed


def test_what_vanished_while_it_was_measured_is_an_error(tmp_path):
    """Somebody removed data/runs, or a part of it."""
    there = SimpleNamespace(id="there", path=tmp_path / "there")
    there.path.mkdir()
    (there.path / "trial.json").write_text("{}")
    _need_stored([there])
    with pytest.raises(BundleError, match=r"1 of 2 stored trials .* first gone"):
        _need_stored([there, SimpleNamespace(id="gone", path=tmp_path / "gone")])
