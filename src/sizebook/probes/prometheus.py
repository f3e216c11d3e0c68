"""What a node of the reference stack, or another server, says of itself in Prometheus' format."""

from __future__ import annotations

import contextlib
import http.client
from collections.abc import Callable, Iterable

from sizebook.probes.base import CounterSample, QuietProbe, Unavailable
from sizebook.probes.exposition import ExpositionError, refuse_other_text
from sizebook.probes.gathering import Known, Reasons, gather
from sizebook.probes.scraping import Scraper
from sizebook.probes.series import SERIES, Series, path_for, prepare
from sizebook.probes.tellers import Tellers

_ANSWER_WITHIN_S = 1.0


class PrometheusProbe(QuietProbe):
    """Counters of one node from its Prometheus endpoint, over one connection that stays open.

    A scrape costs the node some 2 ms of CPU, so 1 Hz is meant; only the series that are wanted are
    asked for, a third of all. The node's own answers to scrapes are on another port than the load
    and are not in ``requests_total``. An answer that takes longer than a second, or than half the
    interval if that is more, is a missing reading: the counters may be of any moment of that time.
    """

    def __init__(
        self,
        source: str,
        *,
        address: str,
        management_port: int,
        service_port: int,
        host: str = "local",
        interval_s: float = 1.0,
        series: Iterable[Series] = SERIES,
        path: str = "",
        translate: Callable[[str], str] | None = None,
    ) -> None:
        """``path`` and ``series`` are those of a node of the reference stack unless they are given.

        ``translate`` makes the text format of what a server says in another one.
        """
        self.name = f"prometheus:{source}"
        self.host = host
        self.interval_s = interval_s
        self.asks = self._source = source
        timeout_s = max(_ANSWER_WITHIN_S, interval_s / 2)
        self._series = prepare(series, service_port)
        place = path or path_for(self._series)
        self._scraper = Scraper(address, management_port, place, timeout_s)
        self._translate = translate
        self._known: Known = {}
        # A node of the reference stack lacks by design what other roles count.
        self._explains = bool(path)
        self._reasons = Reasons(self._series)
        self._tellers = Tellers(self._series)

    def attach(self) -> None:
        """Open the connection and scrape once, so that the first counted scrape is a warm one."""
        self._reasons, self._tellers = Reasons(self._series), Tellers(self._series)
        self._scrape()

    def detach(self) -> None:
        """Close the connection; after readings, see whether one process of the server tells all.

        That takes some connections more, when nothing is measured any longer.
        """
        self._scraper.close()
        if self._explains and self._translate is None and self._reasons.readings:
            with contextlib.suppress(OSError, http.client.HTTPException, ExpositionError):
                self._tellers.ask(lambda: self._scraper.get_anew()[0])

    def lacking(self) -> dict[str, str]:
        """Return what was asked for and never, not always, or by one process alone given."""
        return self._reasons.told() | self._tellers.told() if self._explains else {}

    def sample(self) -> list[CounterSample]:
        text = self._scrape()
        left_out: set[str] = set()
        try:
            found = dict(gather(text, self._series, self._known, left_out))
            if self._explains:
                self._reasons.note(text, found, left_out)
        except ExpositionError as error:
            raise Unavailable(f"{self._source}: {error}") from error
        return [CounterSample(self._source, *one) for one in found.items()]

    def _scrape(self) -> str:
        try:
            text, kind = self._scraper.get()
            if self._translate is not None:
                return self._translate(text)
            refuse_other_text(text, kind)
            return text
        except ExpositionError as error:
            raise Unavailable(f"{self._source}: {error}") from error
        except (OSError, http.client.HTTPException) as error:
            raise Unavailable(f"{self._source} gives no counters: {error}") from error
