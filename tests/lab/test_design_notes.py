"""What a replay compares with its design where an inventory decided on the place."""

import pytest

from sizebook.lab import app_stack, started_system
from sizebook.lab.design_notes import differs
from sizebook.lab.placement import Placement
from sizebook.model.deployment import Deployment
from sizebook.model.inventory import Inventory
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.trial import TrialSpec

PLACE = Placement(stack=(0,), generator=(1,), total_heap_mib=1024)
FAR = {"mode": "ssh", "address": "192.0.2.1", "user": "bench", "host_key": "ssh-ed25519 AAAA"}
ELSEWHERE = Inventory.model_validate(
    {
        "hosts": {"web": FAR, "data": {**FAR, "address": "192.0.2.2"}},
        "roles": {"app": ("web", "data"), "database": "data"},
        "systems": {"shop": {"url": "http://192.0.2.9:80"}},
    }
)
RUNS_ALREADY = Inventory.model_validate({"targets": {"app": "http://192.0.2.9:30080"}})


def spec(deployment, users=4):
    load = LoadProfile(
        locustfile="x.py",
        arrivals=ClosedLoop(users=users),
        phases=Phases(warmup_s=0, measured_s=1),
        cpus=(1,),
    )
    return TrialSpec(
        chapter="c", experiment="e", profile="smoke", treatment={"users": users}, replicate=0,
        deployment=deployment, load=load,
    )  # fmt: skip


def changed(planned, **fields):
    """Return a deployment whose first role has other fields."""
    first, *others = planned.roles
    return Deployment(roles=(first.model_copy(update=fields), *others), hosts=planned.hosts)


def test_what_an_inventory_moves_is_as_designed():
    stack = app_stack(PLACE, nodes=2)
    for inventory in (ELSEWHERE, RUNS_ALREADY):
        assert differs(spec(stack), spec(inventory.placed(stack))) is None
    shop = started_system(PLACE, "shop", ["shop", "{port}"], ready="/up")
    assert ELSEWHERE.placed(shop).roles[0].kind == "given"
    assert differs(spec(shop), spec(ELSEWHERE.placed(shop))) is None


@pytest.mark.parametrize("inventory", [ELSEWHERE, RUNS_ALREADY])
def test_a_load_is_compared_wherever_it_goes(inventory):
    stack = app_stack(PLACE, nodes=2)
    where, has, should = differs(spec(stack), spec(inventory.placed(stack), users=5))
    assert (where, has, should) == ("treatment.users", 5, 4)


@pytest.mark.parametrize("moved", [True, False])
@pytest.mark.parametrize(
    "fields", [{"heap_mib": 77}, {"flags": ("-XX:+UseSerialGC",)}, {"settings": {"threads": 3}}]
)
def test_a_role_is_compared_wherever_it_is(moved, fields):
    stack = app_stack(PLACE, nodes=2)
    number = next(n for n, role in enumerate(stack.roles) if role.kind == "jvm")
    first = Deployment(roles=(stack.roles[number], *stack.roles[:number]))
    recorded = ELSEWHERE.placed(first) if moved else first
    where, _, _ = differs(spec(first), spec(changed(recorded, **fields)))
    assert where.startswith(f"deployment.roles[0].{next(iter(fields))}")
