"""Each executed notebook: its template, its parameters, its results, the bundles they cite."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sizebook.book.audit.bundles import AuditedBundle
from sizebook.book.audit.contents import Draw, LookUp, check_content
from sizebook.book.audit.findings import AuditedItem, AuditReport
from sizebook.book.audit.notebook_file import check_file, check_form
from sizebook.book.audit.outputs import (
    ExecutedPage,
    Output,
    cited_by,
    read_cells,
    read_page,
    source_of,
    tags_of,
)
from sizebook.book.audit.places import HIDDEN
from sizebook.book.audit.targets import PageFile
from sizebook.book.chapters import Chapter, read_parameters
from sizebook.book.notebooks import INJECTED, hash_cells, is_up_to_date
from sizebook.store import Project
from sizebook.store.bundles import REQUESTS


def open_page(file: PageFile, report: AuditReport) -> ExecutedPage | None:
    """Return a page with everything on it counted as checked, None if it cannot be read."""
    place = file.name
    try:
        page = read_page(file)
    except FileNotFoundError:
        problem = "was not run"
    except (OSError, ValueError) as error:
        problem = f"is no executed notebook: {error}"
    else:
        report.check(*page.every_item())
        return page
    item = AuditedItem("pages", place)
    report.check(item)
    report.add(
        "AU200-page", place, f"the page {problem}",
        found=problem, expected="an executed notebook", spoils=[item],
    )  # fmt: skip
    return None


def audit_page(
    page: ExecutedPage,
    chapter: Chapter | None,
    bundles: Mapping[str, Sequence[AuditedBundle]],
    look_up: LookUp,
    draw: Draw,
    report: AuditReport,
) -> None:
    """Report what is wrong with a page as it stands, before anything is executed again.

    ``bundles`` are those audited, by their ids.
    """
    if chapter is not None:
        _check_cells(page, chapter, report)
        _check_parameters(page, chapter, report)
        _check_file(page, chapter, report)
    _check_commit(page, report)
    for output in page.outputs:
        if output.fields is None:
            _check_recorded(page, output, report)
            continue
        for wrong in (*check_form(output), *check_content(output, look_up, draw)):
            report.add(
                wrong.rule, output.place, wrong.message,
                found=wrong.found, expected=wrong.expected,
                spoils=[page.item, *output.items()],
            )  # fmt: skip
    _check_keys(page, report)
    _check_cited(page, bundles, report)


def check_up_to_date(
    page: ExecutedPage, project: Project, chapter: Chapter, report: AuditReport
) -> None:
    """Report a page of the own run whose sources changed since."""
    given = injected_parameters(page)
    if given is not None and not is_up_to_date(project.root, chapter, given):
        report.add(
            "AU213-up-to-date", page.file.name, "sources changed since the page was made",
            found="another stamp", expected="that of the present sources and bundles",
        )  # fmt: skip


def injected_parameters(page: ExecutedPage) -> dict[str, Any] | None:
    """Return the parameters that the runner added, None if their cell is not as it makes it."""
    cells = [cell for cell in page.cells if INJECTED in tags_of(cell)]
    if not cells:
        return {}
    if len(cells) > 1 or cells[0]["cell_type"] != "code" or cells[0].get("outputs"):
        return None
    source = source_of(cells[0])
    notes = [line for line in source.splitlines() if line.lstrip().startswith("#")]
    try:
        parameters = read_parameters(source)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if notes != ["# Parameters"] or any(each.help for each in parameters):
        return None
    return {each.name: each.default for each in parameters}


def _check_cells(page: ExecutedPage, chapter: Chapter, report: AuditReport) -> None:
    template = read_cells(chapter.notebook)
    present, shown = hash_cells(template), page.cells_sha256
    recorded = page.run.get("template_sha256")
    if present == shown == recorded or (recorded is None and present == shown):
        return
    where, outputs = _first_difference(page, template)
    if recorded is not None and recorded != present:
        report.add(
            "AU201-template", page.file.name,
            f"{chapter.notebook.name} changed since the page was executed",
            found=f"SHA-256 {present}", expected=f"SHA-256 {str(recorded)[:64]}",
            spoils=[page.item],
        )  # fmt: skip
    if recorded is None or recorded != shown:
        report.add(
            "AU202-cells", page.file.name,
            f"{where} is not as in {chapter.notebook.name}",
            found=f"SHA-256 {shown}", expected=f"SHA-256 {str(recorded or present)[:64]}",
            spoils=[page.item, *(item for output in outputs for item in output.items())],
        )  # fmt: skip


def _first_difference(
    page: ExecutedPage, template: Sequence[Mapping[str, Any]]
) -> tuple[str, list[Output]]:
    """Return the page's first cell that is not the template's, in words, and its results."""
    own = [(n, c) for n, c in enumerate(page.cells, start=1) if INJECTED not in tags_of(c)]
    for (number, cell), other in zip(own, template, strict=False):
        if hash_cells([cell]) != hash_cells([other]):
            outputs = [output for output in page.results if output.cell == number]
            return f"cell {number} ({cell['cell_type']})", outputs
    return f"the number of cells ({len(own)}, not {len(template)})", []


def _check_file(page: ExecutedPage, chapter: Chapter, report: AuditReport) -> None:
    for place, wrong in check_file(page.document, chapter):
        report.add(
            wrong.rule, f"{page.file.name}{place}", wrong.message,
            found=wrong.found, expected=wrong.expected, spoils=[page.item],
        )  # fmt: skip


def _check_parameters(page: ExecutedPage, chapter: Chapter, report: AuditReport) -> None:
    injected = injected_parameters(page)
    known = {parameter.name: parameter.default for parameter in chapter.parameters}
    recorded = page.run.get("parameters")
    if injected is None:
        words = "a cell of parameters that no run writes"
    elif unknown := sorted(set(injected) - set(known)):
        words = f"parameters that the template does not have: {', '.join(unknown)}"
    elif recorded != (used := {**known, **injected}):
        words = f"recorded parameters {recorded}, executed with {used}"
        if not isinstance(recorded, dict):
            words = "no recorded parameters"
    else:
        return
    report.add(
        "AU203-parameters", page.file.name, f"the page has {words}",
        found=words, expected="the template's parameters, as they were executed",
        spoils=[page.item],
    )  # fmt: skip


def _check_commit(page: ExecutedPage, report: AuditReport) -> None:
    fields = [output.fields for output in page.results if output.fields is not None]
    evidence = [each.get("evidence") for each in fields]
    said = {str(each.get("commit")) for each in evidence if isinstance(each, dict)}
    for commit in sorted(said | {str(page.run.get("commit", "unknown"))}):
        if commit == "unknown" or commit.endswith("+changes"):
            report.add(
                "AU211-commit", page.file.name, f"the page was made at commit {commit[:60]}",
                found=commit[:60], expected="a commit without changes",
            )  # fmt: skip


def _check_recorded(page: ExecutedPage, output: Output, report: AuditReport) -> None:
    if not HIDDEN.intersection(output.tags):
        report.add(
            "AU212-no-record", output.place, f"an output ({output.type}) has no record",
            found=output.type, expected="a record with evidence", spoils=[page.item],
        )  # fmt: skip


def _check_keys(page: ExecutedPage, report: AuditReport) -> None:
    """Report keys that name two different results; a number may be said twice."""
    seen: dict[str, tuple[str, str]] = {}
    for output in page.results:
        for key, said in _named(output):
            first = seen.setdefault(key, said)
            if first is not said and (first != said or said[0] != "value"):
                report.add(
                    "AU210-twice", f"{page.file.name}#{key[:120]}",
                    f"{key[:120]!r} names two results",
                    found=f"a {first[0]} and a {said[0]}", expected="one result",
                    spoils=[page.item, *output.items()],
                )  # fmt: skip


def _named(output: Output) -> list[tuple[str, tuple[str, str]]]:
    """Return key, kind and value of what an output names: a paragraph names its numbers."""
    fields = output.fields or {}
    if output.kind != "prose":
        return [(str(fields.get("key")), (output.kind, json.dumps(fields.get("value"))))]
    numbers = fields.get("numbers")
    listed = (
        [each for each in numbers if isinstance(each, dict)] if isinstance(numbers, list) else []
    )
    return [(str(each.get("key")), ("value", json.dumps(each.get("value")))) for each in listed]


@dataclass(frozen=True)
class _Citation:
    """What a page says of one bundle."""

    bundle: str
    sha256: str
    verdict: str


def _check_cited(
    page: ExecutedPage, bundles: Mapping[str, Sequence[AuditedBundle]], report: AuditReport
) -> None:
    """Report, once for each bundle, what is wrong with it and which results it concerns."""
    citing: dict[_Citation, list[Output]] = defaultdict(list)
    for output in page.results:
        for each in cited_by(output):
            citing[_Citation(each.bundle, each.sha256, each.verdict)].append(output)
    for cited, outputs in citing.items():
        problem = _judge_citation(cited, bundles.get(cited.bundle, ()))
        if problem is None:
            continue
        rule, words, found, expected = problem
        more = f" and {len(outputs) - 1} more" if len(outputs) > 1 else ""
        report.add(
            rule, outputs[0].place, f"{words} (cited by {outputs[0].name}{more})",
            found=found, expected=expected,
            spoils=[page.item, *(item for output in outputs for item in output.items())],
        )  # fmt: skip


def _judge_citation(
    cited: _Citation, there: Sequence[AuditedBundle]
) -> tuple[str, str, str, str] | None:
    name = cited.bundle[:120]
    if not there:
        return "AU207-cited-missing", f"bundle {name} is not there", "no such bundle", name
    same = [each for each in there if each.bundle.sha256 == cited.sha256]
    if not same:
        found = there[0].bundle.sha256
        words = f"bundle {name} is not the one that was used"
        return "AU208-cited-other", words, f"SHA-256 {found}", f"SHA-256 {cited.sha256}"
    bundle, judgement = same[0].bundle, same[0].judgement
    if judgement is None:
        return "AU208-cited-other", f"bundle {name} is damaged", "a damaged bundle", "a whole one"
    verdict = judgement.verdict
    stale = cited.verdict == "stale" and verdict == "valid"
    told = bundle.has_digest or REQUESTS not in bundle.left_out
    if cited.verdict != verdict and not stale and told:
        words = f"bundle {name} is {verdict}, not {cited.verdict[:40]}"
        return "AU209-cited-verdict", words, cited.verdict[:40], verdict
    return None
