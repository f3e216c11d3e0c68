"""What a tier is: processes of this machine with a network of their own."""

from __future__ import annotations

from sizebook.hosts.cgroups import look_for_root
from sizebook.hosts.iproute import find_ip
from sizebook.hosts.mode_kind import ModeKind, Supplies
from sizebook.hosts.spaces import find_nsenter


def _look(_: Supplies) -> None:
    look_for_root()
    find_ip()
    find_nsenter()


NAMESPACE = ModeKind(
    "namespace",
    "processes in a control group, with a network of their own",
    _look,
    start_s=5.0,
    programs=("ip", "nsenter"),
    virtualization=False,
)
