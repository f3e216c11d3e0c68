"""Whole small runs with SYNTHETIC trials, alike or apart in one thing, to be compared."""

from __future__ import annotations

import calendar
import hashlib
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from audited_book import COMMANDS, REPLICATES, SERVICE_NS, formats_spec, write_template
from sample_book import PROJECT
from synthetic_bundles import BEGIN, closed_rows, counter_rows, write_synthetic

from sizebook.book.chapters import get_chapter
from sizebook.book.notebooks import run_chapter
from sizebook.hosts.machine import local_facts
from sizebook.lab.measurement_cache import present_fingerprints
from sizebook.stats.histograms import write_interval_log
from sizebook.store import BundleWriter, Project, cache_key, find_bundles, open_bundle
from sizebook.store.digest import write_digest
from sizebook.store.fingerprints import fingerprint_machine
from sizebook.store.packs import pack, published_files
from sizebook.store.rounds import PackRecord, RoundRecord

DAY = "2026-03-04"
ROUND = "2026-03-05"


def make_run(
    root: Path,
    *,
    slow: Mapping[str, float] | None = None,
    processor: float = 1.0,
    offset_ns: int = 0,
    day: str = DAY,
    profile: str = "quick",
    change: Callable[[str], str] = str,
    machine: Mapping[str, Any] | None = None,
    prints: Mapping[str, Any] | None = None,
) -> Path:
    """Write a project with one executed chapter and six trials below ``root``, and give ``root``.

    ``slow`` multiplies the service time of a treatment, ``processor`` all processor times;
    ``offset_ns`` makes otherwise equal trials other ones. ``change`` is done to the template.
    """
    (root / "book" / "chapters").mkdir(parents=True)
    for folder in ("locustfiles", "stack", "env"):
        (root / folder).mkdir()
    shutil.copy(PROJECT / "_config.yml", root)
    (root / "Makefile").write_text("book:\n\tsizebook run\n")
    (root / "pyproject.toml").write_text('[project]\nname = "synthetic"\n')
    (root / "env" / "requirements.lock").write_text("nothing==1\n")
    (root / "locustfiles" / "synthetic.py").write_text('"""Nobody runs this."""\n')
    (root / "stack" / "pom.xml").write_text("<project/>\n")
    shutil.copytree(PROJECT / "data" / "reported", root / "data" / "reported")
    write_template(root, lambda text: change(_without_clock(text)))
    facts = local_facts().model_copy(update=dict(machine or {}))
    for replicate in range(REPLICATES):
        for position, name in enumerate(SERVICE_NS):
            service_ns = round(SERVICE_NS[name] * (slow or {}).get(name, 1.0))
            _write_trial(root, name, replicate, position, service_ns + offset_ns, processor, day,
                         profile, facts, dict(prints or {}))  # fmt: skip
    chapter = get_chapter(root, "tiny")
    outcome = run_chapter(root, chapter, {"profile": profile, "source": "data/runs"})
    assert outcome.state == "ran", outcome.error
    return root


def publish(run: Path, project: Path, date: str = ROUND) -> Path:
    """Write a run's page and trials into a project as the round of a date; give its folder."""
    folder = project / "data" / "published" / date
    folder.mkdir(parents=True)
    page = run / "book" / "chapters" / "tiny.ipynb"
    files = {"chapters/tiny.ipynb": page.read_bytes()}
    for path in find_bundles(run / "data" / "runs"):
        bundle = open_bundle(path)
        digest = write_digest(bundle.columns.height, {})
        named = published_files(bundle, digest)
        files |= {f"{bundle.id}/{name}": data for name, data in named.items()}
    pack(folder / "tiny.tar.xz", files)
    data = (folder / "tiny.tar.xz").read_bytes()
    record = PackRecord(
        chapter="tiny", file="tiny.tar.xz", sha256=hashlib.sha256(data).hexdigest(),
        bytes=len(data), trials=6, profile="quick", replicates=3, machine="", facts=None,
        stack="", jvm="", harness="", capture_version=0, first_utc="", last_utc="",
        left_out=("requests.parquet",), commit="unknown",
    )  # fmt: skip
    index = RoundRecord(name=date, replicates=3, packs=(record,))
    (folder / "round.json").write_text(index.model_dump_json())
    return folder


def _without_clock(text: str) -> str:
    """Leave out what shows the moment: the same trials shall give the same page."""
    return "" if "time.time()" in text else text


def _write_trial(
    root: Path,
    name: str,
    replicate: int,
    position: int,
    service_ns: int,
    processor: float,
    day: str,
    profile: Any,
    facts: Any,
    prints: dict[str, Any],
) -> None:
    spec = formats_spec(name, replicate, profile=profile)
    rows = closed_rows(service_ns=service_ns + 30_000 * replicate)
    draft = write_synthetic(root, f"draft-{name}-{replicate}", spec=spec, rows=rows)
    spent = processor * rows.height * (0.001 + 0.000002 * replicate)
    counters = counter_rows(
        {
            ("server/app-1", "requests_total"): float(rows.height),
            ("host", "core_steal_s/0"): 0.0,
            ("host", "core_steal_s/1"): 0.0,
            ("host", "swap_in_bytes"): 0.0,
            ("host", "swap_out_bytes"): 0.0,
            ("process/app-1", "cpu_user_s"): spent,
            ("process/app-1", "cpu_system_s"): spent / 4,
        }
    )
    present = present_fingerprints(Project(root), spec)
    present = present.model_copy(update={"machine": fingerprint_machine(facts), **prints})
    began = calendar.timegm(time.strptime(day, "%Y-%m-%d")) + 100 * replicate + position
    execution = draft.record.execution.model_copy(
        update={
            "wall_ns": began * 10**9,
            "started_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
            "session": f"session-{replicate}",
            "position": position,
            "commands": COMMANDS,
        }
    )
    record = draft.record.model_copy(
        update={
            "key": cache_key(spec, present),
            "fingerprints": present,
            "machine": facts,
            "execution": execution,
        }
    )
    with BundleWriter(root / "data" / "runs" / "tiny", f"{name}-{replicate}") as writer:
        write_interval_log(writer.path / "latency.hlog", rows, BEGIN)
        writer.table("requests.parquet", rows)
        writer.table("counters.parquet", counters)
        writer.commit(record)
    shutil.rmtree(draft.path)
