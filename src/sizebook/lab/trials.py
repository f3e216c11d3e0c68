"""What a chapter gets back: trials with their verdicts, ready to be tabled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import overload

import polars as pl

from sizebook.checks import judge, judge_set, judge_turns
from sizebook.model.bundle import Fingerprints
from sizebook.model.design import Design
from sizebook.model.records import Scalar
from sizebook.model.verdict import Finding, Judgement, Verdict, worst_of
from sizebook.store import Bundle

Measure = Callable[[Bundle], float | None]
"""Computes one number from one bundle; None where the bundle cannot tell."""


@dataclass(frozen=True)
class Trial:
    """A bundle with what the checks say of it and how it compares with the present sources."""

    bundle: Bundle
    stale: tuple[str, ...] = ()
    """What has changed since it was measured: ``stack``, ``load profile``, ``load data`` ..."""
    foreign: bool = False
    """Measured on another machine than this one."""
    beside: Finding | None = None
    """What is found of it beside the trials that it takes turns with."""

    @property
    def treatment(self) -> Mapping[str, Scalar]:
        """Factor name to level."""
        return self.bundle.record.trial.treatment

    @property
    def replicate(self) -> int:
        """Number of the block."""
        return self.bundle.record.trial.replicate

    @property
    def completed(self) -> bool:
        """Whether it ran to its end; one that did not may lack its requests, or its counters."""
        return self.bundle.record.outcome == "completed"

    @cached_property
    def judgement(self) -> Judgement:
        """Verdict and findings; staleness counts as a finding of its own."""
        judgement = judge(self.bundle)
        if self.beside is not None:
            findings = (*judgement.findings, self.beside)
            judgement = Judgement(worst_of(one.verdict for one in findings), findings)
        if not self.stale:
            return judgement
        finding = Finding(
            rule="SB900-stale",
            passed=False,
            message=f"measured with another {' and '.join(self.stale)} than the present one",
            verdict="stale",
        )
        verdict: Verdict = "stale" if judgement.verdict == "valid" else judgement.verdict
        return Judgement(verdict, (*judgement.findings, finding))

    @property
    def verdict(self) -> Verdict:
        """The worst of what the checks say."""
        return self.judgement.verdict


class Trials(Sequence[Trial]):
    """The measured trials of one design, in a fixed order: treatments, then replicates."""

    def __init__(
        self,
        design: Design,
        trials: Sequence[Trial],
        expected: int | None = None,
        floor: float | None = None,
    ) -> None:
        """Keep the trials of the design's treatments; ``expected`` is how many there should be.

        Without it every treatment is expected in every replicate. ``floor`` is the relative
        spread of this machine's A/A trials.
        """
        self.design = design
        self._floor = floor
        order = {_key(treatment): n for n, treatment in enumerate(design.treatments())}
        self.expected = len(order) * design.replicates if expected is None else expected
        """Trials that the design planned, by its rule for stopping if it has one."""
        known = [trial for trial in _beside(trials) if _key(trial.treatment) in order]
        measured = [t for t in known if t.bundle.record.trial.purpose == "measured"]
        self._trials = sorted(measured, key=lambda t: (order[_key(t.treatment)], t.replicate))
        self.conditioning = tuple(
            t for t in known if t.bundle.record.trial.purpose == "conditioning"
        )
        """The loads that followed each fresh start."""

    @overload
    def __getitem__(self, index: int) -> Trial: ...
    @overload
    def __getitem__(self, index: slice) -> list[Trial]: ...
    def __getitem__(self, index: int | slice) -> Trial | list[Trial]:
        return self._trials[index]

    def __len__(self) -> int:
        return len(self._trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(self._trials)

    def frame(self, **measures: Measure) -> pl.DataFrame:
        """Return one row a trial: factors, ``replicate``, ``verdict``, ``bundle``, the measures.

        A failed trial has its row, with nulls: failed, skipped and measured are three states.
        """
        rows = []
        for trial in self:
            row: dict[str, Scalar | None] = dict(trial.treatment)
            row |= {"replicate": trial.replicate, "verdict": trial.verdict}
            row |= {"bundle": trial.bundle.id}
            row |= {
                name: m(trial.bundle) if trial.completed else None for name, m in measures.items()
            }
            rows.append(row)
        factors = {f.name: _dtype(f.levels) for f in self.design.factors}
        schema: dict[str, type[pl.DataType]] = {
            **factors,
            "replicate": pl.Int64,
            "verdict": pl.String,
            "bundle": pl.String,
            **dict.fromkeys(measures, pl.Float64),
        }
        return pl.DataFrame(rows, schema=schema)

    def findings(self) -> pl.DataFrame:
        """Return one row a trial and rule: what each check found, with the rule's verdict."""
        rows = [
            {
                **trial.treatment,
                "replicate": trial.replicate,
                "rule": finding.rule,
                "passed": finding.passed,
                "message": finding.message,
                "verdict": finding.verdict,
            }
            for trial in self
            for finding in trial.judgement.findings
        ]
        return pl.DataFrame(rows)

    def doubts(self) -> tuple[str, ...]:
        """Return what must be said beside every figure made from these trials; empty if nothing."""
        together = [f.message for f in self.set_findings() if f.passed is False]
        return (*doubts(self, self.expected), *together)

    def set_findings(self) -> tuple[Finding, ...]:
        """Return what the rules over whole designs find: replicates, spread, comparability."""
        treated: dict[object, list[Bundle]] = {_key(t): [] for t in self.design.treatments()}
        for trial in self:
            treated[_key(trial.treatment)].append(trial.bundle)
        return judge_set({str(key): bundles for key, bundles in treated.items()}, self._floor)


def _beside(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials, each that takes turns with what is found of it beside the others."""
    blocks: dict[str, dict[str, Bundle]] = {}
    for trial in trials:
        if trial.bundle.record.execution.turns and trial.completed:
            session = blocks.setdefault(trial.bundle.record.execution.session, {})
            session[trial.bundle.sha256] = trial.bundle
    found = {name: one for block in blocks.values() for name, one in judge_turns(block).items()}
    return [
        replace(trial, beside=found[trial.bundle.sha256]) if trial.bundle.sha256 in found else trial
        for trial in trials
    ]


def doubts(trials: Sequence[Trial], expected: int) -> tuple[str, ...]:
    """Return one line a kind of doubt: trials that are not valid, missing, or of a smoke run."""
    counts = Counter(trial.verdict for trial in trials)
    lines = [
        f"{count} of {expected} trials {verdict}"
        for verdict, count in sorted(counts.items())
        if verdict != "valid"
    ]
    if len(trials) < expected:
        lines.append(f"{expected - len(trials)} of {expected} trials not run")
    if any(trial.bundle.record.trial.profile == "smoke" for trial in trials):
        lines.append("smoke profile: proves that it works, not how fast")
    if any(trial.foreign for trial in trials):
        lines.append("measured on another machine")
    return tuple(lines)


def compare_fingerprints(measured: Fingerprints, present: Fingerprints) -> tuple[str, ...]:
    """Return what differs between a measurement's sources and the present ones, in words."""
    pairs = {
        "stack": (measured.stack, present.stack),
        "load profile": (measured.locustfile, present.locustfile),
        "capture": (measured.capture_version, present.capture_version),
    }
    changed = [name for name, (then, now) in pairs.items() if then != now]
    changed += [  # where its program is missing, nobody knows which one it would be
        f"server {role}"
        for role, then in measured.servers.items()
        if present.servers.get(role, then) != then
    ]
    if measured.data != present.data:
        changed.append("load data")
    return tuple(changed)


def _key(treatment: Mapping[str, Scalar]) -> tuple[tuple[str, Scalar], ...]:
    return tuple(sorted(treatment.items()))


def _dtype(levels: Sequence[Scalar]) -> type[pl.DataType]:
    if all(isinstance(level, bool) for level in levels):
        return pl.Boolean
    if all(isinstance(level, int) for level in levels):
        return pl.Int64
    if all(isinstance(level, int | float) for level in levels):
        return pl.Float64
    return pl.String
