"""Paced users in numbers: what was offered, what was achieved, what they waited (made up rows)."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.user_mix import pace
from sizebook.model.load import ClosedLoop, PacedGroup, PacedUsers

S, BEGIN, MEASURED, END = made.S, made.BEGIN, made.MEASURED, made.END
MIX = PacedUsers(
    groups=(
        PacedGroup(name="clerks", users=10, period_s=1.0),
        PacedGroup(name="clerks", users=10, period_s=4.0),
        PacedGroup(name="background", users=1, period_s=2.0),
    )
)
"""10 + 2.5 clicks and half a document a second; ten measured seconds."""


def mix_rows(late_ns: int = 0, failing_user: int = -1) -> pl.DataFrame:
    """Return passes of two requests of 30 ms; those of user 0 begin ``late_ns`` late."""
    due, user = [], []
    for number in range(MIX.users):
        group, at = MIX.place_of(number)
        first = BEGIN + int((at + 0.5) * group.period_s * S / group.users)
        own = np.arange(first, END, int(group.period_s * S))
        due.append(own)
        user.append(np.full(own.size, number))
    due_ns, users = np.concatenate(due), np.concatenate(user)
    start = due_ns + np.where(users == 0, late_ns, 0)
    second = start + 30_000_000
    frame = made.rows_from(
        np.concatenate([due_ns, second]),
        np.concatenate([start, second]),
        np.full(2 * due_ns.size, 30_000_000),
        np.concatenate([users, users]),
    )
    passes = np.concatenate([np.arange(due_ns.size)] * 2)
    order = np.argsort(np.concatenate([start, second]), kind="stable")
    kind = frame.schema["iteration"]
    frame = frame.with_columns(iteration=pl.Series(passes[order]).cast(kind))
    wrong = pl.col("user") == failing_user
    return frame.with_columns(
        error=pl.when(wrong).then(pl.lit("body")).otherwise(pl.lit("")).cast(pl.Categorical)
    )


@pytest.fixture
def bundle(make_bundle: Any) -> Any:
    return lambda **changes: make_bundle(arrivals=MIX, rows=mix_rows(**changes))


def test_offered_is_users_over_period(bundle: Any) -> None:
    """Each group's rate by its users and period; what ended in ten seconds is as much."""
    found = pace.group_rates(bundle())
    assert found["name"].to_list() == ["clerks", "clerks", "background"]
    assert found["users_of_group"].to_list() == [10, 10, 1]
    assert found["offered_per_s"].to_list() == pytest.approx([10, 2.5, 0.5])
    assert found["achieved_per_s"].to_list() == pytest.approx([10, 2.5, 0.5], abs=0.1)
    assert found["late_share"].to_list() == [0, 0, 0]


def test_late_and_failed_passes_show(bundle: Any) -> None:
    """User 0 begins each click 0.2 s late: a tenth of its group; a failed click is not achieved."""
    late = bundle(late_ns=S // 5)
    assert pace.group_rates(late)["late_share"].to_list() == pytest.approx([0.1, 0, 0])
    assert pace.late_share(late) == pytest.approx(10 / 130, abs=0.001)
    failing = pace.group_rates(bundle(failing_user=1))
    assert failing["achieved_per_s"].to_list() == pytest.approx([9, 2.5, 0.5], abs=0.1)
    assert pace.achieved_share(bundle()) == pytest.approx(1, abs=0.01)


def test_a_pass_takes_from_its_due_time_to_its_last_answer(bundle: Any) -> None:
    """Two requests of 30 ms, begun 200 ms after they were due by one user in twenty."""
    late = bundle(late_ns=S // 5)
    assert pace.pass_ms(0.5, "clerks")(late) == pytest.approx(60)
    assert pace.passes(late).filter(pl.col("name") == "clerks")["time_ms"].max() == 260
    assert pace.pass_ms(0.95, "background")(late) is None
    course = pace.pass_course("clerks", 5)(late)
    assert course["t_s"].to_list() == pytest.approx([1, 3, 5, 7, 9])
    assert set(course["value"]) == {60.0}


@pytest.mark.parametrize(
    "changes",
    [
        {"arrivals": ClosedLoop(users=4)},
        {"arrivals": MIX, "rows": made.closed_rows().clear()},
        {"arrivals": MIX, "phases": ()},
    ],
)
def test_without_paced_users_there_is_no_pace(make_bundle: Any, changes: dict[str, Any]) -> None:
    """Another kind of load, no request, no measured phase: empty tables and no numbers."""
    other = make_bundle(**changes)
    assert pace.passes(other).height == pace.group_rates(other).height == 0
    assert pace.achieved_share(other) is None
    assert pace.late_share(other) is None
    assert pace.pass_ms(0.5, "clerks")(other) is None
    assert pace.pass_course("clerks")(other).columns == ["t_s", "value"]
