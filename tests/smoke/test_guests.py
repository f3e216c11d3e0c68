"""Chapter 13 in its shortest form: rules that were set were kept, and the part's overview."""

import os
import re
import shutil

import pytest

from sizebook.book.records import read_records
from sizebook.lab import Setup, null_server, place
from sizebook.lab.measuring import measure
from sizebook.lab.planning import plan_sessions
from sizebook.lab.profiles import get_profile
from sizebook.model.deployment import HostSpec
from sizebook.model.design import Design, Factor
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.trial import Disturbance, HostLimits
from sizebook.report import guests
from sizebook.report.reported import reported_claims
from sizebook.store import Project, find_bundles, open_bundle

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("runc") is not None
needs_hosts = pytest.mark.skipif(not ROOT, reason="hosts under limits need root and runc")


@pytest.fixture(scope="module")
def measured(project):
    """The measured bundles of the chapter, by experiment."""
    found = {}
    for path in find_bundles(project.runs("guests")):
        bundle = open_bundle(path)
        if bundle.record.trial.purpose == "measured":
            found.setdefault(bundle.record.trial.experiment, []).append(bundle)
    return found


@needs_hosts
def test_half_a_cpu_is_half_a_cpu(measured):
    """By the counters of the control group; without a limit nothing is stopped.

    A busy machine may leave a host less than its limit; then nothing need stop it.
    """
    modes = set()
    for bundle in measured["rules"]:
        half = bundle.record.trial.treatment["rule"] == "half"
        used, stopped = guests.cpus_used("box")(bundle), guests.stopped_share("box")(bundle)
        if half:
            assert 0 < used < 0.6, (bundle.path.name, used, stopped)
            assert stopped > 0 or used < 0.5, (bundle.path.name, used, stopped)
        else:
            assert used > 0, bundle.path.name
            assert not stopped, (bundle.path.name, used, stopped)
        modes.add(bundle.record.trial.treatment["mode"])
    assert {"bare", "container"} <= modes


@needs_hosts
def test_the_heavier_host_gets_more(measured):
    """Four times the weight: clearly more than the other, and than with equal weights."""
    for bundle in measured["weights"]:
        times = guests.times_as_much("left", "right")(bundle)
        if bundle.record.trial.treatment["weights"] == "1024:256":
            assert times > 2
        elif bundle.record.trial.treatment["weights"] == "256:256":
            assert 0.5 < times < 2


@needs_hosts
def test_a_host_that_booted_says_so(measured):
    """Seconds of each boot, none of processes of this machine."""
    for bundle in (*measured["rules"], *measured["memory"], *measured["density"]):
        mode, booted = bundle.record.trial.treatment["mode"], guests.boot_s()(bundle)
        assert booted == 0 if mode == "bare" else booted > 0


def test_every_transferable_claim_is_decided_or_says_why_not(project):
    """Each claim of booting and scheduling has a card; what is not run names what is missing."""
    cards = read_records(project.page("guests"))
    claims = [
        name
        for name, claim in reported_claims().items()
        if claim.scenario in ("guest-boot", "xen-scheduling")
    ]
    assert len(claims) == 5
    for name in claims:
        assert cards[name].fields["claim"]["reason"], name


def test_the_overview_shows_what_the_part_measured(project):
    """Every kind of work that has trials on the machine itself and on another mode has a row."""
    found = read_records(project.page("virtualization"))
    assert "validity" in found
    if ROOT:
        table = found["slowdowns-table"].text("text/html")
        for work in ("computing alone", "a large file, on the disk", "answering one request"):
            assert work in table
        assert "container" in found["advice"].text("text/html")
    assert not (project.root / "data" / "runs" / "virtualization").exists()


def squeezed(here):
    """Return a null server in a control group from which nearly all memory is taken at once."""
    host = HostSpec(name="box", mode="bare", cpus=here.stack, memory_mib=512)
    taken = Disturbance(
        at_s=0, action="resize", node="nullserver-1", limits=HostLimits(memory_mib=4)
    )
    load = LoadProfile(
        locustfile="null.py",
        arrivals=ClosedLoop(users=1),
        phases=Phases(warmup_s=0.0, measured_s=3.0, drain_s=1.0),
        cpus=here.generator,
    )
    server = null_server(here).on(host, nullserver="box")
    return Setup(server, load, disturbances=(taken,))


@needs_hosts
def test_a_host_without_memory_ends_its_trial_and_says_why(copied_project):
    """Refused by the kernel, or killed by it: a failed trial never a hang."""
    here, lab = place(), Project(copied_project.root)
    design = Design("squeeze", (Factor("memory_mib", (4,)),), replicates=1, seed=1)
    plan = plan_sessions("squeeze", get_profile("smoke"), design, lambda _: squeezed(here), 0)
    measure(lab, "squeeze", plan)
    (path,) = find_bundles(copied_project.runs("squeeze"))
    record = open_bundle(path).record
    assert record.outcome == "failed"
    assert re.search(r"memory\.\S+ of control group|nullserver-1 ended with", record.failure)
