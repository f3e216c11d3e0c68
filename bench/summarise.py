"""Summarise one bundle: every check, and every measure that a chapter's tables use.

``python -m bench.summarise FOLDER`` prints what came out as one JSON object; the benchmark
``summary`` runs it in fresh processes.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from sizebook.checks import RULES, judge
from sizebook.report import measures
from sizebook.report.measures import Measure
from sizebook.store import open_bundle
from sizebook.store.asking import ask_all

PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9)
NAMES = ("list", "detail")
MEASURES: Mapping[str, Measure] = {
    "total_time_s": measures.total_time_s,
    "run_received_bytes": measures.run_received_bytes,
    "throughput_per_s": measures.throughput_per_s,
    "failed_share": measures.failed_share,
    "stack_cpu_share": measures.stack_cpu_share,
    "generator_cpu_share": measures.generator_cpu_share,
    **{f"cpu_ms {role}": measures.cpu_ms_per_request(role) for role in ("app", "database")},
    **{
        f"{column} p{percentile:g} {name}": measures.latency_ms(percentile / 100, name, column)
        for column in ("latency_ns", "service_ns")
        for percentile in PERCENTILES
        for name in (None, *NAMES)
    },
    **{
        f"{column} {name}": measures.mean_bytes(column, name)
        for column in ("body_bytes", "received_bytes")
        for name in NAMES
    },
}


def summarise(folder: Path) -> dict[str, object]:
    """Return verdict, rules judged and measures."""
    bundle = open_bundle(folder)
    judgement = judge(bundle)
    return {
        "requests": bundle.columns.height,
        "verdict": judgement.verdict,
        "rules": len(RULES),
        "passed": sum(finding.passed is True for finding in judgement.findings),
        "measures": dict(zip(MEASURES, ask_all(MEASURES.values(), bundle), strict=True)),
    }


if __name__ == "__main__":
    json.dump(summarise(Path(sys.argv[1])), sys.stdout)
    # Else the interpreter looks for garbage in all modules as it ends, for a fifteenth of a second.
    gc.freeze()
