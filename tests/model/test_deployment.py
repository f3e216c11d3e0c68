"""A deployment of a chapter's factory, with what no factory has a parameter for."""

import pytest
from pydantic import TypeAdapter, ValidationError

from sizebook.model.bundle import FileName
from sizebook.model.deployment import DatabaseRole, Deployment, HostSpec, JvmRole
from sizebook.model.errors import UsageError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.trial import Disturbance, Exhaustion, TrialSpec

STACK = Deployment(roles=(DatabaseRole(), JvmRole(role="app", heap_mib=384, settings={"pool": 5})))


def test_one_role_is_changed_and_the_rest_stays():
    """The order of the roles, the other roles and the other fields are as they were."""
    changed = STACK.changed("app", flags=("-XX:+UseZGC",), jvm="25")
    assert changed.roles[0] == STACK.roles[0]
    assert changed.find("app") == STACK.find("app").model_copy(
        update={"flags": ("-XX:+UseZGC",), "jvm": "25"}
    )
    assert STACK.changed("app") == STACK


@pytest.mark.parametrize(
    ("role", "fields", "found"),
    [
        ("broker", {}, "role 'broker'; expected one of database, app"),
        ("app", {"flag": ()}, "flag of role app"),
        ("app", {"heap_mib": 0}, "heap_mib of role app"),
        ("app", {"flags": "-XX:+UseZGC"}, "flags of role app"),
    ],
)
def test_what_does_not_exist_is_refused(role, fields, found):
    """Role, field and value are checked as when a deployment is made."""
    with pytest.raises(UsageError, match=found):
        STACK.changed(role, **fields)


def spec(*disturbances):
    load = LoadProfile(
        locustfile="heap.py",
        arrivals=ClosedLoop(users=1),
        phases=Phases(warmup_s=0.0, measured_s=1.0),
    )
    return TrialSpec(
        chapter="heap-gc", experiment="e", profile="smoke", treatment={}, replicate=0,
        deployment=STACK, load=load, disturbances=disturbances,
    )  # fmt: skip


def test_a_trial_tells_what_is_planned_from_what_may_happen():
    """Both kinds survive the way to disk and back, and keep their order."""
    kill = Disturbance(at_s=1.0, action="kill", node="app-1")
    may = Exhaustion(node="app-2", heaps_mib=(384, 1024))
    trial = TrialSpec.model_validate_json(spec(kill, may).canonical_json())
    assert trial == spec(kill, may)
    assert (trial.planned(), trial.exhaustible()) == ((kill,), {"app-2": may})
    assert (spec().planned(), spec().exhaustible()) == ((), {})


def test_a_node_has_one_way_to_run_out_of_memory():
    """Two lists of heaps for the same node would contradict each other."""
    with pytest.raises(ValidationError, match="the same node"):
        spec(Exhaustion(node="app-1"), Exhaustion(node="app-1", heaps_mib=(64,)))


@pytest.mark.parametrize("name", ["java_pid7.hprof", "logs/java_pid7.hprof", "gc/app-1.hprof"])
def test_no_bundle_holds_a_heap_dump(name):
    """What a heap held, a dump would publish: passwords, sessions, messages."""
    with pytest.raises(ValidationError, match="none of a bundle's"):
        TypeAdapter(FileName).validate_python(name)


BOX, OTHER = HostSpec(name="box", mode="container"), HostSpec(name="other", mode="virtio-vm")


def test_roles_are_put_on_hosts():
    """One host for a role, or several that its nodes are dealt out to in turn."""
    placed = STACK.changed("app", nodes=3).on(BOX, OTHER, database="box", app=("box", "other"))
    assert [placed.find("app").host_of(number) for number in (1, 2, 3)] == ["box", "other", "box"]
    assert placed.find("database").host == "box"
    assert (placed.host("other"), placed.host("local")) == (OTHER, None)
    assert "hosts" not in STACK.canonical_json()
    assert Deployment.model_validate_json(placed.canonical_json(), strict=False) == placed
    assert placed.changed("app", heap_mib=512).hosts == (BOX, OTHER)


@pytest.mark.parametrize(
    ("hosts", "places", "found"),
    [
        ((BOX,), {"broker": "box"}, "role 'broker'"),
        ((BOX,), {"app": "other"}, "role app on host 'other'"),
        ((BOX,), {"app": ("box", "other")}, "role app on host 'other'"),
        ((BOX,), {"database": ("box",)}, "role database on hosts box"),
        ((BOX, BOX), {}, "two hosts of one name"),
    ],
)
def test_places_that_do_not_exist_are_refused(hosts, places, found):
    with pytest.raises(UsageError, match=found):
        STACK.on(*hosts, **places)


@pytest.mark.parametrize(
    "bad",
    [{"name": "local"}, {"name": "Box"}, {"name": "a-long-name"}, {"cpu_limit": 0}, {"mode": "vm"}],
)
def test_hosts_that_cannot_be_are_refused(bad):
    with pytest.raises(ValidationError):
        HostSpec(**{"name": "box", "mode": "container", **bad})
