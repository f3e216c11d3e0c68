"""What a balancer wrote down, and what only looks like it."""

import pytest
from tampered import put_file

from sizebook.chapters.failover.balancer_log import LOG, node_states, odd_requests
from sizebook.store import open_bundle

GOOD = "1970-01-01T00:00:04.500000+00:00 Server nodes/app-1 is UP.\n"


@pytest.mark.parametrize(
    "time",
    [
        "1970-01-01T25:00:04.500000+00:00",
        "1970-13-01T00:00:04.500000+00:00",
        "1970-01-01T00:00:04.500000+99:00",
        "9999-01-01T00:00:04.500000+00:00",
        "0001-01-01T00:00:04.500000+00:00",
    ],
)
def test_lines_whose_time_is_none_are_left_out(make_bundle, time):
    """The others count."""
    made = make_bundle()
    odd = f"{time} Server nodes/app-2 is DOWN.\n{time} request SHVN 502 retries=0 node=a ms=1 GET\n"
    put_file(made.path, LOG, (odd + GOOD).encode())
    bundle = open_bundle(made.path)
    assert node_states(bundle)["node"].to_list() == ["app-1"]
    assert odd_requests(bundle).is_empty()
