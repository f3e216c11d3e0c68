"""A small book with SYNTHETIC bundles behind it, made as a run makes one, for the audit's tests."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from sample_book import PROJECT
from synthetic_bundles import BEGIN, closed_rows, write_synthetic

from sizebook.book.audit.auditing import Options, run_audit
from sizebook.book.audit.findings import AuditReport
from sizebook.book.audit.targets import own_target
from sizebook.book.chapters import get_chapter
from sizebook.book.notebooks import run_chapter
from sizebook.book.site import build_site
from sizebook.hosts.machine import local_facts
from sizebook.lab.measurement_cache import present_fingerprints
from sizebook.model.bundle import BundleRecord, CommandRun
from sizebook.model.deployment import Deployment, JvmRole
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.trial import ProfileName, TrialSpec
from sizebook.report.evidence import hash_json
from sizebook.stats.histograms import write_interval_log
from sizebook.store import Bundle, BundleWriter, Project, cache_key
from sizebook.store.bundles import RECORD

QUICK = Options(replay=False, site=False)
SERVICE_NS = {"json": 10_000_000, "atom": 25_000_000}
REPLICATES = 3

TOC = """\
format: jb-book
root: index
chapters:
- file: notes
- file: chapters/tiny
"""
INDEX = "# Synthetic book\n\n## Found\n\nJSON gave {val}`chapters/tiny#json-per-s` answers.\n"
NOTES = "# Notes\n\n## Nothing measured\n\nNothing to see.\n"
BIBLIOGRAPHY = "@misc{sample2000, author={Sample, Sam}, title={Synthetic}, year={2000}}\n"

CELLS = (
    ("markdown", (), "# Tiny (synthetic)\n\n## Results"),
    (
        "code",
        ("parameters",),
        'profile = "quick"  # durations\nsource = "measure"  # where from\nseed = 1  # order\n'
        "replicates = 0  # blocks",
    ),
    (
        "code",
        ("hide-input",),
        """\
from sizebook.lab import ChapterLab, Setup
from sizebook.model.claim import own_claim
from sizebook.model.deployment import Deployment, JvmRole
from sizebook.model.design import Design, Factor
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.report import Page, charts, measures, summaries, tables

lab = ChapterLab("tiny", profile=profile, source=source, seed=seed, replicates=replicates)
page = Page.of(lab)
load = LoadProfile(locustfile="synthetic.py", arrivals=ClosedLoop(users=4), cpus=(0,),
                   phases=Phases(warmup_s=2.0, measured_s=10.0))
setup = Setup(Deployment(roles=(JvmRole(role="app"),)), load, probe_interval_s=60.0)
formats = Factor("format", ("json", "atom"))
lab.add(Design("formats", (formats,), lab.profile.replicates, seed), lambda t: setup)
trials = lab.run()
rows = trials["formats"].frame(throughput_per_s=measures.throughput_per_s)""",
    ),
    (
        "code",
        (),
        """\
rates = summaries.summarize(rows, ["format"], "throughput_per_s")
page.figure(charts.bars(rates, category="format", y_title="per second"), "rates",
            "Answers per second (synthetic).", "Two bars", trials=trials["formats"])
page.table(tables.plain_table(rows.select("format", "replicate", "throughput_per_s"),
                              labels={"format": "Format", "throughput_per_s": "Per second"}),
           "all-trials", "Every trial (synthetic).", trials=trials["formats"])""",
    ),
    (
        "code",
        (),
        """\
def rate(name):
    return summaries.mean_of(rows, "throughput_per_s", {"format": name})

page.value("json-per-s", rate("json"), "1/s", digits=1, trials=trials["formats"])
page.prose("JSON gave {json:,.0f} and Atom {atom:,.0f} answers per second.",
           json=rate("json"), atom=rate("atom"), trials=trials["formats"])
said = page.claim(own_claim("json-faster", "JSON answers more than Atom.", "gt"), rows,
                  "throughput_per_s", {"format": "json"}, {"format": "atom"},
                  trials=trials["formats"])""",
    ),
    (
        "code",
        ("of-the-moment",),
        'import time\npage.value("clock", time.time(), "s", digits=3)',
    ),
)


def make_audited_book(root: Path, *, measured: bool = False) -> Path:
    """Write the book below ``root``: bundles, template, executed page and site; give ``root``.

    With ``measured`` its page is one of a measurement, for which every trial is there already; it
    shows nothing of the moment, and no site is built.
    """
    (root / "book" / "chapters").mkdir(parents=True)
    (root / "locustfiles").mkdir()
    (root / "stack").mkdir()
    shutil.copy(PROJECT / "_config.yml", root)
    write_pages(root)
    (root / "locustfiles" / "synthetic.py").write_text('"""Nobody runs this."""\n')
    (root / "stack" / "pom.xml").write_text("<project/>\n")
    shutil.copytree(PROJECT / "data" / "reported", root / "data" / "reported")
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted((root / "data" / "reported").glob("*.csv"))
    ]
    (root / "data" / "reported" / "SHA256SUMS").write_text("".join(sums))
    (root / "data" / "claims").mkdir()
    (root / "data" / "claims" / "own.csv").write_text(
        "claim_id,written_utc,relation,statement\n"
        "own-json-faster,2020-01-01T00:00:00Z,gt,JSON answers more than Atom.\n"
    )
    write_template(root, _as_measured if measured else str)
    for replicate in range(REPLICATES):
        for position, name in enumerate(SERVICE_NS):
            write_trial(root, name, replicate, position)
    chapter = get_chapter(root, "tiny")
    source = "measure" if measured else "data/runs"
    outcome = run_chapter(root, chapter, {"profile": "quick", "source": source})
    assert outcome.state == "ran", outcome.error
    if not measured:
        build_site(root)
    return root


def write_pages(root: Path) -> None:
    """Write what the site is built from, beside the chapter: contents, two pages, pictures."""
    shutil.copytree(PROJECT / "book" / "_static", root / "book" / "_static")
    (root / "book" / "_toc.yml").write_text(TOC)
    (root / "book" / "index.md").write_text(INDEX)
    (root / "book" / "notes.md").write_text(NOTES)
    (root / "book" / "references.bib").write_text(BIBLIOGRAPHY)


def _as_measured(text: str) -> str:
    """Show no clock."""
    return "" if "time.time()" in text else text


def write_template(root: Path, change: Callable[[str], str] = str) -> None:
    """Write the chapter's template; ``change`` is done to the text of each cell."""
    about = {"id": "tiny", "title": "Tiny", "part": "T", "order": 1, "sources": []}
    notebook = nbformat.v4.new_notebook(metadata={"sizebook": {**about, "kind": "chapter"}})
    for number, (kind, tags, source) in enumerate(CELLS):
        make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        cell = make(change(source), metadata={"tags": list(tags)} if tags else {})
        cell["id"] = f"tiny-{number}"
        notebook.cells.append(cell)
    (root / "notebooks").mkdir(exist_ok=True)
    nbformat.write(notebook, root / "notebooks" / "10-tiny.ipynb")


COMMANDS = (CommandRun(name="app-1", command=("java", "-Xmx256m"), exit_code=None),)
"""Of the deployment of ``formats_spec``."""


def formats_spec(
    name: str, replicate: int, chapter: str = "tiny", profile: ProfileName = "quick"
) -> TrialSpec:
    """Return one trial of the design in the chapter of ``write_template``."""
    return TrialSpec(
        chapter=chapter,
        experiment="formats",
        profile=profile,
        treatment={"format": name},
        replicate=replicate,
        deployment=Deployment(roles=(JvmRole(role="app"),)),
        load=LoadProfile(
            locustfile="synthetic.py",
            arrivals=ClosedLoop(users=4),
            phases=Phases(warmup_s=2.0, measured_s=10.0),
            cpus=(0,),
        ),
        probe_interval_s=60.0,
    )


def write_trial(
    root: Path,
    name: str,
    replicate: int,
    position: int,
    chapter: str = "tiny",
    *,
    again: int = 0,
    **prints: str,
) -> Bundle:
    """Write one SYNTHETIC trial as a measurement here and now would leave it.

    No two have the same requests. ``again`` is how often the trial was measured before, an hour
    apart; ``prints`` are fingerprints that differ from the present ones.
    """
    spec = formats_spec(name, replicate, chapter)
    other = 30_000 * (again + (chapter != "tiny"))
    rows = closed_rows(service_ns=SERVICE_NS[name] + 50_000 * replicate + other)
    draft = write_synthetic(root, f"draft-{name}-{replicate}", spec=spec, rows=rows)
    present = present_fingerprints(Project(root), spec).model_copy(update=prints)
    wall_ns = (1_790_000_000 + 100 * replicate + position + 3600 * again) * 10**9
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(wall_ns / 1e9))
    execution = draft.record.execution.model_copy(
        update={
            "wall_ns": wall_ns,
            "started_utc": started,
            "session": f"session-{replicate}",
            "position": position,
            "commands": COMMANDS,
        }
    )
    record = draft.record.model_copy(
        update={
            "key": cache_key(spec, present),
            "fingerprints": present,
            "machine": local_facts(),
            "execution": execution,
        }
    )
    folder = f"{name}-{replicate}" if chapter == "tiny" else f"{chapter}-{name}-{replicate}"
    folder += f"-again-{again}" if again else ""
    with BundleWriter(root / "data" / "runs" / chapter, folder) as writer:
        write_interval_log(writer.path / "latency.hlog", rows, BEGIN)
        for file in draft.record.files:
            shutil.copy(draft.path / file, writer.path / file)
        bundle = writer.commit(record)
    shutil.rmtree(draft.path)
    return bundle


def audit(root: Path, options: Options = QUICK, **limits: Any) -> AuditReport:
    """Audit the book below ``root`` as its own run."""
    return run_audit(own_target(Project(root), **limits), options)


def found(report: AuditReport, severity: str = "error") -> set[str]:
    """Return the numbers of the rules that found something, such as ``AU102``."""
    return {one.rule.partition("-")[0] for one in report.findings if one.severity == severity}


def bundle_of(root: Path, name: str = "json-0") -> Path:
    """Return the folder of one bundle."""
    return root / "data" / "runs" / "tiny" / name


def change_bytes(path: Path, at: int = -40) -> None:
    """Flip one bit of one byte of a file."""
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(bytes(content))


def change_record(bundle: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a bundle's record as somebody with an editor would."""
    record = json.loads((bundle / RECORD).read_text())
    change(record)
    (bundle / RECORD).write_text(json.dumps(record, indent=1) + "\n")
    BundleRecord.model_validate_json((bundle / RECORD).read_text())


def change_page(root: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the executed notebook as somebody with an editor would."""
    path = root / "book" / "chapters" / "tiny.ipynb"
    notebook = json.loads(path.read_text())
    change(notebook)
    path.write_text(json.dumps(notebook, indent=1) + "\n")


def result(notebook: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the first output of a kind, to be changed in place."""
    outputs = (output for cell in notebook["cells"] for output in cell.get("outputs", []))
    return next(each for each in outputs if each["metadata"].get("sizebook", {})["kind"] == kind)


def mend_sum(output: dict[str, Any], content: Any) -> None:
    """Write the right checksum over what was changed, as a careful forger would."""
    sha256 = (
        hashlib.sha256(content.encode()).hexdigest()
        if isinstance(content, str)
        else hash_json(content)
    )
    output["metadata"]["sizebook"]["evidence"]["sha256"] = sha256
