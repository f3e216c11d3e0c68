"""A capacity model fitted to trials: which form predicts left-out levels best, and how well.

Each form of ``stats.sizing.Response`` is a curve of the response time over users, think time, CPUs
and nodes, fitted to logarithms; ``bounds`` is the baseline: no waiting until the CPUs are full. A
form is chosen by its error on levels that were left out, never by how well it fits what it has
seen; of two that err alike the simpler one stands first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from sizebook.stats.curves import Curve, Fit, Floats, Parameter, fit
from sizebook.stats.holdout import HeldOut, Rows, choose, leave_levels_out
from sizebook.stats.sizing import Domain, Heap, Response, SizingModel

BASELINE = "bounds"
QUANTITIES = ("mean", "p95", "rate")
_UNBORNE_S = 1e6


@dataclass(frozen=True)
class Observed:
    """What trials showed: one value a trial in each column."""

    cores: Floats
    nodes: Floats
    users: Floats
    """NaN where requests came at random."""
    think_s: Floats
    offered_per_s: Floats
    """NaN where users asked."""
    rate_per_s: Floats
    """Throughput."""
    mean_s: Floats
    p95_s: Floats
    levels: tuple[Hashable, ...]
    """What is left out together: the same label for all replicates of a treatment."""

    @property
    def columns(self) -> dict[str, Floats]:
        """What a prediction may know."""
        names = ("cores", "nodes", "users", "think_s", "offered_per_s")
        return {name: getattr(self, name) for name in names}

    def where(self, rows: Rows) -> Observed:
        """Return some of the trials."""
        parts = {
            name: getattr(self, name)[rows]
            for name in (*self.columns, "rate_per_s", "mean_s", "p95_s")
        }
        levels = tuple(level for level, kept in zip(self.levels, rows, strict=True) if kept)
        return Observed(**parts, levels=levels)


Form = Callable[[Mapping[str, float]], Response]


@dataclass(frozen=True)
class Fitted:
    """One form with its parameters, its tail, and what it said of levels it had not seen."""

    form: str
    fit: Fit
    response: Response
    tail: tuple[float, float]
    held_out: Mapping[str, HeldOut]
    """By quantity: ``mean``, ``p95``, ``rate``."""


@dataclass(frozen=True)
class Contest:
    """All forms, and the one that predicts left-out levels best."""

    observed: Observed
    fitted: Mapping[str, Fitted]
    chosen: str | None
    """None: no form predicts every level from the others."""


def contest(observed: Observed) -> Contest:
    """Return every form fitted to trials, and the choice among them by hold-out error of the mean.

    Forms that have more parameters than there are trials are left out.
    """
    fitted = {}
    forms = _forms(observed) if observed.cores.size else {}
    for name, (parameters, form) in forms.items():
        try:
            fitted[name] = _fitted(name, parameters, form, observed)
        except ValueError:
            continue
    return Contest(observed, fitted, choose({n: one.held_out["mean"] for n, one in fitted.items()}))


def sizing_model(
    fitted: Fitted, observed: Observed, heap: Heap | None, *, level: float = 0.9
) -> SizingModel | None:
    """Return the calculator's model of a fitted form; None with too few trials for a band."""
    bands = {name: held.band(level) for name, held in fitted.held_out.items()}
    known = {name: band for name, band in bands.items() if band is not None}
    closed = np.isfinite(observed.users)
    if len(known) < len(QUANTITIES) or not closed.any():
        return None
    domain = Domain(
        cores=_range(observed.cores),
        nodes=tuple(sorted({int(n) for n in observed.nodes})),
        rate_per_s=_range(observed.rate_per_s),
        users=_range(observed.users[closed]),
        think_s=(
            float(observed.think_s[closed].min()),
            float(observed.think_s[closed].max()) if closed.all() else None,
        ),
        response_s=_range(observed.mean_s),
    )
    return SizingModel(fitted.form, fitted.response, fitted.tail, known, level, domain, heap)


def predicted(response: Response, tail: tuple[float, float], asked: Observed) -> dict[str, Floats]:
    """Return mean, 95th percentile (s) and throughput that a response says of loads."""
    rate, mean_s = _solve(response, asked.columns)
    return {"mean": mean_s, "p95": tail[0] * mean_s ** tail[1], "rate": rate}


def _solve(response: Response, columns: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    cores, nodes, users = columns["cores"], columns["nodes"], columns["users"]
    closed = np.isfinite(users)
    asking = np.where(closed, users, 1.0)
    think_s = np.where(closed, columns["think_s"], 0.0)
    by_users = response.rate_of(asking, think_s, cores, nodes)
    rate = np.where(closed, by_users, columns["offered_per_s"])
    computed = response.seconds(rate, cores, nodes)
    # N / X - Z and R of X say the same of the exact X. Of one that lacks its last bits either is
    # off by far more: the one where think times are long, the other at the knee. Each weighted by
    # the slope of the other, what X lacks cancels, and a search on the result can end.
    rise = response.slope(rate, cores, nodes)
    with np.errstate(divide="ignore", invalid="ignore"):
        waited, fall = asking / by_users - think_s, asking / by_users**2
        exact = (waited * rise + computed * fall) / (rise + fall)
    waited = np.where(np.isfinite(rise) & (rise > 0), exact, waited)
    return rate, np.minimum(np.where(closed, waited, computed), _UNBORNE_S)


def _fitted(name: str, parameters: tuple[Parameter, ...], form: Form, observed: Observed) -> Fitted:
    def compute(columns: Mapping[str, Floats], values: Sequence[float]) -> Floats:
        named = dict(zip((p.name for p in parameters), values, strict=True))
        return _solve(form(named), columns)[1]

    curve = Curve(name, parameters, compute)

    def learn(
        trials: Observed, start: Sequence[float] = ()
    ) -> tuple[Fit, Response, tuple[float, float]]:
        found = fit(curve, trials.columns, trials.mean_s, relative=True, start=start)
        response = form(dict(zip(curve.names, found.values, strict=True)))
        return found, response, _tail(trials)

    whole, response, tail = learn(observed)
    seen = {"mean": observed.mean_s, "p95": observed.p95_s, "rate": observed.rate_per_s}
    known: dict[bytes, dict[str, Floats]] = {}

    def predictor(quantity: str) -> Callable[[Rows, Rows], Floats]:
        def predict(rows: Rows, out: Rows) -> Floats:
            if (key := out.tobytes()) not in known:
                _, left, its_tail = learn(observed.where(rows), whole.values)
                known[key] = predicted(left, its_tail, observed.where(out))
            return known[key][quantity]

        return predict

    held_out = {
        quantity: leave_levels_out(observed.levels, seen[quantity], predictor(quantity))
        for quantity in QUANTITIES
    }
    return Fitted(name, whole, response, tail, held_out)


def _tail(trials: Observed) -> tuple[float, float]:
    """Return a and b of p95 = a mean^b; a constant factor where the means do not vary."""
    mean, p95 = np.log(trials.mean_s), np.log(trials.p95_s)
    if mean.size < 3 or np.ptp(mean) < 1e-9:
        return float(np.exp(np.mean(p95 - mean))), 1.0
    line = scipy.stats.linregress(mean, p95)
    return float(np.exp(line.intercept)), float(line.slope)


def _forms(observed: Observed) -> dict[str, tuple[tuple[Parameter, ...], Form]]:
    """Return the forms, simplest first, with searches that start from what was observed."""
    per_cpu = float((observed.rate_per_s / observed.cores).max())
    least_s = float(observed.mean_s.min())
    capacity = Parameter("capacity_per_s", 0.0, 1e3 * per_cpu, 1.05 * per_cpu)
    base = Parameter("base_s", 0.0, 1e2 * least_s, 0.5 * least_s)
    wait = Parameter("wait_s", 0.0, 1e4 * least_s, least_s)
    power = Parameter("power", 1.0, 50.0, 2.0)
    several = len({int(n) for n in observed.nodes}) > 1
    cost = (Parameter("node_cost", 0.2, 10.0, 1.1),) if several else ()

    def response(exponent: float, **fixed: float) -> Form:
        def make(named: Mapping[str, float]) -> Response:
            known = {"base_s": 0.0, "work_s": 0.0, "wait_s": 0.0, "power": 1.0, "node_cost": 1.0}
            return Response(exponent=exponent, **{**known, **fixed, **named})

        return make

    def sharing(named: Mapping[str, float]) -> Response:
        work_s = 1 / max(named["capacity_per_s"], 1e-9)
        return response(1.0, work_s=work_s, wait_s=work_s)(named)

    return {
        BASELINE: ((capacity, base, *cost), response(0.0)),
        "processor sharing": ((capacity, base, *cost), sharing),
        "queue": ((capacity, base, wait, *cost), response(0.0)),
        "queue per CPU": ((capacity, base, wait, *cost), response(1.0)),
        "late knee": ((capacity, base, wait, power, *cost), response(0.0)),
        "late knee per CPU": ((capacity, base, wait, power, *cost), response(1.0)),
    }


def _range(values: Floats) -> tuple[float, float]:
    return float(values.min()), float(values.max())
