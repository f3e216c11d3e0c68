"""One trial by hand: carried out, and shown with its verdict; shared by ``trial`` and ``run``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sizebook.cli.output import print_json, print_table, say
from sizebook.model.errors import UsageError

if TYPE_CHECKING:
    from sizebook.model.trial import TrialSpec
    from sizebook.store import Bundle, Project

STOPPED = 130
"""Exit code of a trial that was stopped by Ctrl-C."""


@contextlib.contextmanager
def checked_options(help_of: str) -> Iterator[None]:
    """Turn what a record refuses into UsageError; ``help_of`` is the command with the options."""
    from pydantic import ValidationError

    from sizebook.model.faults import wanted

    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(
            # A rule over several fields names none, and its input is the whole record.
            found=f"{first['input']!r} for {first['loc'][-1]}" if first["loc"] else "these options",
            expected=wanted(first),
            next_step=f"see 'sizebook {help_of} --help'",
        ) from error


def carry_out(
    project: Project, spec: TrialSpec, folder: Path, *, conditioning_s: float = 0.0
) -> tuple[Bundle, bool]:
    """Run one trial and return its bundle, and whether Ctrl-C ended it early.

    What was measured by then is in the bundle, which says that it failed.
    """
    from sizebook.lab import planning
    from sizebook.lab.bench import opened_bench
    from sizebook.lab.by_hand import StopByHand
    from sizebook.lab.progress import Progress

    opening = planning.conditioning((spec,), conditioning_s)
    session = planning.Session(spec.experiment, 0, opening, (spec,))
    with opened_bench(project, "one trial by hand") as bench:
        bench.by_hand = StopByHand(keeps=True)
        progress = Progress("trial", 1, session.planned_s())
        bundle = bench.run(session, folder, progress)[-1]
        return bundle, bench.by_hand.asked


def finish(bundle: Bundle, stopped: bool) -> None:
    """End the command: exit code 0 for a trial that completed, 1 for one that failed."""
    if stopped:
        raise typer.Exit(STOPPED)
    raise typer.Exit(0 if bundle.record.outcome == "completed" else 1)


def show_trial(bundle: Bundle, *, as_json: bool, more: dict[str, Any] | None = None) -> None:
    """Print findings, numbers, verdict and place of a trial; ``more`` stands in the JSON, too."""
    from sizebook.checks import judge
    from sizebook.report import measures
    from sizebook.store.lock import ALONE, NOT_ALONE

    judgement = judge(bundle)
    done = bundle.record.outcome == "completed"
    numbers = {
        "throughput_per_s": measures.throughput_per_s(bundle),
        "latency_p50_ms": measures.latency_ms(0.5)(bundle),
        "latency_p99_ms": measures.latency_ms(0.99)(bundle),
        "total_time_s": measures.total_time_s(bundle),
        "failed_share": measures.failed_share(bundle),
    } if done else {}  # fmt: skip
    if as_json:
        print_json(
            {
                "bundle": str(bundle.path),
                "outcome": bundle.record.outcome,
                "failure": bundle.record.failure,
                "verdict": judgement.verdict,
                "findings": [vars(finding) for finding in judgement.findings],
                **numbers,
                **(more or {}),
            }
        )
        return
    print_table(
        [
            {
                "rule": finding.rule,
                "": {True: "ok", False: finding.verdict, None: "n/a"}[finding.passed],
                "found": finding.message,
            }
            for finding in judgement.findings
        ]
    )
    for name, number in numbers.items():
        say(f"{name}: {'–' if number is None else format(number, ',.3f')}")
    if bundle.record.execution.facts.get(ALONE) is False:
        say(f"measured beside other measurements ({NOT_ALONE} is set): shows no speed")
    say(f"verdict: {judgement.verdict}")
    say(f"bundle: {bundle.path}")
