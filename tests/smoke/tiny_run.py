"""A run that is over in seconds: null server, real guard, real processes; started to be killed.

``python tiny_run.py SEED...`` measures what is missing of each seed's plan, in the project that
SIZEBOOK_ROOT names. ``KILL_AT=module:name:before|after:n`` makes the process kill itself around
the n-th call of a function.
"""

import functools
import importlib
import os
import signal
import sys

from sizebook.lab import Setup, null_server, place
from sizebook.lab.measurement_cache import Archive
from sizebook.lab.planning import plan_sessions
from sizebook.lab.profiles import get_profile
from sizebook.model.design import Design, Factor
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.store import find_project

CHAPTER = "tiny"
ANNOUNCE = "the run begins"


def plan(seed):
    """Return three sessions of three trials, each a tenth of a second long."""
    here = place()

    def treat(treatment):
        load = LoadProfile(
            locustfile="null.py",
            arrivals=ClosedLoop(users=treatment["users"]),
            phases=Phases(warmup_s=0.0, measured_s=0.1),
            seed=seed,
            cpus=here.generator,
        )
        return Setup(null_server(here), load)

    design = Design("tiny", (Factor("users", (1, 2, 3), plot="sub"),), replicates=3, seed=seed)
    return plan_sessions(CHAPTER, get_profile("smoke"), design, treat, conditioning_s=0.1)


def kill_at(module, name, when, count):
    """Have the process killed (kill -9) around the n-th call of a function."""
    *holders, last = name.split(".")
    owner = functools.reduce(getattr, holders, importlib.import_module(module))
    function, calls = getattr(owner, last), 0

    @functools.wraps(function)
    def counted(*arguments, **named):
        nonlocal calls
        calls += 1
        if when == "before" and calls == count:
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*arguments, **named)
        if when == "after" and calls == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, last, counted)


def main(seeds):
    """Measure what is missing."""
    from sizebook.lab.measuring import measure

    if at := os.environ.get("KILL_AT"):
        module, name, when, count = at.split(":")
        kill_at(module, name, when, int(count))
    project = find_project()
    print(ANNOUNCE, flush=True)
    for seed in seeds:
        missing = Archive(project, CHAPTER).missing(plan(seed))
        if missing:
            measure(project, CHAPTER, missing)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]])
