"""What links carried and cost, from synthetic readings."""

from types import SimpleNamespace

import pytest
from tests.report.test_guests import bundle_of

from sizebook.chapters.network import links
from sizebook.model.deployment import DatabaseRole, Deployment, HostSpec, JvmRole
from sizebook.model.network import LinkSpec, NetworkSpec

HOSTS = [HostSpec(name=name, mode="namespace") for name in ("web", "db")]
LINKED = (
    Deployment(roles=(DatabaseRole(), JvmRole(role="app")))
    .on(*HOSTS, app="web", database="db")
    .connected(NetworkSpec(links=(LinkSpec(ends=("web", "db"), rate_mbit_per_s=100),)))
)
"""A link on which a tenth of 12.5 MB a second is a tenth of its rate."""


def seen(**more):
    """Return four seconds in which web gets 1 MB/s from db in 700 frames and thanks in 300."""
    rates = {
        ("web", "link/web", "link_received_bytes/db"): 1.25e6,
        ("web", "link/web", "link_sent_bytes/db"): 0.75e6,
        ("web", "link/web", "link_received_frames/db"): 700.0,
        ("web", "link/web", "link_sent_frames/db"): 300.0,
        ("web", "link/web", "link_lost_frames/db"): 0.25,
        ("web", "link/web", "link_sent_bytes/shared"): 9e6,
        ("web2", "link/web2", "link_sent_bytes/db"): 9e6,
        ("local", "cgroup/web", "cgroup_cpu_s"): 0.03,
        ("local", "cgroup/web2", "cgroup_cpu_s"): 7.0,
        ("local", "cgroup/db", "cgroup_cpu_s"): 0.01,
        ("local", "host", "core_irq_s/0"): 0.02,
        ("local", "host", "core_irq_s/1"): 0.5,
    }
    bundle = bundle_of(rates | more)
    bundle.record.trial = SimpleNamespace(deployment=LINKED)
    return bundle


def test_a_link_is_told_from_others_and_from_other_hosts():
    """By its two ends exactly: ``web`` is not ``web2``, nor the shared network the database."""
    assert links.carried_mb("web", "db")(seen()) == pytest.approx(8.0)
    assert links.frames_per_mb("web", "db")(seen()) == pytest.approx(500)
    assert links.lost_frames("web", "db")(seen()) == pytest.approx(1.0)
    assert links.carried_mb("web", "cache")(seen()) is None
    assert links.frames_per_mb("db", "web")(seen()) is None


def test_cpu_time_is_that_of_the_hosts_asked_for():
    assert links.cpu_ms_per_mb(("web", "db"), "web", "db")(seen()) == pytest.approx(20)
    assert links.cpu_ms_per_mb(("web", "gone"), "web", "db")(seen()) is None
    assert links.core_ms_per_mb("irq", (0,), "web", "db")(seen()) == pytest.approx(10)
    assert links.core_ms_per_mb("irq", (7,), "web", "db")(seen()) is None


def test_the_busier_way_is_what_a_link_is_used():
    """Each way has the link's rate for itself."""
    assert links.mb_per_s("web", "db")(seen()) == pytest.approx(2.0)
    assert links.utilization_percent("web", "db")(seen()) == pytest.approx(10)
    assert links.utilization_percent("web", "shared")(seen()) is None
    assert links.utilization_percent("web", "db", 1000)(seen()) == pytest.approx(1)


def test_a_link_that_carried_nothing_has_no_cost():
    """No division by nothing, and no zero in its place."""
    still = {("web", "link/web", f"link_{way}_bytes/db"): 0.0 for way in ("sent", "received")}
    bundle = bundle_of({**still, ("local", "cgroup/web", "cgroup_cpu_s"): 1.0})
    assert links.cpu_ms_per_mb(("web",), "web", "db")(bundle) is None
    assert links.frames_per_mb("web", "db")(bundle) is None
    assert links.mb_per_s("web", "db")(bundle_of({})) is None
