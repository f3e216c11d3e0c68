"""What the balancer wrote down during a trial: nodes that it lost and found, requests gone wrong.

Its log has the wall clock's time; here all times are CLOCK_MONOTONIC, by the reading of both clocks
that the bundle holds. Lines look like this::

    2026-11-22T11:01:46.068880+00:00 Server nodes/app-1 is DOWN. 1 active and 0 backup ...
    2026-11-22T11:01:46.510499+00:00 request sHVN 504 retries=0 node=app-1 ms=3001 POST

The first two letters of a request's four say who ended it, and in which state it was (HAProxy
configuration manual, section 8.5, "Session state at disconnection").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import polars as pl

from sizebook.model.errors import BundleError
from sizebook.store import Bundle
from sizebook.store.bundles import verify_file

LOG = "logs/balancer-1.log"
_MOST_BYTES = 64 << 20
_FARTHEST_NS = 2**62
"""Times of other centuries do not fit into a column."""
_TIMED = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}[+-]\d\d:\d\d) (.*)$")
_REQUEST = re.compile(
    r"^request (\S{4}) (-?\d{1,3}) retries=(\+?)(\d{1,4}) node=(\S{1,40}) ms=(\d{1,9}) "
    r"([A-Z]{1,10})"
)
_STATE = re.compile(r"^Server nodes/(\S{1,40}) (is going DOWN for|is DOWN|is UP|enters drain)")
_STATES = {
    "is going DOWN for": "taken out",
    "is DOWN": "down",
    "is UP": "up",
    "enters drain": "draining",
}
_ENDED_BY = {
    "C": "the client went away",
    "S": "the node broke off, or refused",
    "s": "the node gave no answer in time",
    "D": "the node was found down",
    "P": "the balancer refused",
    "R": "the balancer had no room",
    "K": "an order to the balancer",
    "-": "answered",
}
"""What the first letter of a termination state means."""


def node_states(bundle: Bundle) -> pl.DataFrame:
    """Return when the balancer changed its mind about a node: ``at_ns``, ``node``, ``state``.

    ``state`` is ``up``, ``down``, ``draining`` or ``taken out``. Empty without a log.
    """
    rows = []
    for at_ns, words in _lines(bundle):
        if found := _STATE.match(words):
            rows.append((at_ns, found[1], _STATES[found[2]]))
    schema = {"at_ns": pl.Int64, "node": pl.String, "state": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def odd_requests(bundle: Bundle) -> pl.DataFrame:
    """Return the requests that the balancer logged: those that failed, or were tried again.

    ``at_ns`` (when it was over), ``status``, ``ended_by`` (in words), ``retries``, ``elsewhere``
    (whether another node than the first had the last try), ``node`` (of the last try), ``ms``,
    ``method``. Empty without a log.
    """
    rows = []
    for at_ns, words in _lines(bundle):
        if found := _REQUEST.match(words):
            state, status, plus, retries, node, ms, method = found.groups()
            ended_by = _ENDED_BY.get(state[0], "something else")
            rows.append(
                (at_ns, int(status), ended_by, int(retries), bool(plus), node, int(ms), method)
            )
    schema = {"at_ns": pl.Int64, "status": pl.Int64, "ended_by": pl.String, "retries": pl.Int64,
              "elsewhere": pl.Boolean, "node": pl.String, "ms": pl.Int64,
              "method": pl.String}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _lines(bundle: Bundle) -> Iterator[tuple[int, str]]:
    """Give the timed lines of the log with their times; none where there is no good log."""
    if LOG not in bundle.record.files:
        return
    try:
        verify_file(bundle, LOG)
        text = _read(bundle.path / LOG)
    except BundleError:
        return
    execution = bundle.record.execution
    for line in text.splitlines():
        if found := _TIMED.match(line):
            try:
                seconds = datetime.fromisoformat(found[1])
            except ValueError:  # the form of a time, such as 25:00, and none
                continue
            whole_ns = int(seconds.replace(microsecond=0).timestamp()) * 1_000_000_000
            wall_ns = whole_ns + seconds.microsecond * 1000
            at_ns = execution.monotonic_ns + wall_ns - execution.wall_ns
            if abs(at_ns) < _FARTHEST_NS:
                yield at_ns, found[2]


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES).decode("utf-8", errors="replace")
