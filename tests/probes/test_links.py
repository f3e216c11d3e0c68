"""What links carry becomes counters, a label for each other end."""

from types import SimpleNamespace

import pytest

from sizebook.hosts import LinkUse
from sizebook.probes.base import Unavailable
from sizebook.probes.links import LinkProbe
from sizebook.probes.registry import find_counter

USE = LinkUse(sent_bytes=5, received_bytes=4, sent_frames=3, received_frames=2, lost_frames=1)


def gone():
    raise OSError("no interface to-db any more")


def test_every_end_is_told_by_what_it_leads_to():
    ends = {peer: SimpleNamespace(use=lambda: USE) for peer in ("shared", "db")}
    probe = LinkProbe("web", ends)
    samples = {one.metric: one.value for one in probe.sample()}
    assert samples["link_sent_bytes/shared"] == samples["link_sent_bytes/db"] == 5
    assert samples["link_lost_frames/db"] == 1
    assert len(samples) == 10
    assert all(find_counter(metric).source == "link" for metric in samples)
    assert {one.source for one in probe.sample()} == {"link/web"}
    assert probe.host == "web"


def test_a_link_that_is_gone_is_a_missing_reading():
    with pytest.raises(Unavailable, match="to-db"):
        list(LinkProbe("web", {"db": SimpleNamespace(use=gone)}).sample())
