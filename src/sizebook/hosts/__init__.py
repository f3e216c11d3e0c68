"""Floor 1: places where processes run; whoever starts something there need not know which kind."""

from sizebook.hosts.base import Host, HostProcess
from sizebook.hosts.guard import Guard
from sizebook.hosts.local import LocalHost

__all__ = ["Guard", "Host", "HostProcess", "LocalHost"]
