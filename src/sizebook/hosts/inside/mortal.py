"""A command that ends when the process that started it ends, however that happens.

Run as ``python3 -I -S mortal.py PARENT COMMAND ...``; becomes the command. For what runs for
seconds and is waited for: what lives longer is registered with the guard. Linux, prctl(2),
PR_SET_PDEATHSIG: the kernel sends the signal, so that no kill of the parent comes before it.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sizebook.hosts.inside import spaces
else:
    import spaces


def main() -> None:
    """Ask to be killed with the parent, then become the command."""
    parent, *command = sys.argv[1:]
    spaces.die_with(int(parent))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")


if __name__ == "__main__":
    main()
