"""``sizebook reproductions``: runs that readers sent, checked and counted."""

from __future__ import annotations

import tempfile
from pathlib import Path

import typer

from sizebook.cli.output import print_json, print_table, say
from sizebook.store import find_project


def reproductions(
    crate: list[Path] = typer.Argument(
        None, help="Crates that readers sent (sizebook export makes them); without one, the counts."
    ),
    replay: bool = typer.Option(True, help="Make the pages again from the trials and compare."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for another program."),
) -> None:
    """Check runs that readers sent, count them, and show how often the book was repeated.

    Each is audited and compared with the newest published round: on the same host ratios are to
    agree within 5 %, on one of its class within 10 %, elsewhere claims alone count. Measures
    nothing. Exit code 1 at the first run that is refused; those before it are counted.
    """
    from sizebook.book.compared.reproductions import (
        add_reproduction,
        check_run,
        count_chapters,
        read_reproductions,
    )

    project = find_project()
    for path in crate or []:
        with tempfile.TemporaryDirectory(prefix="sizebook-reproduction-") as folder:
            into = Path(folder).resolve()
            found = check_run(path, project, into, replay=replay, say=_say)
        add_reproduction(project, found)
        states = "; ".join(f"{one.chapter} {one.state}" for one in found.chapters)
        say(f"counted: {path.name}: {states}", aside=True)
    runs = read_reproductions(project)
    counts = count_chapters(runs)
    if as_json:
        chapters = [vars(each) for each in counts]
        print_json({"runs": [each.model_dump(mode="json") for each in runs], "chapters": chapters})
        return
    machines = {each.machine for each in runs}
    say(f"{len(runs)} runs from {len(machines)} machines")
    print_table([
        {"chapter": each.chapter, "machines": str(each.machines),
         **{state: str(number) for state, number in each.states.items()},
         "within tolerance": f"{each.within} of {each.judged}" if each.judged else ""}
        for each in counts
    ])  # fmt: skip


def _say(words: str) -> None:
    say(f"reproductions: {words}", aside=True)
