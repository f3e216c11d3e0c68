"""Commands that this machine carries out for us and that must not outlive us: tools, a test boot.

The guard knows what hosts run. What is only waited for, such as a build or a machine that is booted
to see whether it boots, would go on for minutes after the harness was killed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from sizebook.hosts.inside import MORTAL


def mortal(command: Sequence[str]) -> list[str]:
    """Return the command line of the same command, killed when this process ends."""
    return [sys.executable, "-I", "-S", str(MORTAL), str(os.getpid()), *map(str, command)]
