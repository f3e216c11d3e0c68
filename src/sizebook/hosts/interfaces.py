"""What the interfaces of a name space have carried, as the kernel counts it."""

from __future__ import annotations

import os
from pathlib import Path

from sizebook.hosts.base import LinkUse
from sizebook.hosts.spaces import run_in

_TABLE = "/proc/thread-self/net/dev"
_MOST_BYTES = 1 << 16


class InterfaceTable:
    """The kernel's table of a name space's interfaces; opened once, read from anywhere."""

    def __init__(self, space: Path | None) -> None:
        """None: this machine's own name space. Raises OSError."""

        def opened() -> int:
            return os.open(_TABLE, os.O_RDONLY)

        self._file = opened() if space is None else run_in(space, opened)

    def read(self) -> dict[str, LinkUse]:
        """Return by interface what it has carried. Raises OSError."""
        return parse_table(os.pread(self._file, _MOST_BYTES, 0).decode("ascii", "replace"))

    def close(self) -> None:
        """Let go of the name space, which is there as long as the table is open."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def parse_table(text: str) -> dict[str, LinkUse]:
    """Return what each line of /proc/net/dev says.

    Two lines of headings, then ``eth0: 1296 8 0 1 0 0 0 0 1206 7 0 2 0 0 0 0``: bytes, packets,
    errors, drops, four more; first received, then sent.
    """
    found = {}
    for line in text.splitlines()[2:]:
        name, _, rest = line.partition(":")
        numbers = [int(word) for word in rest.split()]
        if len(numbers) >= 16:
            found[name.strip()] = LinkUse(
                sent_bytes=numbers[8],
                received_bytes=numbers[0],
                sent_frames=numbers[9],
                received_frames=numbers[1],
                lost_frames=numbers[2] + numbers[3] + numbers[10] + numbers[11],
            )
    return found
