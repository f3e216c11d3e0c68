"""All that is to be checked of pages beside each other, and the report of what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sizebook.book.audit.agreement.claimed import comparisons_of
from sizebook.book.audit.agreement.claims import (
    check_ratios,
    check_rows,
    check_sentences,
    check_tables,
    check_verdicts,
)
from sizebook.book.audit.agreement.counts import check_counts
from sizebook.book.audit.agreement.disagreement import Disagreement
from sizebook.book.audit.agreement.levels import check_levels
from sizebook.book.audit.agreement.numbers import compare_numbers, compare_ratios
from sizebook.book.audit.agreement.quoted import check_quoted, check_statistics
from sizebook.book.audit.agreement.shown import (
    Measurands,
    Treatments,
    said_numbers,
    shown_numbers,
)
from sizebook.book.audit.agreement.sides import check_sides
from sizebook.book.audit.findings import KINDS, AuditedItem, AuditReport
from sizebook.book.audit.outputs import ExecutedPage, Output


def find_disagreements(
    pages: Sequence[ExecutedPage], treatments: Treatments, measurands: Measurands
) -> list[Disagreement]:
    """Return what contradicts itself on pages and between them.

    ``treatments`` are those of all trials that the pages cite, ``measurands`` what replays say that
    numbers of older pages are of.
    """
    pages = [_readable(page) for page in pages]
    shown = [one for page in pages for one in shown_numbers(page, treatments)]
    said = [said_numbers(page, treatments, measurands) for page in pages]
    means = [one for each, _ in said for one in each]
    ratios = [one for _, each in said for one in each]
    comparisons = comparisons_of(pages, treatments)
    return [
        *compare_numbers([*shown, *means]),
        *compare_ratios(ratios, comparisons),
        *(found for page in pages for found in check_counts(page)),
        *check_verdicts(comparisons),
        *check_tables(comparisons, shown),
        *check_ratios(comparisons, ratios),
        *(found for page in pages for found in check_sentences(page)),
        *(found for page in pages for found in check_sides(page)),
        *(found for page in pages for found in check_statistics(page)),
        *check_rows(pages),
        *(found for page in pages for found in check_levels(page, measurands)),
    ]


def check_agreement(
    pages: Sequence[ExecutedPage],
    treatments: Treatments,
    measurands: Measurands,
    report: AuditReport,
    book: Path | None = None,
) -> None:
    """Report what contradicts itself on pages and between them.

    ``book`` is the folder of the book's own pages, which quote the claims of these.
    """
    by_name: Mapping[str, ExecutedPage] = {page.file.name: page for page in pages}
    quoted = check_quoted(book, pages) if book is not None else ()
    for one in (*find_disagreements(pages, treatments, measurands), *quoted):
        places = [place for place in (one.place, one.other) if place]
        spoilt = [AuditedItem(kind, place) for place in places for kind in KINDS]
        spoilt += [
            by_name[name].item for place in places if (name := place.partition("#")[0]) in by_name
        ]
        report.add(
            one.rule, one.place, one.message,
            found=one.found, expected=one.expected, spoils=spoilt,
        )  # fmt: skip


def _readable(page: ExecutedPage) -> ExecutedPage:
    """Return the page without results whose records cannot be read, which other rules report."""
    return replace(page, outputs=tuple(filter(_has_record, page.outputs)))


def _has_record(output: Output) -> bool:
    if output.fields is None:
        return False
    try:
        output.read()
    except ValueError:
        return False
    return True
