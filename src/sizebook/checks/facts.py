"""What several rules need from a bundle; where it lacks something the rule does not apply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sizebook.checks.rules import DoesNotApply
from sizebook.model.bundle import HANG, OUT_OF_MEMORY, STOP, GeneratorFacts, PhaseMark
from sizebook.model.load import ClosedLoop, PacedUsers
from sizebook.model.trial import TrialSpec
from sizebook.stats.groups import Groups
from sizebook.stats.order import Ordered
from sizebook.store import Bundle
from sizebook.store.columns import RequestColumns
from sizebook.store.notes import read_notes


@dataclass(frozen=True)
class Change:
    """How a counter rose around a time window."""

    total: float
    """Sum over all matching sources and labels."""
    parts: int
    """Number of sources and labels."""
    length_s: float
    """Mean time between the two readings used: the window and at most an interval either side."""


def generator_facts(bundle: Bundle) -> GeneratorFacts:
    """Return what the generator said of itself."""
    if bundle.record.generator is None:
        raise DoesNotApply("the generator left no facts")
    return bundle.record.generator


def undisturbed(bundle: Bundle, nodes: str = "") -> None:
    """Raise DoesNotApply if a node ended or hung while the load ran, be it to come back.

    ``nodes`` is what the names of those begin with that matter.
    """
    events = [e for e in bundle.record.execution.events if e.node.startswith(nodes)]
    words = {HANG: "made to hang", STOP: "drained and stopped"}
    done = [e for e in events if e.is_outage and e.action != OUT_OF_MEMORY]
    if done:
        told = {f"{words.get(e.action, 'killed')} on purpose: {e.node}" for e in done}
        raise DoesNotApply(", ".join(sorted(told)))
    exhausted = [e.node for e in events if e.action == OUT_OF_MEMORY]
    if exhausted:
        raise DoesNotApply(f"ran out of memory: {', '.join(dict.fromkeys(exhausted))}")


def refuse_change(bundle: Bundle) -> None:
    """Raise DoesNotApply if the design changes the load or the stack within the measured phase.

    Then there is no level that all of it could keep. What is set as the phase begins is no change.
    """
    trial = bundle.record.trial
    refuse_coming_users(trial)
    rates = {rate for piece in _measured_pieces(trial) for rate in piece}
    if len(rates) > 1:
        raise DoesNotApply(f"arrivals change on purpose, from {min(rates):g} to {max(rates):g}/s")
    resized = [one for one in trial.planned() if one.action == "resize" and one.at_s > 0]
    if resized:
        raise DoesNotApply(f"{resized[0].node}'s host is resized while requests count")


def refuse_coming_users(trial: TrialSpec) -> None:
    """Raise DoesNotApply if users of a closed loop come and go within the measured phase."""
    arrivals = trial.load.arrivals
    if isinstance(arrivals, ClosedLoop) and arrivals.varies and trial.purpose == "measured":
        fewest, most = arrivals.counts
        raise DoesNotApply(f"users come and go on purpose, {fewest:g} to {most:g} at a time")


def _measured_pieces(trial: TrialSpec) -> Iterator[tuple[float, float]]:
    """Give the rates at begin and end of each piece of open arrivals in the measured phase."""
    arrivals, phases = trial.load.arrivals, trial.load.phases
    if isinstance(arrivals, ClosedLoop | PacedUsers) or trial.purpose != "measured":
        return
    begin_s = phases.ramp_s + phases.warmup_s
    for piece in arrivals.intensity(phases).pieces:
        if piece.end_s > begin_s:
            yield piece.rate_at(max(piece.begin_s, begin_s)), piece.end_per_s


def refuse_passes(bundle: Bundle) -> None:
    """Raise DoesNotApply where whole passes of the scenario make the results, not requests."""
    facts = bundle.record.generator
    if facts is not None and facts.results == "passes":
        raise DoesNotApply("whole passes make the results, each replicate gives one or a few")


def measured_mark(bundle: Bundle) -> PhaseMark:
    """Return the measured phase as it was run."""
    mark = bundle.record.execution.phase("measured")
    if mark is None or mark.end_ns <= mark.begin_ns:
        raise DoesNotApply("the trial never came to its measured phase")
    return mark


def measured_requests(bundle: Bundle) -> RequestColumns:
    """Return the requests of the measured phase, at least one."""
    rows = bundle.columns.only("phase", "measured")
    if rows.height == 0:
        raise DoesNotApply("no request in the measured phase")
    return rows


def ordered(rows: RequestColumns, column: str) -> Ordered:
    """Return what gives quantiles of a column of these requests; asked again, the same."""
    return rows.once("ordered", (column,), lambda: Ordered(rows.in_blocks(column), rows.height))


def passes_of(rows: RequestColumns) -> Groups:
    """Return the requests by pass of the scenario; asked again, the same."""
    return rows.once("passes", ("iteration",), lambda: Groups(rows["iteration"]))


def counter_change(bundle: Bundle, source: str, metric: str, begin_ns: int, end_ns: int) -> Change:
    """Return the rise of a counter from the last reading before to the first after a window.

    ``source`` is the beginning of the sources that count (``server/app-``), ``metric`` the name
    without label; all that match are added up. Raises DoesNotApply where one began anew meanwhile.
    """
    found = bundle.readings.find(source, metric)
    if not found:
        raise DoesNotApply(f"no readings of {metric} from {source}")
    rises = [one.rise_around(begin_ns, end_ns) for one in found]
    told = [one for one in rises if one is not None]
    if len(told) < len(found):
        raise DoesNotApply(f"the readings of {metric} from {source} do not span the window")
    if not all(one.is_whole for one in told):
        raise DoesNotApply(f"{metric} from {source} began anew within the window")
    total, length_s = sum(one.total for one in told), sum(one.length_s for one in told)
    return Change(total, len(told), length_s / len(told))


def why_lacking(bundle: Bundle, source: str) -> dict[str, str]:
    """Return metric to reason of what the sources that begin so were asked and did not tell."""
    notes = read_notes(bundle)
    return notes.why_lacking(source) if notes is not None else {}


def last_reading_ns(bundle: Bundle, source: str, metric: str) -> int:
    """Return when a metric was last read from every source that begins so; 0: never."""
    found = bundle.readings.find(source, metric)
    return min((int(one.times_ns[-1]) for one in found), default=0)


@dataclass(frozen=True)
class LevelChange:
    """A quantity around a time window, summed over the sources that have it."""

    rise: float
    """Value after the window less the value before it; of a gauge it may be negative."""
    end: float
    """Value after the window."""


def change_of(bundle: Bundle, source: str, metric: str, begin_ns: int, end_ns: int) -> LevelChange:
    """Return how a gauge changed from the last reading before to the first one after a window.

    ``source`` is the beginning of the sources that count, ``metric`` the name with its label.
    """
    levels = bundle.readings.around(source, metric, begin_ns, end_ns)
    if levels is None:
        raise DoesNotApply(f"the readings of {metric} do not span the window")
    before, after = levels
    return LevelChange(after - before, after)
