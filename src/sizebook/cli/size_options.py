"""What ``sizebook size`` is asked, checked: half a question is refused in one line."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, NoReturn

from sizebook.model.errors import UsageError

if TYPE_CHECKING:
    from sizebook.stats.sizing import Demanded, Offer, SizingModel, Statistic

_MONTHS_A_YEAR = 12
_DAYS_A_YEAR = 365.25
_MOST_SPARE = 99


def read_question(
    *,
    users: float | None,
    think: float,
    rate: float | None,
    criterion: str,
    failures: int,
    growth: float,
    by: str | None,
    headroom: float,
    utilization: float | None,
    smt_factor: float,
    today: datetime.date,
) -> Demanded:
    """Return the question that the options ask; raises UsageError for half of one."""
    from sizebook.stats.sizing import Demanded

    statistic, limit_s = _criterion(criterion)
    given = {"--users": users, "--rate": rate}
    asked = [f"{name} {one:g}" for name, one in given.items() if one is not None]
    if len(asked) != 1:
        found = " and ".join(asked) or "neither --users nor --rate"
        refuse(found, "one of --users, --rate and --from")
    if not _positive(users if rate is None else rate):
        refuse(asked[0], "a number above 0")
    if not 0 <= think < math.inf:
        refuse(f"--think {think:g}", "seconds, 0 or more")
    if not 0 <= failures <= _MOST_SPARE:
        refuse(f"--failures {failures}", f"nodes, 0 to {_MOST_SPARE}")
    for name, percent in {"--growth": growth, "--headroom": headroom}.items():
        if not 0 <= percent < math.inf:
            refuse(f"{name} {percent:g}", "percent, 0 or more")
    if bool(growth) != (by is not None):
        refuse("one of --growth and --by", "both: percent a year, and a date or months")
    if utilization is not None and not 0 < utilization < 100:
        refuse(f"--utilization {utilization:g}", "percent above 0 and below 100")
    if not _positive(smt_factor):
        refuse(f"--smt-factor {smt_factor:g}", "a number above 0, such as 0.6")
    years = 0.0 if by is None else _years(by, today)
    try:
        return Demanded(
            statistic,
            limit_s,
            users=users,
            think_s=think if users is not None else 0.0,
            rate_per_s=rate,
            spare_nodes=failures,
            growth=growth / 100,
            years=years,
            headroom=headroom / 100,
            ceiling=None if utilization is None else utilization / 100,
            cpu_worth=smt_factor,
        )
    except ValueError as error:
        refuse(f"--growth {growth:g} --by {by}", str(error))


def read_offer(
    model: SizingModel,
    sizes: str | None,
    memory: str | None,
    prices: tuple[float, float, float],
    beside_heap_mib: float,
) -> Offer:
    """Return what can be bought; raises UsageError for sizes or prices that nothing has."""
    from sizebook.report.candidate_words import usual_sizes
    from sizebook.stats.sizing import Offer

    names = ("--price-cpu", "--price-gib", "--price-node")
    for name, price in zip(names, prices, strict=True):
        if not 0 <= price < math.inf:
            refuse(f"{name} {price:g}", "a price, 0 or more")
    return Offer(
        usual_sizes(model) if sizes is None else _sizes("--sizes", sizes),
        () if memory is None else _sizes("--memory", memory),
        *prices,
        beside_heap_mib=beside_heap_mib,
    )


def refuse_mix(mix: str | None) -> None:
    """Raise UsageError for a mix of kinds: no model of this version knows kinds of requests."""
    if mix is not None:
        refuse(
            f"--mix {mix}",
            "no mix: the model was fitted to one mix of requests, and knows no kinds",
            "leave it out; another mix needs trials of its own",
        )


def refuse(found: str, expected: str, next_step: str = "") -> NoReturn:
    """Raise the UsageError of an option."""
    raise UsageError(
        found=found,
        expected=expected,
        next_step=next_step
        or "for example sizebook size --users 300 --think 1 --criterion p95:500",
    )


def _criterion(criterion: str) -> tuple[Statistic, float]:
    statistic, _, limit = criterion.partition(":")
    limit_s = _positive(limit) / 1e3
    if statistic not in ("mean", "p95"):
        refuse(
            f"--criterion {criterion}",
            "mean or p95: the model knows no other percentile and no share of errors",
        )
    if not limit_s:
        refuse(f"--criterion {criterion}", "a colon and milliseconds above 0, such as p95:500")
    return ("mean" if statistic == "mean" else "p95"), limit_s


def _years(by: str, today: datetime.date) -> float:
    """Return the years until a date, or of so many months."""
    months = _positive(by)
    if months:
        return months / _MONTHS_A_YEAR
    try:
        days = (datetime.date.fromisoformat(by) - today).days
    except ValueError:
        days = 0
    if days <= 0:
        refuse(f"--by {by}", "months above 0, or a date to come, such as 18 or 2030-06-30")
    return days / _DAYS_A_YEAR


def _sizes(name: str, text: str) -> tuple[float, ...]:
    found = tuple(map(_positive, text.split(",")))
    if not all(found):
        refuse(f"{name} {text}", "numbers above 0 with commas between, such as 1,2,4,8")
    return found


def _positive(value: str | float | None) -> float:
    """Return a number above 0 that ends; 0 for anything else."""
    try:
        number = float(value or 0)
    except ValueError:
        return 0.0
    return number if 0 < number < math.inf else 0.0
