"""This machine as it is; with limits its processes are in a control group of their own."""

from __future__ import annotations

from sizebook.hosts.cgroups import look_for_root
from sizebook.hosts.mode_kind import ModeKind
from sizebook.model.modes import AS_IT_IS

BARE = ModeKind(
    AS_IT_IS,
    "processes in a control group",
    lambda _: look_for_root(),
    start_s=5.0,
    unlimited="processes of this machine as it is",
    own_network=False,
    in_smoke=True,
    colour=3,
)
