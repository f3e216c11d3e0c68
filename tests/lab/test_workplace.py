"""Loads of a chapter share where they run, how long, and their seed."""

import pytest

from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile
from sizebook.lab.workplace import Workplace
from sizebook.model.load import ClosedLoop, Phases

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)
ONE = ClosedLoop(users=1)


@pytest.fixture
def quick():
    return Workplace(HERE, get_profile("quick", 0), 7)


def test_a_load_is_that_of_the_profile(quick):
    """On the generator's CPUs, from the chapter's seed, with its phases."""
    load = quick.load("null.py", ONE, {"bytes": 5})
    assert (load.cpus, load.seed, load.settings) == ((0,), 7, {"bytes": 5})
    assert load.phases == quick.profile.phases


def test_a_load_says_what_differs(quick):
    """Some seconds, or phases of its own, and any other field."""
    some = quick.load("null.py", ONE, phases={"measured_s": 9.0}).phases
    assert some == quick.profile.phases.model_copy(update={"measured_s": 9.0})
    own = Phases(warmup_s=0.0, measured_s=3.0, drain_s=4.0)
    assert quick.load("null.py", ONE, phases=own).phases == own
    assert quick.load("null.py", ClosedLoop(users=2), workers=2).workers == 2


def test_a_smoke_run_proves_that_all_works(quick):
    """Its numbers are never published."""
    assert Workplace(HERE, get_profile("smoke", 0), 1).smoke and not quick.smoke
