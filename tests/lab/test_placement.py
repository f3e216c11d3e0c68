"""Which CPUs of this machine a deployment is given, and how much heap."""

import pytest

from sizebook.hosts.allowed import GroupLimits
from sizebook.lab import placement
from sizebook.lab.placement import (
    AS_PLACED,
    Placement,
    core_facts,
    describe_cpus,
    describe_share,
    place,
    placed_as,
    placement_facts,
    stack_cpus,
)
from sizebook.model.bundle import SHARED_CORES, USABLE_MEMORY_MIB
from sizebook.model.deployment import DatabaseRole, Deployment, GivenRole, HostSpec, JvmRole
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.trial import Allowance, TrialSpec

STACK = Deployment(roles=(DatabaseRole(), JvmRole(role="app", heap_mib=384)))


def test_the_stacks_cpus_are_those_that_are_set_here():
    """Of roles and hosts; not those of another machine, nor of what runs already."""
    pinned = STACK.changed("app", cpus=(1, 2)).changed("database", cpus=(2, 3))
    assert (stack_cpus(STACK), stack_cpus(pinned)) == ((), (1, 2, 3))
    box = HostSpec(name="box", mode="container", cpus=(0,))
    assert stack_cpus(STACK.on(box, app="box", database="box")) == (0,)
    far = HostSpec(name="far", mode="ssh", cpus=(5,))
    assert stack_cpus(pinned.on(far, app="far")) == (2, 3)
    given = GivenRole(role="shop", url="http://127.0.0.1:8080", cpus=(4,))
    assert stack_cpus(Deployment(roles=(given,))) == ()


def put(*cores, cpu_limit=None):
    cpus = tuple(sorted(cpu for core in cores for cpu in core))
    return place(cpus, 8192, cores=cores, cpu_limit=cpu_limit)


@pytest.mark.parametrize("count", range(2, 33))
def test_without_siblings_the_last_quarter_is_the_generators(count):
    """As ever: trials that were measured keep their keys."""
    own = max(1, count // 4)
    cpus = tuple(range(count))
    for found in (place(cpus, 8192), put(*[(cpu,) for cpu in cpus])):
        assert (found.stack, found.generator) == (cpus[:-own], cpus[-own:])
        assert found.total_heap_mib == 2048 and found.shared_cores == ()


@pytest.mark.parametrize(
    ("cores", "stack", "generator"),
    [
        ([(0, 1), (2, 3)], (0, 1), (2, 3)),
        ([(0, 2), (1, 3)], (0, 2), (1, 3)),
        ([(0, 4), (1, 5), (2, 6), (3, 7)], (0, 1, 2, 4, 5, 6), (3, 7)),
        ([(0, 1), (2, 3), (4,), (5,), (6,), (7,)], (0, 1, 2, 3, 4, 5), (6, 7)),
        ([(0,), (1,), (2, 3), (4, 5)], (0, 2, 3, 4, 5), (1,)),
        ([(0,), (1, 2)], (1, 2), (0,)),
        ([(0, 1, 2, 3), (4, 5, 6, 7)], (0, 1, 2, 3), (4, 5, 6, 7)),
        ([(0,), (2, 6), (3, 7)], (2, 3, 6, 7), (0,)),
        ([(n, n + 6) for n in range(6)], (0, 1, 2, 3, 6, 7, 8, 9), (4, 5, 10, 11)),
    ],
)
def test_generator_and_stack_have_cores_of_their_own(cores, stack, generator):
    """Whole cores, the last that fit; both have some."""
    found = put(*cores)
    assert (found.stack, found.generator) == (stack, generator)
    assert found.shared_cores == () and found.separate


@pytest.mark.parametrize("threads", [(0, 1), (0, 8), (0, 1, 2, 3)])
def test_one_core_is_shared_and_told(threads, monkeypatch):
    """Each still has CPUs of its own, and it is said in words."""
    monkeypatch.setattr(placement, "usable_cpus", lambda: threads)
    found = put(threads)
    assert found.stack == threads[:-1] and found.generator == threads[-1:]
    assert found.shared_cores == (threads,)
    assert describe_cpus(found) == (
        f"{len(threads)} usable on 1 physical core; stack and generator share a core, and slow "
        "each other"
    )


def test_a_limit_of_cpu_time_takes_cpus_on_cores_of_their_own(monkeypatch):
    """As many as the limit, rounded up; of siblings one, as long as there are cores enough."""
    monkeypatch.setattr(placement, "usable_cpus", lambda: tuple(range(8)))
    four = [(0, 1), (2, 3), (4, 5), (6, 7)]
    found = put(*four, cpu_limit=1.5)
    assert (found.stack, found.generator) == ((0,), (2,))
    assert describe_cpus(found) == (
        "8 usable, 2 of them used: a control group allows the time of 1.5 CPUs"
    )
    assert put(*four, cpu_limit=5).cores == ((0, 1), (2,), (4,), (6,))
    assert put(*four, cpu_limit=0.4).generator == (0,)
    assert put(*four, cpu_limit=8).stack == put(*four).stack


def test_shares_in_words():
    """Which CPUs, and which of them are siblings."""
    here = Placement((0, 1, 4, 5), (3, 7), 1024, ((0, 4), (1, 5), (3, 7)))
    assert describe_share(here, here.stack) == "0, 1, 4, 5 (siblings of one core: 0, 4 and 1, 5)"
    assert describe_share(here, (0, 1)) == "0, 1 (each on a core of its own)"
    assert describe_share(here, (3,)) == "3"


def test_this_machine_is_asked_for_cores_and_limits(monkeypatch):
    """The heap is a quarter of what a control group allows, the CPUs are what it gives time for."""
    monkeypatch.setattr(placement, "usable_cpus", lambda: (0, 2, 3, 5))
    monkeypatch.setattr(placement, "physical_cores", lambda _: ((0, 2), (3, 5)))
    monkeypatch.setattr(placement, "find_allowed", lambda: GroupLimits(cpus=3.0))
    monkeypatch.setattr(placement, "usable_memory_mib", lambda: 1024)
    found = place()
    assert (found.stack, found.generator, found.total_heap_mib) == ((0, 2), (3,), 256)
    assert place((0, 1), 512).total_heap_mib == 128


def test_a_trial_notes_the_core_that_is_shared():
    """By what it was given; without siblings, or from another machine, there is no such fact."""

    def spec(stack, generator, hosts=()):
        load = LoadProfile(
            locustfile="x.py",
            arrivals=ClosedLoop(users=1),
            phases=Phases(warmup_s=0.0, measured_s=1.0),
            cpus=generator,
            hosts=hosts,
        )
        return TrialSpec(
            chapter="x", experiment="x", profile="smoke", treatment={}, replicate=0,
            deployment=STACK.changed("app", cpus=stack), load=load, allowance=Allowance(),
        )  # fmt: skip

    cores = ((0, 4), (1, 5))
    assert core_facts(spec((0, 1), (4, 5)), cores) == {SHARED_CORES: "0, 4 and 1, 5"}
    assert core_facts(spec((0, 4), (1, 5)), cores) == {}
    assert core_facts(spec((0, 4), (0, 4)), cores) == {}
    far = (HostSpec(name="far", mode="ssh"),)
    assert core_facts(spec((0,), (4,), far), cores) == {}


def placed(stack, generator):
    """Return a trial with these CPUs for the app and for the generator."""
    return TrialSpec(
        chapter="x",
        experiment="x",
        profile="smoke",
        treatment={},
        replicate=0,
        deployment=Deployment(roles=(JvmRole(role="app", cpus=stack),)),
        load=LoadProfile(
            locustfile="x.py",
            arrivals=ClosedLoop(users=1),
            phases=Phases(warmup_s=0.0, measured_s=1.0),
            cpus=generator,
        ),
    )


def test_a_replay_is_placed_as_on_the_machine_that_measured(monkeypatch):
    """CPUs are those that the trials name, the heap is shared out by that machine's memory."""
    here = place((0, 1, 2, 3, 4, 5, 6, 7), 65_536)
    there = placed_as([placed(here.stack, here.generator)], 65_536)
    assert there is not None
    assert (there.stack, there.generator) == (here.stack, here.generator)
    assert there.total_heap_mib == here.total_heap_mib
    monkeypatch.setenv(AS_PLACED, there.as_words())
    assert place() == there
    assert place((0,), 1024) != there
    assert placed_as([placed((), ())], 65_536) is None


def test_a_trial_that_lends_the_stack_more_cpus_is_no_other_placement():
    """A guest on all CPUs says nothing of the others; with one CPU, all share it."""
    lent = [placed((0, 1), (2,)), placed((0, 1, 2), (2,))]
    found = placed_as(lent, 8192)
    assert found is not None
    assert (found.stack, found.generator) == ((0, 1), (2,))
    alone = placed_as([placed((0,), (0,))], 8192)
    assert alone is not None
    assert (alone.stack, alone.generator) == ((0,), (0,))


def test_memory_that_a_group_holds_back_is_a_fact(monkeypatch):
    """Without it nobody could tell by which memory the heap was shared out."""
    monkeypatch.setattr(placement, "usable_memory_mib", lambda: 2048)
    trial = placed((), ())
    assert placement_facts(trial, 8192)[USABLE_MEMORY_MIB] == 2048
    assert USABLE_MEMORY_MIB not in placement_facts(trial, 2048)


def test_stacks_side_by_side_share_the_heap_and_use_the_same_cpus():
    """Of whole 32 MiB each; together no more than one has."""
    alone = place((0, 1, 2, 3), 16_000)
    for stacks in (1, 2, 3, 7):
        each = alone.beside(stacks)
        assert (each.stack, each.generator) == (alone.stack, alone.generator)
        assert each.total_heap_mib % 32 == 0
        assert 0 <= alone.total_heap_mib - stacks * each.total_heap_mib < 32 * stacks
    with pytest.raises(ValueError, match="0 stacks"):
        alone.beside(0)
