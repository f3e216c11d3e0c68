"""``sizebook claims``: what became of each claim."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from sizebook.cli.output import print_json, print_table, say
from sizebook.model.errors import UsageError
from sizebook.store import find_project

if TYPE_CHECKING:
    from sizebook.book.ledger.rows import LedgerRow


def claims(
    as_json: bool = typer.Option(False, "--json", help="Print JSON for another program."),
    everything: bool = typer.Option(
        False, "--all", help="Also the claims that are not transferable to another machine."
    ),
    source: str = typer.Option("", help="Only those of one report, or 'sizebook' for our own."),
    verdict: str = typer.Option("", help="Only those with this verdict."),
    chapter: str = typer.Option("", help="Only those of one chapter."),
) -> None:
    """List the claims of the reports, and the book's own, with verdict, effect and evidence.

    False discoveries are limited to 5 % over the whole book, whatever the options leave out: a
    verdict that does not survive that is undetermined here, and its reason says what its page says.

    Exits with 1 if a chapter of the book leaves a claim out without a reason.
    """
    from sizebook.book.ledger.rows import (
        NOT_TRANSFERABLE,
        STATES,
        count_states,
        discoveries,
        faults,
        in_question,
        read_ledger,
    )
    from sizebook.book.site import list_pages

    root = find_project().root
    toc = root / "book" / "_toc.yml"
    rows = read_ledger(root, list_pages(toc) if toc.exists() else [])
    wrong, whole = faults(rows), discoveries(rows)
    if not everything and verdict != NOT_TRANSFERABLE:
        rows = in_question(rows)
    _check("source", source, (row.claim.source for row in rows))
    _check("verdict", verdict, STATES)
    _check("chapter", chapter, (row.chapter for row in rows))
    wanted = {"source": source, "verdict": verdict, "chapter": chapter}
    rows = [row for row in rows if _fits(row, wanted)]
    if as_json:
        print_json({**whole.as_json(), "claims": [row.as_json() for row in rows]})
    else:
        _print_counts(count_states(rows), [state for state in STATES
                                           if any(row.state == state for row in rows)])  # fmt: skip
        if whole.sentence:
            say(whole.sentence)
        say()
        print_table([_describe(row) for row in rows])
    for fault in wrong:
        say(f"sizebook: {fault}", aside=True)
    if wrong:
        raise typer.Exit(1)


def _check(name: str, value: str, known: Iterable[str]) -> None:
    names = list(dict.fromkeys(known))
    if value and value not in names:
        raise UsageError(
            found=f"--{name} {value!r}",
            expected=f"one of {', '.join(names)}",
            next_step="sizebook claims",
        )


def _fits(row: LedgerRow, wanted: dict[str, str]) -> bool:
    found = {"source": row.claim.source, "verdict": row.state, "chapter": row.chapter}
    return all(not value or found[name] == value for name, value in wanted.items())


def _print_counts(counts: dict[str, dict[str, int]], states: list[str]) -> None:
    total = {state: sum(found[state] for found in counts.values()) for state in states}
    rows = [*counts.items(), ("together", total)]
    print_table(
        [
            {
                "source": source,
                **{state: str(found[state]) for state in states},
                "claims": str(sum(found[state] for state in states)),
            }
            for source, found in rows
        ]
    )


def _describe(row: LedgerRow) -> dict[str, str]:
    from sizebook.report.claim_card import effect_words
    from sizebook.stats.decisions import ratio_words

    found, ratio = row.outcome, row.claim.reported_ratio
    effect = effect_words(found.effect, found.low, found.high, found.n) if found else ""
    return {
        "claim": row.claim.claim_id,
        "chapter": row.chapter,
        "verdict": row.state,
        "reported": "" if ratio is None else ratio_words(ratio),
        "measured": effect,
        "statement": row.claim.statement,
        "reason": row.reason,
    }
