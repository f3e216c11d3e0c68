"""Rates from what a user names: an address, an answer of Prometheus, or an access log."""

from __future__ import annotations

import os
from pathlib import Path

from sizebook.store.plain_files import need_plain, open_plain
from sizebook.usage.access_log import read_access_log
from sizebook.usage.prometheus import fetch_rates, is_address, read_rates
from sizebook.usage.rates import ObservedRates


def read_usage(source: str) -> ObservedRates:
    """Return the rates of a source; what a file is, is seen by what it holds.

    Raises UsageError for one that holds none.
    """
    if is_address(source):
        return fetch_rates(source)
    path = Path(source)
    need_plain(path, "an access log, or an answer of Prometheus,")
    return read_rates(path) if _is_answer(path) else read_access_log(path)


def _is_answer(path: Path) -> bool:
    """Return whether a file begins as an answer of Prometheus does, be it an error."""
    with os.fdopen(open_plain(path, follow=True), "rb") as source:
        head = source.read(512).lstrip()
    return head.startswith(b"{") and (b'"resultType"' in head or b'"errorType"' in head)
