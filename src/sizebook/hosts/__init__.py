"""Floor 1: places where processes run; whoever starts something there need not know which kind."""

from sizebook.hosts.base import (
    ClockReading,
    Host,
    HostProcess,
    HostUsage,
    HostView,
    LinkEnd,
    LinkUse,
    ProcessView,
)
from sizebook.hosts.guard import Guard
from sizebook.hosts.guest import GuestHost
from sizebook.hosts.local import LocalHost

__all__ = [
    "ClockReading",
    "Guard",
    "GuestHost",
    "Host",
    "HostProcess",
    "HostUsage",
    "HostView",
    "LinkEnd",
    "LinkUse",
    "LocalHost",
    "ProcessView",
]
