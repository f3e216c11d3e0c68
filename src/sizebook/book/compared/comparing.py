"""Two runs compared: what may not be compared is refused, what differs said, then the results."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from sizebook.book.compared.claims import compare_claims, tested_alike
from sizebook.book.compared.comparison import (
    KINDS,
    ChapterPair,
    ConditionDifference,
    MetricPair,
    Refusal,
    RunComparison,
    SideFacts,
)
from sizebook.book.compared.machines import (
    TOLERANCES,
    closeness_of,
    differ_in,
    list_differences,
    machine_words,
)
from sizebook.book.compared.metrics import (
    compare_treatment_ratios,
    compare_trials,
    other_loads,
    share_treatments,
)
from sizebook.book.compared.pages import ChapterResults
from sizebook.book.compared.sides import ComparedRun

_SMOKE = "smoke"
_MOST_NAMED = 3


def compare_runs(
    a: ComparedRun,
    b: ComparedRun,
    *,
    chapters: Iterable[str] = (),
    tolerance: float | None = None,
    versions: bool = False,
) -> RunComparison:
    """Return the comparison of two runs, chapter by chapter in the order of ``a``.

    ``chapters`` restricts it; ``tolerance`` is a ratio such as 1.05 that stands for those of the
    machines' closeness; with ``versions`` chapters of different versions are compared as well, by
    the claims that were tested alike. A comparison without any chapter has only refusals. Raises
    BundleError for a trial that turns out to be damaged.
    """
    wanted = set(chapters)
    names = [name for name in dict.fromkeys((*a.results, *b.results))
             if not wanted or name in wanted]  # fmt: skip
    refused = [
        refusal for name in names if (refusal := _refuse(name, a, b, versions=versions)) is not None
    ]
    refused += [_nowhere(name) for name in sorted(wanted - set(names))]
    turned_away = {each.chapter for each in refused}
    common = [name for name in names if name not in turned_away]
    pairs = [_pair(name, a, b, tolerance) for name in common]
    metrics: list[MetricPair] = []
    for pair in pairs:
        found, noted = _compare_metrics(pair, a, b)
        metrics += found
        refused += noted
    return RunComparison(
        a=_facts(a),
        b=_facts(b),
        differences=tuple(_differences(a, b, common)),
        chapters=tuple(pairs),
        refused=tuple(refused),
        claims=tuple(each for name in common for each in
                     compare_claims(a.results[name].claims, b.results[name].claims)),
        metrics=tuple(sorted(metrics, key=lambda one: KINDS.index(one.kind))),
    )  # fmt: skip


def _refuse(name: str, a: ComparedRun, b: ComparedRun, *, versions: bool) -> Refusal | None:
    """Return why a chapter cannot be compared, None if it can; pages without results count not."""
    one, other = a.results.get(name), b.results.get(name)
    if one is None or other is None:
        missing, there = (a, b) if one is None else (b, a)
        return Refusal(
            chapter=name,
            found=f"only {there.name} has it, {missing.name} does not",
            expected="a chapter that both have",
            next_step=f"sizebook run {shlex.quote(name)}",
        )
    for side, found in ((a, one), (b, other)):
        if found.profile == _SMOKE:
            return Refusal(
                chapter=name,
                found=f"{side.name} has it in the smoke profile, which proves that it works, "
                "not how fast",
                expected="quick or full on both sides",
                next_step=f"sizebook run {shlex.quote(name)} --profile quick",
            )
    if not (one.claims or one.cited) and not (other.claims or other.cited):
        return Refusal(
            chapter=name,
            found="neither claims nor trials: the page tells of its machine alone",
            expected="a chapter with results",
            next_step="nothing: there is nothing to compare",
        )
    if one.code_sha256 != other.code_sha256 and not versions:
        return Refusal(
            chapter=name,
            found=f"two versions of the chapter: its code is another at commit {one.commit[:12]} "
            f"in A than at {other.commit[:12]} in B",
            expected="one version on both sides (its prose may differ)",
            next_step="run it at the other's commit, or compare claims that were tested alike: "
            "--versions",
        )
    return _refuse_without_common(name, a, b)


def _refuse_without_common(name: str, a: ComparedRun, b: ComparedRun) -> Refusal | None:
    one, other = a.results[name].claims, b.results[name].claims
    alike = [each for each in one if each in other and not tested_alike(one[each], other[each])]
    sides = [side.trials.by_chapter.get(name, ()) for side in (a, b)]
    if alike or share_treatments(*sides):
        return None
    words = "other treatment levels in A than in B" if all(sides) or (one and other) else (
        "no result that both have")  # fmt: skip
    return Refusal(
        chapter=name,
        found=f"{words}{_levels(a.results[name], b.results[name])}",
        expected="at least one claim or treatment that both have",
        next_step=f"run it with the other's parameters: sizebook run {shlex.quote(name)} "
        "-p name=value",
    )


def _levels(a: ChapterResults, b: ChapterResults) -> str:
    """Return the parameters that differ, in words."""
    apart = [name for name in sorted({*a.parameters, *b.parameters})
             if a.parameters.get(name) != b.parameters.get(name)]  # fmt: skip
    values = {name: [str(one.parameters.get(name))[:60] for one in (a, b)] for name in apart}
    shown = [f"{name[:40]} {values[name][0]} and {values[name][1]}" for name in apart[:_MOST_NAMED]]
    return f" ({'; '.join(shown)})" if shown else ""


def _nowhere(name: str) -> Refusal:
    return Refusal(
        chapter=name,
        found="neither run has it",
        expected="the id of a chapter",
        next_step="sizebook chapters",
    )


def _pair(name: str, a: ComparedRun, b: ComparedRun, tolerance: float | None) -> ChapterPair:
    closeness = closeness_of(a.trials.records(name), b.trials.records(name))
    allowed = tolerance if tolerance is not None else TOLERANCES.get(closeness)
    cited = [{each.sha256 for each in side.results[name].cited.values()} for side in (a, b)]
    return ChapterPair(
        chapter=name,
        closeness=closeness,
        tolerance=allowed,
        same_trials=bool(cited[0]) and cited[0] == cited[1],
    )


def _compare_metrics(
    pair: ChapterPair, a: ComparedRun, b: ComparedRun
) -> tuple[list[MetricPair], list[Refusal]]:
    """Return the metrics of a chapter, and which part of them cannot be compared."""
    name = pair.chapter
    one, other = a.results[name].claims, b.results[name].claims
    found = [each for claim_id in one
             if claim_id in other and not tested_alike(one[claim_id], other[claim_id])
             for each in compare_treatment_ratios(name, one[claim_id], other[claim_id],
                                                  pair.tolerance)]  # fmt: skip
    sides = [side.trials.by_chapter.get(name, ()) for side in (a, b)]
    if not all(sides):
        return found, [_no_trials(name, side) for side, trials in zip((a, b), sides, strict=True)
                       if not trials and side.results[name].cited]  # fmt: skip
    captures = [{each.record.fingerprints.capture_version for each in side} for side in sides]
    if captures[0] != captures[1]:
        return found, [_other_capture(name, captures)]
    found += compare_trials(name, sides[0], sides[1], pair.tolerance)
    loads = other_loads(sides[0], sides[1])
    return found, [_other_load(name, loads)] if loads else []


def _no_trials(name: str, side: ComparedRun) -> Refusal:
    return Refusal(
        chapter=name,
        found=f"processor times, throughput and latency: the trials of {side.name} are not at hand",
        expected="its bundles beside its pages",
        next_step="ask for a crate: sizebook export run.zip",
    )


def _other_capture(name: str, captures: list[set[int]]) -> Refusal:
    words = " and ".join(",".join(map(str, sorted(each))) for each in captures)
    return Refusal(
        chapter=name,
        found=f"processor times, throughput and latency: taken by capture versions {words}",
        expected="one capture version: another one takes samples otherwise",
        next_step=f"measure again with the present harness: sizebook run {shlex.quote(name)}",
    )


def _other_load(name: str, treatments: list[str]) -> Refusal:
    more = len(treatments) - _MOST_NAMED
    named = "; ".join(each[:100] for each in treatments[:_MOST_NAMED])
    return Refusal(
        chapter=name,
        found=f"throughput and latency of {named}" + (f" and {more} more" if more > 0 else "")
        + ": each side had another load (rates and users may follow the machine)",
        expected="the same load on both sides",
        next_step="compare processor times, which are by request",
    )  # fmt: skip


def _facts(side: ComparedRun) -> SideFacts:
    at_hand = {each.bundle.sha256: each.record
               for trials in side.trials.by_chapter.values() for each in trials}  # fmt: skip
    days = sorted(each.execution.started_utc[:10] for each in at_hand.values())
    return SideFacts(
        name=side.name,
        dates=(days[0], days[-1]) if days else (),
        machines=tuple(dict.fromkeys(machine_words(each.machine) for each in at_hand.values())),
        chapters=tuple(side.results),
        trials=len(at_hand),
        missing=side.trials.missing,
    )


def _differences(a: ComparedRun, b: ComparedRun, common: list[str]) -> list[ConditionDifference]:
    records = [{name: side.trials.records(name) for name in common} for side in (a, b)]
    pages = [{name: side.results[name] for name in common} for side in (a, b)]
    found = list_differences(*records)
    said = {each.what for each in found}
    if "profile" not in said:
        profiles = [{name: page.profile for name, page in side.items()} for side in pages]
        found += differ_in("profile", "other durations and numbers of replicates", *profiles)
    names = sorted({name for side in pages for page in side.values() for name in page.parameters})
    for name in names:
        if name not in ("profile", "source"):
            found += differ_in(f"parameter {name[:60]}", "other levels, seed or replicates",
                               *(_parameter(side, name) for side in pages))  # fmt: skip
    commits = [{name: page.commit[:20] for name, page in side.items()} for side in pages]
    return found + differ_in("commit of the book", "its pages were made by another one", *commits)


def _parameter(pages: Mapping[str, ChapterResults], name: str) -> dict[str, str]:
    return {chapter: str(page.parameters.get(name, "none"))[:80]
            for chapter, page in pages.items() if name in page.parameters}  # fmt: skip
