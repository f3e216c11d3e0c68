"""HAProxy: what it gave to which node, and what went wrong on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sizebook.probes.base import CounterSample, QuietProbe, Unavailable

Counters = Callable[[], Mapping[str, Mapping[str, str]]]
"""Gives HAProxy's own statistics by server name; raises OSError while it does not answer."""

_COLUMNS = {
    "balancer_sessions": "stot",
    "balancer_connect_errors": "econ",
    "balancer_response_errors": "eresp",
    "balancer_retries": "wretr",
    "balancer_redispatches": "wredis",
    "balancer_requests": "req_tot",
    "balancer_answers_2xx": "hrsp_2xx",
    "balancer_answers_3xx": "hrsp_3xx",
    "balancer_answers_4xx": "hrsp_4xx",
    "balancer_answers_5xx": "hrsp_5xx",
    "balancer_client_aborts": "cli_abrt",
    "balancer_server_aborts": "srv_abrt",
    "balancer_checks_failed": "chkfail",
    "balancer_downs": "chkdown",
    "balancer_current": "scur",
    "balancer_queue": "qcur",
}
"""Our metric and the column of ``show stat`` (HAProxy management guide, section 9.1)."""

_COUNT = re.compile(r"[0-9]{1,20}")

_ROWS = {"BACKEND": "all", "FRONTEND": "clients"}


class BalancerProbe(QuietProbe):
    """Counters of the balancer by node; the sum over nodes is in the row ``all``.

    Row ``clients`` is what it said to clients, each request once, its own answers among them.
    """

    def __init__(
        self, source: str, counters: Counters, *, host: str = "local", interval_s: float = 1.0
    ) -> None:
        self.name = f"balancer:{source}"
        self.host = host
        self.interval_s = interval_s
        self.asks = self._source = source
        self._counters = counters

    def sample(self) -> list[CounterSample]:
        try:
            rows = self._counters()
        except OSError as error:
            raise Unavailable(f"{self._source}: {error}") from error
        samples = []
        for name, row in rows.items():
            label = _ROWS.get(name, name)
            for metric, column in _COLUMNS.items():
                if said := row.get(column):
                    if _COUNT.fullmatch(said) is None:
                        raise Unavailable(f"{self._source}: {column} of {name} is {said[:40]!r}")
                    samples.append(CounterSample(self._source, f"{metric}/{label}", float(said)))
            up = float(row["status"].startswith(("UP", "OPEN")))
            samples.append(CounterSample(self._source, f"balancer_up/{label}", up))
        return samples
