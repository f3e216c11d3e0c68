"""Networks of deployments: refused where they cannot be, and unmentioned where there is none."""

import pytest
from pydantic import ValidationError

from sizebook.model.deployment import DatabaseRole, Deployment, HostSpec, JvmRole
from sizebook.model.errors import UsageError
from sizebook.model.network import LinkSpec, NetworkSpec

WEB, DB = (HostSpec(name=name, mode="namespace") for name in ("web", "db"))
STACK = Deployment(roles=(DatabaseRole(), JvmRole(role="app")))
TIERS = STACK.on(WEB, DB, app="web", database="db")
LINKED = NetworkSpec(links=(LinkSpec(ends=("web", "db"), frame_bytes=8996),))


def test_a_deployment_without_a_network_is_the_one_it_was():
    """So that trials from before there were networks are the same trials."""
    assert "network" not in TIERS.canonical_json()
    assert Deployment.model_validate_json(TIERS.canonical_json()) == TIERS


def test_a_network_is_kept_by_what_changes_the_deployment():
    linked = TIERS.connected(LINKED)
    assert linked.changed("app", heap_mib=512).network == LINKED
    assert linked.on(WEB, DB, app="db").network == LINKED
    assert Deployment.model_validate_json(linked.canonical_json()) == linked


def test_links_lead_to_hosts_that_there_are():
    with pytest.raises(UsageError, match="'cache'"):
        TIERS.connected(NetworkSpec(links=(LinkSpec(ends=("web", "cache")),)))
    assert TIERS.connected(NetworkSpec(links=(LinkSpec(ends=("local", "web")),))).network
    with pytest.raises(UsageError, match="'db'"):
        TIERS.connected(LINKED).on(WEB, app="web")


def test_hosts_have_interfaces_that_can_be_set_up():
    guest = HostSpec(name="web", mode="virtio-vm")
    with pytest.raises(UsageError, match="host web of mode virtio-vm"):
        STACK.on(guest, app="web").connected(NetworkSpec())


def test_one_link_a_pair_and_two_ends_a_link():
    with pytest.raises(ValidationError, match="two links"):
        NetworkSpec(links=(LinkSpec(ends=("a", "b")), LinkSpec(ends=("b", "a"))))
    with pytest.raises(ValidationError, match="to itself"):
        LinkSpec(ends=("a", "a"))


@pytest.mark.parametrize(
    "field", [{"frame_bytes": 100}, {"rate_mbit_per_s": 0.0}, {"delay_ms": 0.0}]
)
def test_impossible_wires_are_refused(field):
    with pytest.raises(ValidationError):
        NetworkSpec(**field)
