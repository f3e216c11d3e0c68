"""A glance at records of bundles, unchecked: thousands are asked for what decides nothing.

What counts is opened by ``store.bundles``. A glance says at most what had better be measured first,
or where time went.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sizebook.store.record_file import RECORD


def glance_at(bundle: Path) -> dict[str, Any] | None:
    """Return what the record of a bundle says, as JSON; None where it cannot be read."""
    try:
        record = json.loads((bundle / RECORD).read_bytes())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None
