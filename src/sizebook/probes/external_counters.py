"""What a server that is not the reference stack's tells of itself, where a chapter says so."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sizebook.model.errors import UsageError
from sizebook.model.server import CounterSource, Told
from sizebook.probes.exposition import ExpositionError
from sizebook.probes.prometheus import PrometheusProbe
from sizebook.probes.registry import COUNTERS, find_counter
from sizebook.probes.series import Series

_STATUS = re.compile(
    r"Active connections: (N)\s+server accepts handled requests\s+(N) (N) (N)\s+"
    r"Reading: (N) Writing: (N) Waiting: (N)\s*".replace("N", "[0-9]{1,20}")
)
"""nginx, module ``ngx_http_stub_status_module``, "Data"."""

_STATUS_NAMES = (
    *("stub_status_active", "stub_status_accepted_total", "stub_status_handled_total"),
    *("stub_status_requests_total", "stub_status_reading", "stub_status_writing"),
    "stub_status_waiting",
)
_STATUS_SERIES = (
    Told(series="stub_status_requests_total", metric="requests_total"),
    Told(series="stub_status_active", metric="connections_open"),
    *(
        Told(series=name)
        for name in _STATUS_NAMES
        if name not in ("stub_status_requests_total", "stub_status_active")
    ),
)


class StubStatus:
    """Translates the lines of ``stub_status``; takes out the questions that it was asked itself."""

    def __init__(self) -> None:
        self._asked = 0

    def __call__(self, text: str) -> str:
        """Return the series that the lines are. Raises ExpositionError for anything else."""
        self._asked += 1
        found = _STATUS.fullmatch(text)
        if found is None:
            raise ExpositionError(f"no lines of stub_status: {text[:80]!r}")
        values = dict(zip(_STATUS_NAMES, map(int, found.groups()), strict=True))
        values["stub_status_requests_total"] -= self._asked
        return "".join(f"{name} {value}\n" for name, value in values.items())


def told_probe(
    source: str,
    counters: CounterSource,
    *,
    address: str,
    port: int,
    host: str,
    interval_s: float,
) -> PrometheusProbe:
    """Return the probe of what a server tells at a port. Raises UsageError for a strange metric."""
    stub = counters.format == "stub-status"
    return PrometheusProbe(
        source,
        address=address,
        management_port=port,
        service_port=port,
        host=host,
        interval_s=interval_s,
        series=_series(counters.series or (_STATUS_SERIES if stub else ())),
        path=counters.path,
        translate=StubStatus() if stub else None,
    )


def _series(told: Sequence[Told]) -> list[Series]:
    for one in told:
        try:
            known = find_counter(one.name).source == "server"
        except KeyError:
            known = False
        if not known:
            plain = [name for name, info in COUNTERS.items() if info.source == "server"]
            raise UsageError(
                found=f"metric {one.name!r} for series {one.series}",
                expected="a counter of source server without label, such as "
                + ", ".join(name for name in plain if not COUNTERS[name].label)[:60],
                next_step="leave the metric out, and the series keeps its own name",
            )
    return [Series(one.series, one.name, dict(one.where)) for one in told]
