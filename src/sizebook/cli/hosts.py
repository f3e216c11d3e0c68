"""``sizebook hosts``: bring what virtualization modes need beside installed packages."""

from __future__ import annotations

import time

import typer

from sizebook.cli.output import say
from sizebook.store import find_project

_PARAMETER = "modes"
"""The parameter of chapters that compare virtualization modes."""

app = typer.Typer(help="Prepare hosts for the virtualization modes.", no_args_is_help=True)


@app.command()
def prepare(
    gvisor: bool = typer.Option(True, help="Build gVisor's runsc where Go is installed."),
    chapter: str = typer.Option("", help="For this chapter alone: nothing if it has no modes."),
) -> None:
    """Bring a kernel for virtual machines and gVisor's program, unless they are there.

    What cannot be brought makes a mode unavailable and is no error: the reason is printed, and
    'sizebook doctor' says what would bring it.
    """
    from sizebook.book.chapters import get_chapter
    from sizebook.hosts.preparing import prepare_hosts

    project = find_project()
    asked = get_chapter(project.root, chapter).parameters if chapter else ()
    if chapter and _PARAMETER not in {parameter.name for parameter in asked}:
        return
    began = time.monotonic()
    for step in prepare_hosts(project.state, with_gvisor=gvisor):
        seconds = time.monotonic() - began
        say(f"hosts: {step.outcome}" + (f" ({seconds:.0f} s)" if step.was_done else ""))
        began = time.monotonic()
