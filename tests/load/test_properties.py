"""Laws of answers and schedules, for inputs that a search makes up."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sizebook.load.answer import ClosedByServerError, Exchange, read_answer
from sizebook.load.schedule import (
    arrival_offsets,
    paced_offsets,
    user_share,
    user_start_offset_ns,
    worker_share,
)
from sizebook.load.wire import ProtocolError
from sizebook.model.load import (
    OpenArrivals,
    PacedGroup,
    PacedUsers,
    Phases,
    RampArrivals,
    StaircaseArrivals,
    Step,
)

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


RATES = st.one_of(st.floats(0.5, 300), st.integers(1, 300).map(float))
LENGTHS = st.one_of(st.floats(0.5, 20), st.integers(1, 20).map(float))
PHASES = st.builds(
    Phases, ramp_s=st.sampled_from([0.0, 1.0, 2.5]), warmup_s=st.sampled_from([0.0, 3.0]),
    measured_s=LENGTHS,
)  # fmt: skip
STEPS = st.lists(st.builds(Step, rate_per_s=RATES, length_s=LENGTHS), min_size=1, max_size=4)
OPEN = st.one_of(
    st.builds(OpenArrivals, kind=st.sampled_from(["constant", "poisson"]), rate_per_s=RATES),
    st.builds(StaircaseArrivals, steps=STEPS.map(tuple), poisson=st.booleans()),
    st.builds(
        RampArrivals, begin_per_s=RATES, end_per_s=RATES, over_s=LENGTHS, poisson=st.booleans()
    ),
)


@given(OPEN, PHASES, st.integers(0, 2**32), st.integers(1, 7))
def test_open_arrivals_are_what_the_rate_says_and_workers_share_them(
    arrivals, phases, seed, workers
):
    """Ascending, within the trial, the same from the same seed, as many as are expected.

    Even ones follow the expected number to less than one arrival at every moment. The number of
    random ones lies within seven standard deviations of its mean.
    """
    due = arrival_offsets(arrivals, phases, seed)
    assert due.tolist() == sorted(due.tolist())
    assert due.size == 0 or (due[0] >= 0 and due[-1] < round(phases.planned_s * 1e9))
    assert due.tolist() == arrival_offsets(arrivals, phases, seed).tolist()
    intensity = arrivals.intensity(phases)
    mean = intensity.expected(0.0, intensity.end_s)
    if arrivals.poisson:
        assert abs(due.size - mean) <= 7 * mean**0.5 + 7
    else:
        assert due.tolist() == arrival_offsets(arrivals, phases, seed + 1).tolist()
        for number, at_ns in [*enumerate(due.tolist())][:: max(1, due.size // 20)]:
            assert abs(intensity.expected(0.0, at_ns / 1e9) - number) < 1e-3
        assert abs(due.size - mean) < 1 + 1e-6
    shares = [worker_share(due, worker, workers) for worker in range(workers)]
    assert all((share[1:] >= share[:-1]).all() for share in shares)
    assert sorted(np.concatenate(shares).tolist()) == due.tolist()


@given(st.integers(1, 40), st.floats(0.5, 30), PHASES, st.integers(0, 2**32))
def test_paced_users_are_due_once_a_period_from_when_they_join(users, period_s, phases, seed):
    """Each within the trial and a period apart; the same times from the same seed."""
    paced = PacedUsers(groups=(PacedGroup(name="all", users=users, period_s=period_s),))
    found = paced_offsets(paced, phases, seed)
    assert len(found) == users
    again = paced_offsets(paced, phases, seed)
    for user, (due, same) in enumerate(zip(found, again, strict=True)):
        joins_ns = user_start_offset_ns(user, users, phases.ramp_s)
        assert due.tolist() == same.tolist()
        assert all(joins_ns <= at < round(phases.planned_s * 1e9) for at in due.tolist())
        assert (abs(np.diff(due) - period_s * 1e9) <= 1).all()
        assert due.size >= (phases.planned_s - joins_ns / 1e9) // period_s
