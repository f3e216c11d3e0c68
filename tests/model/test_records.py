import pickle

import pytest
from pydantic import ValidationError

from sizebook.model.deployment import DatabaseRole, Deployment, JvmRole
from sizebook.model.errors import HostLacksError
from sizebook.model.load import ClosedLoop, LoadProfile, OpenArrivals, Phases
from sizebook.model.metrics import METRICS, find_metric
from sizebook.model.trial import TrialSpec


def make_spec(**changes):
    fields = {
        "chapter": "c",
        "experiment": "e",
        "profile": "smoke",
        "treatment": {"users": 2},
        "replicate": 0,
        "deployment": Deployment(roles=(DatabaseRole(), JvmRole(role="app"))),
        "load": LoadProfile(
            locustfile="x.py",
            arrivals=ClosedLoop(users=2),
            phases=Phases(warmup_s=0.5, measured_s=1.0),
        ),
    }
    return TrialSpec(**(fields | changes))


def test_a_specification_survives_json():
    """Written and read again it is equal, and so is its canonical text."""
    spec = make_spec()
    again = TrialSpec.model_validate_json(spec.canonical_json())
    assert again == spec
    assert again.canonical_json() == spec.canonical_json()


def test_unknown_fields_and_wrong_types_are_refused():
    """A record that says more than the model, or says it in another type, is not understood."""
    text = make_spec().canonical_json()
    with pytest.raises(ValidationError, match="Extra inputs"):
        TrialSpec.model_validate_json(text[:-1] + ',"more":1}')
    with pytest.raises(ValidationError):
        TrialSpec.model_validate_json(text.replace('"replicate":0', '"replicate":"0"'))


def test_records_do_not_change():
    """Neither fields nor the mappings in them can be set."""
    spec = make_spec()
    with pytest.raises(ValidationError):
        spec.replicate = 1
    with pytest.raises(TypeError):
        spec.treatment["users"] = 3


@pytest.mark.parametrize(
    "build",
    [
        lambda: ClosedLoop(users=0),
        lambda: OpenArrivals(kind="poisson", rate_per_s=0.0),
        lambda: Phases(warmup_s=-1.0, measured_s=1.0),
        lambda: Phases(warmup_s=0.0, measured_s=float("nan")),
        lambda: JvmRole(role="app", heap_mib=0),
    ],
)
def test_impossible_values_are_refused(build):
    """No users, no rate, negative or undefined times, no heap."""
    with pytest.raises(ValidationError):
        build()


def rushed(rush_s, **arrivals):
    return LoadProfile(
        locustfile="x.py",
        arrivals=ClosedLoop(users=2, rush_s=rush_s, **arrivals),
        phases=Phases(ramp_s=0.5, warmup_s=1.5, measured_s=1.0),
    )


def test_a_rush_is_over_before_what_is_measured():
    """It lies within ramp and warm-up, of users who think; without one the JSON does not tell."""
    load = rushed(2.0, think_s=0.1)
    assert LoadProfile.model_validate_json(load.canonical_json()) == load
    assert "rush" in load.canonical_json()
    assert "rush" not in rushed(0.0, think_s=0.1).canonical_json()
    with pytest.raises(ValidationError, match=r"within ramp and warm-up, 2 s, not of 2\.1 s"):
        rushed(2.1, think_s=0.1)
    with pytest.raises(ValidationError, match="do not pause at all"):
        rushed(1.0)


def test_every_metric_is_declared_in_full():
    """Name, unit, title and definition are there, and formatting shows the unit."""
    for name, metric in METRICS.items():
        assert name == metric.name
        assert metric.definition.endswith(".")
        assert metric.format(1234.5).endswith(metric.unit)
        assert metric.format(None) == metric.format(float("nan")) == "–"


def test_a_column_of_one_role_holds_the_metric():
    """By its own name, or behind that of a role, which the title then names; else there is none."""
    assert find_metric("cpu_ms") is METRICS["cpu_ms"]
    of_app = find_metric("app_cpu_ms")
    assert of_app is not None
    assert (of_app.name, of_app.title) == ("app_cpu_ms", "CPU time, app")
    assert (of_app.basis, of_app.unit) == ("use", "ms")
    for name in ("ms", "app_ms", "cpu", "", "app_", "_cpu_ms", "lost_frames_per_mb"):
        assert find_metric(name) is None, name


def test_user_errors_are_one_line_and_travel_between_processes():
    """Found, expected and next step in one line; kept when pickled."""
    error = HostLacksError(found="no\njava", expected="java", next_step="install it")
    assert str(error) == "found no java; expected java; next: install it"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (HostLacksError, str(error))
