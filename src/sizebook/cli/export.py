"""``sizebook export``: the present run as a Workflow Run RO-Crate, to pass on or to archive."""

from __future__ import annotations

from pathlib import Path

import typer

from sizebook.cli.output import say
from sizebook.store import find_project


def export(
    target: Path = typer.Argument(..., help="A new folder, or an archive: a name with .zip."),
    chapter: list[str] = typer.Argument(None, help="Ids of chapters; without one, all executed."),
    slim: bool = typer.Option(
        False, "--slim", help="Leave out tables of requests: small, but good for checking only."
    ),
) -> None:
    """Write executed notebooks, templates, load profiles and bundles as an RO-Crate.

    It is there whole or not at all; the same run gives the same bytes.
    """
    from sizebook.book.crate.export import export_crate

    done = export_crate(find_project().root, target, chapter or [], slim=slim)
    chapters = "1 chapter" if done.chapters == 1 else f"{done.chapters} chapters"
    size = f"{done.files} files, {done.bytes / 2**20:.1f} MiB"
    say(f"exported {chapters}, {done.bundles} trials ({size}): {done.path}")
