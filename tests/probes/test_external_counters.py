"""What servers that are not ours tell: the lines of stub_status, and series under our names."""

import pytest

from sizebook.model.errors import UsageError
from sizebook.model.server import CounterSource, Told
from sizebook.probes.exposition import ExpositionError
from sizebook.probes.external_counters import StubStatus, told_probe

STATUS = """\
Active connections: 3 
server accepts handled requests
 8 7 4711 
Reading: 0 Writing: 1 Waiting: 2 
"""  # noqa: W291 - captured from nginx 1.22.1


def probe(counters):
    return told_probe(
        "server/web-1", counters, address="127.0.0.1", port=1, host="local", interval_s=1.0
    )


def test_stub_status_is_read_and_its_own_questions_are_no_requests():
    """Each look is a request to nginx; it is taken out, so that only the load's are left."""
    read = StubStatus()
    texts = [read(STATUS), read(STATUS.replace("4711", "4719"))]
    assert "stub_status_requests_total 4710\n" in texts[0]
    assert "stub_status_requests_total 4717\n" in texts[1]
    assert "stub_status_accepted_total 8\nstub_status_handled_total 7\n" in texts[0]
    assert "stub_status_active 3\n" in texts[0] and "stub_status_waiting 2\n" in texts[0]
    with pytest.raises(ExpositionError):
        read("<html>")


def test_series_keep_their_names_or_get_ours():
    """What grows and what does not are told apart by the endings that Prometheus asks for."""
    assert Told(series="queue_length").name == "told/queue_length"
    assert Told(series="jobs_total").name == "told_total/jobs_total"
    assert Told(series="jobs_total", metric="requests_total").name == "requests_total"
    probe(CounterSource(series=(Told(series="x"), Told(series="y", metric="threads_busy"))))


@pytest.mark.parametrize("metric", ["no_such_metric", "core_user_s", "answers_total"])
def test_a_metric_that_is_none_of_a_servers_is_refused(metric):
    """Unknown, of another source, or with a label."""
    with pytest.raises(UsageError, match=metric):
        probe(CounterSource(series=(Told(series="x", metric=metric),)))
