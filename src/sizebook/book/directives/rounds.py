"""The rounds that came with the book: a table in a page, and the newest one in each footer."""

# docutils brings no types
# mypy: disable-error-code="import-untyped, misc, no-any-return"

from __future__ import annotations

from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective

from sizebook.book.directives.registries import registry_table
from sizebook.store import Project
from sizebook.store.rounds import ROUND, PackRecord, Round, find_rounds

_HEADS = (
    "Round",
    "Chapter",
    "Measured",
    "Profile",
    "Trials",
    "Fewest replicates",
    "Machine",
    "Java",
    "kB a trial",
    "Left out of bundles",
)
_NOTHING = "No round came with this checkout: data/published is empty."


class RoundsDirective(SphinxDirective):
    """```{sbrounds}```: what was published when, on which machine, and what was left out."""

    def run(self) -> list[nodes.Node]:
        """Return the table; a sentence where there is no round."""
        project = Project(Path(self.env.srcdir).parent)
        rounds = find_rounds(project)
        for each in rounds:
            self.env.note_dependency(str(each.folder / ROUND))
        rows = [_cells(each, pack) for each in rounds for pack in each.record.packs]
        if not rows:
            return [nodes.paragraph("", _NOTHING)]
        table = registry_table(_HEADS, rows, literal=2)
        table["classes"].append("sb-rounds")
        return [table]


def name_round(app: Sphinx, config: Config) -> None:
    """Add the newest published round to the footer of each page; nothing where there is none."""
    rounds = find_rounds(Project(Path(app.srcdir).parent))
    if rounds:
        options = config.html_theme_options
        line = f"<p>Published round: {escape(max(each.name for each in rounds))}.</p>"
        footer = options.get("extra_footer", "") + line
        config.html_theme_options = options | {"extra_footer": footer}


def _cells(found: Round, pack: PackRecord) -> tuple[str, ...]:
    days = dict.fromkeys(time[:10] for time in (pack.first_utc, pack.last_utc) if time)
    size = f"{pack.bytes / pack.trials / 1000:.1f}" if pack.trials else ""
    replicates = str(pack.replicates) if pack.replicates else ""
    return (
        found.name,
        pack.chapter,
        " to ".join(days),
        pack.profile,
        str(pack.trials),
        replicates,
        _machine(pack),
        pack.jvm,
        size,
        ", ".join(pack.left_out),
    )


def _machine(pack: PackRecord) -> str:
    if pack.facts is None:
        return ""
    facts = pack.facts
    memory_gib = round(facts.memory_mib / 1024)
    return (
        f"{facts.cpu_model}, {facts.logical_cpus} CPUs, {memory_gib} GiB, {facts.system}, "
        f"kernel {facts.kernel}, {facts.virtualization}"
    )
