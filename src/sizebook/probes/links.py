"""The links of the hosts' own network: bytes and frames that each end has carried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sizebook.hosts import LinkEnd
from sizebook.probes.base import CounterSample, QuietProbe, Unavailable


class LinkProbe(QuietProbe):
    """What a host's links have carried; source ``link/<host>``, a label for each other end.

    Cumulative since the host came up. Costs 0.1 ms a reading and link.
    """

    def __init__(self, host: str, ends: Mapping[str, LinkEnd], *, interval_s: float = 1.0) -> None:
        """``ends`` by what they lead to."""
        self.name = f"links:{host}"
        self.host = host
        self.interval_s = interval_s
        self._ends = ends

    def sample(self) -> Iterator[CounterSample]:
        source = f"link/{self.host}"
        for peer, end in self._ends.items():
            try:
                use = end.use()
            except OSError as error:
                raise Unavailable(str(error)) from error
            yield CounterSample(source, f"link_sent_bytes/{peer}", use.sent_bytes)
            yield CounterSample(source, f"link_received_bytes/{peer}", use.received_bytes)
            yield CounterSample(source, f"link_sent_frames/{peer}", use.sent_frames)
            yield CounterSample(source, f"link_received_frames/{peer}", use.received_frames)
            yield CounterSample(source, f"link_lost_frames/{peer}", use.lost_frames)
