"""Laws of answers and schedules, for inputs that a search makes up."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sizebook.load.answer import ClosedByServerError, Exchange, read_answer
from sizebook.load.schedule import user_share, user_start_offset_ns, worker_share
from sizebook.load.wire import ProtocolError

BODY = st.binary(max_size=60)
FIELD = st.sampled_from(
    [b"Content-Type: text/html", b"Set-Cookie: a=b; Path=/", b"X: y z", b"Connection: close"]
)
INTERIM = st.sampled_from([b"", b"HTTP/1.1 100 Continue\r\n\r\n"])


@st.composite
def answers(draw):
    """Make one answer, framed in one of the three ways, and mostly whole."""
    head = b"HTTP/1.1 %d OK\r\n" % draw(st.sampled_from([200, 204, 404, 503]))
    head += b"".join(field + b"\r\n" for field in draw(st.lists(FIELD, max_size=2)))
    body = draw(BODY)
    way = draw(st.sampled_from(["length", "chunked", "close"]))
    if way == "length":
        data = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    elif way == "close":
        data = head + b"\r\n" + body
    else:
        cut = draw(st.integers(0, len(body)))
        parts = [part for part in (body[:cut], body[cut:]) if part]
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
        data = head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    data = draw(INTERIM) + data
    return data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data


def read_in(pieces):
    """Return what comes of an answer that arrives in these pieces, then ends.

    What comes after its end is refused by whoever meets it: this answer, or the next request.
    """
    left = iter(pieces)

    def more():
        for piece in left:
            return piece
        raise ClosedByServerError

    exchange = Exchange()
    try:
        read_answer(exchange, b"", more, method="GET", known={}, max_body_bytes=1 << 20)
    except (ProtocolError, ClosedByServerError) as error:
        return type(error)
    if next(left, None) is not None:
        return ProtocolError
    return exchange.status, exchange.head, exchange.body


@given(answers(), st.lists(st.integers(1, 200), max_size=6))
def test_an_answer_is_the_same_however_it_is_split(data, cuts):
    """Byte by byte, in pieces, or up to its end at once: status, head and body, or the refusal."""
    bounds = [0, *sorted({cut for cut in cuts if cut < len(data)}), len(data)]
    pieces = [data[a:b] for a, b in itertools.pairwise(bounds) if a < b]
    whole = read_in([data] if data else [])
    assert read_in(pieces) == whole
    assert read_in([data[at : at + 1] for at in range(len(data))]) == whole


@given(st.integers(0, 300), st.integers(1, 12))
def test_workers_share_a_schedule_without_loss(size, workers):
    """Each arrival and each user has one worker, and shares differ by one at most."""
    offsets = np.arange(size, dtype=np.int64) * 7
    shares = [worker_share(offsets, worker, workers) for worker in range(workers)]
    assert sorted(np.concatenate(shares).tolist()) == offsets.tolist()
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    users = [user for worker in range(workers) for user in user_share(size, worker, workers)]
    assert sorted(users) == list(range(size))


@given(st.integers(1, 500), st.floats(0, 100))
def test_users_join_in_their_order_within_the_ramp(users, ramp_s):
    """The first one at once, no one after its end."""
    starts = [user_start_offset_ns(user, users, ramp_s) for user in range(users)]
    assert starts[0] == 0
    assert starts == sorted(starts)
    assert starts[-1] <= max(round(ramp_s * 1e9), 50_000_000)
