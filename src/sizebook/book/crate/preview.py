"""What a crate tells people: a page, offline and with text from data escaped, and a README."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import jinja2

from sizebook.book.cited import treatment_words
from sizebook.book.crate import describe
from sizebook.book.crate.describe import StoredFile
from sizebook.book.crate.gather import CrateContents

PREVIEW = "ro-crate-preview.html"
README = "README.md"

_TEMPLATES = Path(__file__).parents[1] / "templates"


def render_preview(run: CrateContents, files: Mapping[str, StoredFile]) -> str:
    """Give the page: the chapters with their parameters, the trials, all files with checksums."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    chapters = [
        {
            "title": each.chapter.title,
            "page": quote(describe.page_path(each)),
            "template": quote(describe.template_path(each)),
            "parameters": sorted(each.parameters.items()),
            "trials": len(each.bundles),
        }
        for each in run.chapters
    ]
    trials = [
        {
            "id": each.bundle.id,
            "record": quote(f"{each.place}/trial.json"),
            "chapter": each.bundle.record.trial.chapter,
            "experiment": each.bundle.record.trial.experiment,
            "treatment": treatment_words(each.bundle.record.trial),
            "verdict": each.verdict,
            "outcome": each.bundle.record.outcome,
        }
        for each in run.bundles
    ]
    listed = [
        {"path": path, "link": quote(path), "bytes": file.bytes, "sha256": file.sha256}
        for path, file in sorted(files.items())
    ]
    return environment.get_template("crate_preview.html.j2").render(
        run=run,
        licences=describe.describe_licences(run),
        machines=list(describe.describe_machines(run).values()),
        software=list(describe.describe_software(run).values()),
        chapters=chapters,
        trials=trials,
        files=listed,
    )


def readme_text(run: CrateContents, *, whole: bool) -> bytes:
    """Give the crate's README: what it is, how to check it, how to make its pages again.

    ``whole``: every trial has its table of requests, without which no page can be made again.
    """
    commands = "\n".join(
        f"    sizebook run {shlex.quote(each.chapter.id)} "
        f"--profile {shlex.quote(str(each.parameters.get('profile', 'quick')))} "
        "--source FOLDER/data/runs"
        for each in run.chapters
        if each.bundles
    )
    again = f"Make the pages again from these trials, without measuring:\n\n{commands}\n"
    slim = (
        "The tables of single requests were left out, as `left-out.json` says beside each\n"
        "`trial.json`: the pages can be checked, not made again.\n"
    )
    return f"""\
# A run of Sizebook

{len(run.bundles)} trials and the notebooks that were made from them, as a Workflow Run RO-Crate:
`ro-crate-metadata.json` describes them for programs, `ro-crate-preview.html` for people.

Check every checksum, and that the metadata describe what is here, in a checkout of Sizebook:

    sizebook audit FOLDER

{again if whole else slim}""".encode()
