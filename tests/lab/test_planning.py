from dataclasses import replace
from types import SimpleNamespace
from typing import get_args

import pytest

from sizebook.lab.deployments import app_stack
from sizebook.lab.placement import Placement, place
from sizebook.lab.planning import (
    FEW_USERS,
    HASTE,
    SETTLES_AFTER_S,
    Setup,
    plan_sessions,
    planned_s,
    start_s,
)
from sizebook.lab.profiles import PROFILES, get_profile
from sizebook.lab.progress import Progress
from sizebook.model.deployment import Deployment, HostSpec, JvmRole
from sizebook.model.design import Design, Factor
from sizebook.model.errors import HostLacksError, UsageError
from sizebook.model.load import ClosedLoop, LoadProfile, PacedGroup, PacedUsers, RampArrivals
from sizebook.model.modes import Mode
from sizebook.model.trial import Disturbance
from sizebook.stack.running import check_memory
from sizebook.stack.settings import node_properties

PLACE = Placement(stack=(0,), generator=(1,), total_heap_mib=1024)
SMOKE = PROFILES["smoke"]
QUICK = PROFILES["quick"]


def setup(treatment):
    return Setup(
        app_stack(PLACE, settings={"threads": treatment["threads"]}),
        LoadProfile(
            locustfile="x.py",
            arrivals=ClosedLoop(users=treatment["users"]),
            phases=SMOKE.phases,
        ),
    )


def design(users_plot="sub", threads_plot="whole"):
    factors = (
        Factor("threads", (5, 50), plot=threads_plot),
        Factor("users", (1, 10), plot=users_plot),
    )
    return Design("d", factors, replicates=2, seed=3)


def test_trials_that_share_a_start_make_one_session():
    """Sub-plot factors vary within a session, whole-plot factors between sessions."""
    sessions = plan_sessions("c", SMOKE, design(), setup, conditioning_s=1.0)
    assert len(sessions) == 4
    for session in sessions:
        assert len({trial.treatment["threads"] for trial in session.trials}) == 1
        assert {trial.treatment["users"] for trial in session.trials} == {1, 10}


def test_conditioning_is_what_the_plots_heaviest_load_asks_for():
    """Few users who do not think warm a fresh JVM, for the time asked, without warm-up."""

    def crowd(treatment):
        one = setup(treatment)
        arrivals = ClosedLoop(users=100 * treatment["users"], think_s=5.0, think_random=True)
        spread = {"arrivals": arrivals, "workers": 50, "settings": {"users": treatment["users"]}}
        return replace(one, load=one.load.model_copy(update=spread))

    session = plan_sessions("c", SMOKE, design(), crowd, conditioning_s=1.5)[0]
    (first,) = session.conditioning
    assert first.purpose == "conditioning"
    load = first.load
    assert load.settings == {"users": 10}
    assert load.arrivals == ClosedLoop(users=FEW_USERS)
    assert load.workers == FEW_USERS
    assert load.phases.planned_s == 1.5
    assert LoadProfile.model_validate_json(load.model_dump_json()) == load
    assert {trial.load.arrivals.think_s for trial in session.trials} == {5.0}
    alone = plan_sessions("c", QUICK, design(users_plot="whole"), setup, conditioning_s=1.5)
    assert {one.conditioning[0].load.arrivals.users for one in alone} == {1, FEW_USERS}
    assert plan_sessions("c", SMOKE, design(), setup, 0.0)[0].conditioning == ()


def test_a_conditioning_load_long_enough_to_settle_comes_again_with_all_its_users():
    """What more users do than few, and what the end of a load does, has been seen by the trials."""
    long_s = SETTLES_AFTER_S + 1
    session = plan_sessions("c", SMOKE, design(), setup, conditioning_s=long_s)[0]
    assert [one.load.arrivals.users for one in session.conditioning] == [FEW_USERS, 10]
    assert {one.load.phases.planned_s for one in session.conditioning} == {long_s}
    assert {one.purpose for one in session.conditioning} == {"conditioning"}
    short = plan_sessions("c", SMOKE, design(), setup, conditioning_s=SETTLES_AFTER_S)[0]
    assert len(short.conditioning) == 1
    assert planned_s([session]) - planned_s([short]) == pytest.approx(2 * long_s - SETTLES_AFTER_S)


def test_a_design_may_give_its_own_conditioning_load():
    """It warms what the plot's trials ask for in turn; the trials themselves stay as they are."""
    mixed = LoadProfile(
        locustfile="mixed.py", arrivals=ClosedLoop(users=3), phases=SMOKE.phases, seed=9
    )

    def mix(treatment):
        return replace(setup(treatment), conditioning=mixed)

    for profile in (SMOKE, QUICK):
        plain = plan_sessions("c", profile, design(), setup, conditioning_s=1.5)
        given = plan_sessions("c", profile, design(), mix, conditioning_s=1.5)
        assert [one.trials for one in given] == [one.trials for one in plain]
        for session in given:
            (first,) = session.conditioning
            assert first.load.locustfile == "mixed.py"
            assert first.load.arrivals.users == 3
            assert first.load.phases.planned_s == 1.5


def test_paced_users_hurry_in_the_conditioning_load():
    """The same users at a faster pace; the trials keep their own, and their drain."""

    def pace(treatment):
        arrivals = PacedUsers(groups=(PacedGroup(users=treatment["users"], period_s=5.0),))
        load = LoadProfile(locustfile="x.py", arrivals=arrivals, phases=SMOKE.phases)
        return Setup(app_stack(PLACE, settings={"threads": treatment["threads"]}), load)

    session = plan_sessions("c", SMOKE, design(), pace, conditioning_s=1.5)[0]
    (first,) = session.conditioning
    (group,) = first.load.arrivals.groups
    assert (group.users, group.period_s) == (10, 5.0 / HASTE)
    assert first.load.phases.drain_s < SMOKE.phases.drain_s
    for trial in session.trials:
        assert trial.load.arrivals.groups[0].period_s == 5.0
        assert trial.load.phases == SMOKE.phases


def test_a_sub_factor_must_not_change_the_deployment():
    """Such a design cannot be run as declared, and says so."""
    with pytest.raises(ValueError, match="plot='whole'"):
        plan_sessions("c", SMOKE, design(threads_plot="sub"), setup, 0.0)


def test_smoke_shares_a_start_where_nothing_needs_a_fresh_one():
    """Plots with equal deployments are joined in smoke, and have fresh JVMs in quick."""
    factors = (Factor("format", ("json", "atom")), Factor("users", (1, 10), plot="sub"))
    formats = Design("d", factors, replicates=2, seed=3)

    def same_stack(treatment):
        return setup({"threads": 50, "users": treatment["users"]})

    smoke = plan_sessions("c", SMOKE, formats, same_stack, 1.0)
    quick = plan_sessions("c", QUICK, formats, same_stack, 1.0)
    assert [len(session.trials) for session in smoke] == [4, 4]
    assert [len(session.trials) for session in quick] == [2, 2, 2, 2]


def test_smoke_does_without_the_second_compiler():
    """Its JVMs say so after their own flags; those that are measured have none but their own."""

    def flags_of(profile):
        sessions = plan_sessions("c", profile, design(), with_flag, 1.0)
        specs = [s for one in sessions for s in (*one.conditioning, *one.trials)]
        return {role.flags for spec in specs for role in spec.deployment.jvm_roles()}

    def with_flag(treatment):
        plain = setup(treatment)
        deployment = plain.deployment.changed("app", flags=("-XX:+UseSerialGC",))
        return replace(plain, deployment=deployment)

    assert flags_of(QUICK) == {("-XX:+UseSerialGC",)}
    assert flags_of(SMOKE) == {("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")}


def test_planned_time_adds_phases_and_starts():
    """Each session costs its start, its conditioning and its trials' phases."""
    sessions = plan_sessions("c", SMOKE, design(), setup, conditioning_s=1.0)
    trial_s = SMOKE.phases.planned_s
    start = start_s(sessions[0].deployment)
    assert start > 0
    assert planned_s(sessions) == pytest.approx(4 * (start + 1.0 + 2 * trial_s))


def test_a_start_takes_as_long_as_its_nodes_on_their_hosts():
    """A guest without help of the CPU takes longest; a server that does nothing starts at once."""

    def took(mode, **role):
        box = HostSpec(name="box", mode=mode)
        return start_s(Deployment(roles=(JvmRole(host="box", **role),), hosts=(box,)))

    bare = start_s(Deployment(roles=(JvmRole(role="app"),)))
    assert took("bare", role="app") == bare
    assert took("bare", role="app", nodes=3) == 3 * bare
    assert 0 < took("bare", role="nullserver") < bare / 5
    assert bare < took("container", role="app") < took("virtio-vm", role="app") / 10
    assert all(took(mode, role="app") >= bare for mode in get_args(Mode))


@pytest.mark.parametrize(
    ("cpus", "stack", "generator"),
    [
        ((0, 1), (0,), (1,)),
        ((0, 1, 2, 3), (0, 1, 2), (3,)),
        (tuple(range(16)), tuple(range(12)), (12, 13, 14, 15)),
        ((5,), (5,), (5,)),
    ],
)
def test_the_generator_gets_its_own_cpus_where_there_are_two(cpus, stack, generator):
    """A quarter of the CPUs, at least one; one CPU is shared and known to be."""
    placement = place(cpus, memory_mib=24_000)
    assert (placement.stack, placement.generator) == (stack, generator)
    assert placement.separate == (len(cpus) > 1)
    assert placement.total_heap_mib == 5888


def test_a_profile_may_have_other_replicates():
    """As many blocks as are asked for, nothing else changed."""
    assert get_profile("quick", 0) == get_profile("quick")
    more = get_profile("quick", 6)
    assert more.replicates == 6
    assert replace(more, replicates=3) == get_profile("quick")


def test_unknown_names_are_clear_messages():
    """Profile, replicates, topology and setting: found, expected, next step."""
    with pytest.raises(UsageError, match="smoke, quick, full"):
        get_profile("fast")
    with pytest.raises(UsageError, match="replicates=-1; expected 1 to 1000"):
        get_profile("quick", -1)
    with pytest.raises(UsageError, match="replicates=1001; expected 1 to 1000"):
        get_profile("quick", 1001)
    with pytest.raises(UsageError, match="local, remote"):
        app_stack(PLACE, topology="near")
    role = app_stack(PLACE, settings={"treads": 5}).find("app")
    with pytest.raises(UsageError, match="'treads'"):
        node_properties(role, {}, {}, "127.0.0.1", 1, 2)


def test_a_layout_that_does_not_fit_is_refused_before_it_starts():
    """Heaps and what processes take beside them must fit into free memory."""
    deployment = app_stack(PLACE, topology="remote", heap_mib=1024)
    check_memory(deployment, available_mib=4_000)
    with pytest.raises(HostLacksError, match="2888 MiB"):
        check_memory(deployment, available_mib=2_000)


def test_time_left_follows_how_the_run_has_gone(capsys, monkeypatch):
    """Planned seconds still to run, stretched by wall time over plan so far."""
    monkeypatch.delenv("SIZEBOOK_PROGRESS", raising=False)
    now = [100.0]
    progress = Progress("c", trials=4, planned_s=40.0, clock=lambda: now[0])
    assert progress.left_s == 40.0
    now[0] += 20.0
    progress.step("stored", planned_s=10.0, done=1)
    assert progress.left_s == pytest.approx(60.0)
    assert "1/4 trials, 1 min 00 s left" in capsys.readouterr().err


def in_turns(treat=setup, rounds_share=1.0, **given):
    return plan_sessions(
        "c", QUICK, design(**given), treat, 45.0, turns=True, rounds_share=rounds_share
    )


def test_many_treatments_may_take_a_share_of_the_rounds():
    """At least one; a turn is as long as before."""
    for share, rounds in ((0.5, QUICK.rounds // 2), (0.001, 1)):
        phases = in_turns(rounds_share=share)[0].trials[0].load.phases
        assert (phases.turns, phases.rounds) == (QUICK.turns, rounds)


def test_a_block_that_takes_turns_is_one_session():
    """A start for each deployment, all trials beside each other, in turns of the profile."""
    sessions = in_turns()
    assert [session.replicate for session in sessions] == [0, 1]
    for session in sessions:
        assert len(session.trials) == 4
        assert [len(start.trials) for start in session.starts] == [2, 2]
        assert [len(start.conditioning) for start in session.starts] == [2, 2]
        assert session.contacts == tuple(start.conditioning[0] for start in session.starts)
        for spec in session.trials:
            phases = spec.load.phases
            assert (phases.turns, phases.rounds) == (QUICK.turns, QUICK.rounds)
            assert phases.measured_s == pytest.approx(QUICK.rounds * QUICK.turns.counted_s)
            assert len(spec.beside) == 3
            assert str(sorted(spec.treatment.items())) not in spec.beside
    turns_s = 4 * (QUICK.rounds + QUICK.warm_turns) * QUICK.turns.turn_s
    loads_s = sum(spec.load.phases.planned_s for spec in sessions[0].conditioning)
    assert sessions[0].planned_s() == pytest.approx(sessions[0].start_s + loads_s + turns_s)


def test_a_block_that_takes_turns_is_measured_as_a_whole():
    """What is there of another session, or not all of it, spares nothing."""
    (session, _) = in_turns()

    def bundle(spec, name):
        execution = SimpleNamespace(session=name)
        return SimpleNamespace(record=SimpleNamespace(trial=spec, execution=execution))

    whole = [bundle(spec, "one") for spec in session.trials]
    assert session.after(whole).trials == ()
    for less in ([], whole[1:], [bundle(session.trials[0], "two"), *whole[1:]]):
        assert session.after(less) == session


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"arrivals": RampArrivals(begin_per_s=1, end_per_s=2, over_s=0.1)}, "one rate throughout"),
        ({"disturbances": (Disturbance(at_s=1, action="kill", node="app-1"),)}, "on purpose"),
    ],
)
def test_what_cannot_take_turns_is_refused_with_what_to_do(changed, message):
    """In one message, before anything is measured."""

    def treat(treatment):
        whole = setup(treatment)
        if "arrivals" in changed:
            load = whole.load.model_copy(update=changed)
            return replace(whole, load=load)
        return replace(whole, **changed)

    with pytest.raises(UsageError, match=message) as error:
        in_turns(treat)
    assert "leave 'turns' out" in str(error.value)
