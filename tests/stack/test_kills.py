"""A node killed under load and started again: every document that was acknowledged has its row."""

import threading
import time

import polars as pl
import pytest
from tests.stack.part_stack import ask, load, started
from tests.waiting import wait_until

from sizebook.chapters.user_mix.pages import pages_stack
from sizebook.lab.deployments import xml_stack
from sizebook.lab.placement import place
from sizebook.model.load import PacedGroup, PacedUsers

CLERKS = PacedUsers(
    groups=(
        PacedGroup(users=8, period_s=0.4, name="clerks"),
        PacedGroup(users=4, period_s=0.2, name="background"),
    )
)
MOST_USERS = 12
CASES = {
    "xml": (
        xml_stack(place(), total_heap_mib=256),
        ("xml_transform.py", 4, {"way": "xslt-jdk", "bytes": 20_000}),
        "transform",
    ),
    "pages": (
        pages_stack(place(), nodes=2, total_heap_mib=256),
        ("user_mix.py", CLERKS, {"document_bytes": 10_000}),
        "document",
    ),
}


def stored(stack):
    """Return how many rows the database has."""
    return ask(stack, "select count(*) from document")[0][0]


def more_rows(stack, count):
    """Wait for that many more: of each user at least one that it began, and finished, meanwhile."""
    before = stored(stack)
    wait_until(lambda: stored(stack) > before + count)


@pytest.mark.parametrize("part", CASES)
def test_what_was_acknowledged_is_there(part, tmp_path, tmp_path_factory):
    """Stored is what was acknowledged, and at most what lost its answer on the way besides."""
    deployment, (locustfile, users, settings), name = CASES[part]
    with started(deployment, tmp_path_factory.mktemp(part)) as stack:
        times = []
        over = threading.Event()

        def disturb():
            more_rows(stack, 2 * MOST_USERS)
            times.append(time.monotonic_ns())
            try:
                stack.kill("app-1")
                stack.start_again("app-1")
                times.append(time.monotonic_ns())
                more_rows(stack, 2 * MOST_USERS)
            finally:
                over.set()

        thread = threading.Thread(target=disturb)
        thread.start()
        collected = load(stack, tmp_path, locustfile, users, settings, 600.0, over)
        thread.join()
        sent = collected.requests.filter(pl.col("name").cast(pl.String) == name).with_columns(
            pl.col("error").cast(pl.String)
        )
        good = sent.filter(pl.col("error") == "")
        no_answer = (pl.col("status") == 0) & (pl.col("error") != "connect")
        unsure = sent.filter(no_answer | pl.col("status").is_in([502, 504]))
        rows = stored(stack)
        assert good.height <= rows <= good.height + unsure.height
        killed_ns, back_ns = times
        assert good["start_ns"].min() < killed_ns and good["start_ns"].max() > back_ns
        assert collected.requests.height > good.height
