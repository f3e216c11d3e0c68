"""Chapter 19 in its shortest form: limits in time, a model fitted, its answer measured."""

import pytest

from sizebook.book.records import read_records
from sizebook.report import capacity
from sizebook.report.calculator_words import answer
from sizebook.stats.sizing import Demanded, SizingModel, size
from sizebook.store import find_bundles, open_bundle


@pytest.fixture(scope="module")
def trials(project):
    """The measured trials of the chapter by experiment."""
    found = {}
    for path in find_bundles(project.runs("sizing")):
        bundle = open_bundle(path)
        if bundle.record.trial.purpose == "measured":
            found.setdefault(bundle.record.trial.experiment, []).append(bundle)
    return found


@pytest.fixture(scope="module")
def records(project):
    """What the executed chapter publishes, by key."""
    return read_records(project.page("sizing"))


def test_each_limit_was_set_before_anything_was_measured(trials):
    """Every trial has its host resized, once, in the ramp; the model is told the same limit."""
    for bundle in trials["load"]:
        spec, execution = bundle.record.trial, bundle.record.execution
        (event,) = execution.events
        assert event.action == "resize"
        assert event.end_ns <= execution.phase("measured").begin_ns
        role = spec.deployment.find("app")
        share = spec.treatment["cpus"]
        assert capacity.cores_of(spec) == pytest.approx(share * max(1, len(role.cpus)))


def test_the_calculator_answers_by_the_model_that_was_fitted(records):
    """The published model can be read, and the table holds its answers."""
    record = records["calculator"]
    model = SizingModel.from_record(record.fields["model"])
    html = record.text("text/html")
    for each in record.fields["questions"]:
        assert answer(model, Demanded(**each)).parts["cores"] in html


def test_what_the_calculator_named_was_measured(trials, records):
    """The model bears the users of the check at its limit, which no other trial had."""
    (check,) = trials["check"]
    model = SizingModel.from_record(records["calculator"].fields["model"])
    spec = check.record.trial
    users = spec.load.arrivals.users
    assert users == spec.treatment["users"]
    assert capacity.cores_of(spec) not in {
        capacity.cores_of(b.record.trial) for b in trials["load"]
    }
    assert records["check"].fields["caption"].startswith("The configuration that the calculator")
    asked = Demanded("mean", 0.25, users=users, think_s=spec.load.arrivals.think_s)
    assert size(model, asked).cores <= 1.05 * capacity.cores_of(spec)
    sessions = {b.record.execution.session for b in (*trials["load"], *trials["nodes"])}
    assert check.record.execution.session not in sessions
