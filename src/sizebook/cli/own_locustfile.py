"""``sizebook run --locustfile FILE``: a locustfile of one's own, measured without a chapter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sizebook.cli.one_trial import carry_out, checked_options, finish, show_trial
from sizebook.cli.output import print_table, say
from sizebook.model.errors import UsageError

if TYPE_CHECKING:
    from sizebook.lab.own_load import OwnLoad, OwnTrial
    from sizebook.model.records import Scalar
    from sizebook.store import Bundle

_MOST_NAMES = 20
"""Rows of the table of requests."""


def refuse_together(given: Mapping[str, Any], without: bool) -> None:
    """Raise UsageError for options that make sense only ``without`` a locustfile, or with one."""
    found = [name for name, value in given.items() if value]
    if found:
        with_it = "beside --locustfile" if without else "without --locustfile"
        raise UsageError(
            found=f"{', '.join(found)} {with_it}",
            expected="chapters, or a locustfile of your own",
            next_step="leave one of the two out; see 'sizebook run --help'",
        )


def list_settings(
    params: list[str], tags: str | None, exclude_tags: str | None, classes: list[str]
) -> dict[str, Scalar]:
    """Return the settings of a plain locustfile: its arguments, tags and user classes."""
    from sizebook.cli.trial import parse_settings

    settings = parse_settings(params)
    if tags:
        settings["tags"] = tags
    if exclude_tags:
        settings["exclude_tags"] = exclude_tags
    if classes:
        settings["user_classes"] = " ".join(classes)
    return settings


def measure_own(load: OwnLoad, out: Path | None, *, as_json: bool) -> None:
    """Measure a locustfile, print verdict and numbers, and end the command.

    Raises UserError for what cannot be run, before anything is started.
    """
    from sizebook.lab.own_load import find_place, plan_own_load, seen_process

    project, folder = find_place(load.locustfile, out)
    with checked_options("run"):
        trial = plan_own_load(project, load)
    process = seen_process(trial.url)
    if not as_json:
        for line in _plan_words(trial, process):
            say(line, aside=True)
    bundle, stopped = carry_out(project, trial.spec, folder)
    if not as_json:
        _print_requests(bundle)
    show_trial(bundle, as_json=as_json, more={"not_known": not_known(trial, bundle, process)})
    if not as_json:
        for line in not_known(trial, bundle, process):
            say(f"not known: {line}")
    finish(bundle, stopped)


def _plan_words(trial: OwnTrial, process: str) -> list[str]:
    """Return what is about to be done, in lines."""
    from sizebook.model.urls import read_url

    load, found = trial.spec.load, trial.found
    users = f"{load.arrivals.users} users"
    if found.shape is not None:
        users = f"up to {users} by {found.shape.name}"
    classes = ", ".join(f"{user.name} ({user.client})" for user in found.users)
    phases = load.phases
    before_s = phases.ramp_s + phases.warmup_s
    own = read_url(trial.url).is_own
    where = f" ({process})" if process else "" if own else ", which is not on this machine"
    return [
        f"load: {users} of {classes}, {before_s:g} s before and {phases.measured_s:g} s measured",
        f"target: {trial.url}{where}",
    ]


def not_known(trial: OwnTrial, bundle: Bundle, process: str) -> list[str]:
    """Return what a trial of a plain locustfile cannot tell, in lines, each with what to do."""
    from sizebook.model.bundle import EXIT_CODE
    from sizebook.model.urls import read_url

    said = []
    if not process:
        why = "no process that listens there can be seen: it is another user's, or in a container"
        if not read_url(trial.url).is_own:
            why = "the server is not on this machine"
        said.append(
            f"CPU and memory of the server ({why}); a chapter with an inventory can watch it"
        )
    if not all(user.is_scenario for user in trial.found.users):
        said.append(
            "how late a request was sent: plain users ask again when they are answered, so latency "
            "counts from the send, and a slow server is asked less often (a closed loop)"
        )
        said.append(
            "whether answers were right, beyond what the locustfile checks by catch_response; "
            "redirects that the client followed are one request"
        )
    code = bundle.record.execution.facts.get(EXIT_CODE)
    if code:
        said.append(f"why the locustfile set exit code {code} at its end: see its own output")
    return said


def _print_requests(bundle: Bundle) -> None:
    """Print a row for each name of request in the measured phase, the most frequent first."""
    import polars as pl

    from sizebook.report import measures
    from sizebook.stats.quantiles import is_supported

    if bundle.record.generator is None or not bundle.measured.height:
        return
    rows = bundle.measured.with_columns(pl.col("name").cast(pl.String))
    counted = (
        rows.group_by("name")
        .agg(pl.len().alias("requests"), (pl.col("error").cast(pl.String) != "").sum().alias("bad"))
        .sort(["requests", "name"], descending=[True, False])
    )
    shown = []
    for name, requests, bad in counted.head(_MOST_NAMES).iter_rows():
        row = {"request": name, "requests": f"{requests:,}", "failed": f"{bad:,}"}
        for percentile in (50, 95, 99):
            known = is_supported(percentile, requests - bad)
            value = measures.latency_ms(percentile / 100, name)(bundle) if known else None
            row[f"p{percentile} ms"] = "–" if value is None else f"{value:,.2f}"
        shown.append(row)
    print_table(shown)
    if counted.height > _MOST_NAMES:
        say(f"… and {counted.height - _MOST_NAMES} more names: give URLs that vary one name=")
    say()
