"""Why a file is no GC log that can be read."""

from __future__ import annotations

from sizebook.model.errors import UserError

UNIFIED = "a log of a HotSpot JVM's unified logging, as java -Xlog:gc*:file=gc.log writes"


class GcLogError(UserError):
    """The file is no GC log that can be read."""


def refused(
    found: str, next_step: str = "name the file that the JVM wrote, uncompressed"
) -> GcLogError:
    """Return the error for a file that holds ``found`` instead of a log."""
    return GcLogError(found=found, expected=UNIFIED, next_step=next_step)
