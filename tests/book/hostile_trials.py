"""Bundles that are valid and hostile: every text in them tries to be more than text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sample_trials import open_requests, readings, usual_readings, write_trial
from synthetic_bundles import BEGIN, host_run
from tampered import put_file

from sizebook.stats.histograms import write_interval_log
from sizebook.store import Bundle, open_bundle
from sizebook.store.bundles import COUNTERS, HISTOGRAMS, RECORD, REQUESTS

ATTACKS = (
    "<script>window.stolen='tag'</script>",
    "</script><script>window.stolen='end'</script>",
    "--></style></title></textarea><svg onload=window.stolen='svg'>",
    "\"'><img src=x onerror=window.stolen='image'>",
    "' onmouseover='window.stolen=1' autofocus onfocus='window.stolen=1",
    "[link](javascript:window.stolen='link') ![](x:y) <javascript:window.stolen=1>",
    "{val}`chapters/alpha#total-time` {{7*7}} {% for x in y %} ${7*7} $x^2$ %s {0} `a` **b**",
    '=HYPERLINK("javascript:1","x")',
    "\x1b[2J\x1b]0;owned\x07\x9b31m\x00\x08",
    "right \u202eto left\u2066 \u2028 \u200b",
    "two\nlines: verdict: valid\r\n",
    "\ufeff../../etc/passwd %2e%2e/ C:\\x",
)
STEERING = "\x00\x07\x08\x1b\x9b\u202e\u2066"
"""Characters of the attacks that must never reach a page or a terminal as they are."""

_WORDS = {"format", "kind", "role", "algorithm", "profile", "purpose", "outcome", "results"}
_FIXED = _WORDS | {"sha256", "host"}
"""Fields of a record that hold one of a few words, a checksum, or the name of a host there is."""


def write_hostile(folder: Path, name: str, attack: str, *, slim: bool = False) -> Bundle:
    """Write a valid bundle below ``folder`` whose every free text is the attack, or ends with it.

    With ``slim`` its requests are in the histogram log alone.
    """
    path = write_trial(folder, name, levels={"users": 5}, slim=slim).path
    record = json.loads((path / RECORD).read_text())
    for inner in (record["trial"]["treatment"], record["versions"], record["execution"]["facts"]):
        inner[attack] = attack
    record["trial"]["load"]["settings"][attack] = attack
    roles = record["trial"]["deployment"]["roles"]
    next(role for role in roles if role["kind"] == "jvm")["flags"] = [attack]
    record["failure"] = "no reason"
    record = {name: _spoil(value, name, attack) for name, value in record.items()}
    record["trial"]["chapter"] = "alpha"
    record["trial"]["deployment"]["hosts"] = [{"name": "box", "mode": "container"}]
    told = host_run(boot_s={attack: 1.0}).model_dump(mode="json")
    told["machine"] |= {"kernel": attack, "cpu_model": attack}
    record["execution"]["hosts"] = [told]
    (path / RECORD).write_text(json.dumps(record))
    rows = _with_words(open_requests(), attack)
    write_interval_log(path / HISTOGRAMS, rows, BEGIN)
    put_file(path, HISTOGRAMS, (path / HISTOGRAMS).read_bytes())
    if not slim:
        put_file(path, REQUESTS, _parquet(rows, path))
    put_file(path, COUNTERS, _parquet(_hostile_readings(attack), path))
    notes = {
        "missing": [
            {"probe": f"server:server/{attack}", "reason": attack, "times": 1}
            | {"first_ns": BEGIN, "last_ns": BEGIN}
        ],
        "lacking": [{"probe": attack, "reasons": {attack: attack}}],
    }
    put_file(path, "probes.json", json.dumps(notes).encode())
    put_file(path, "logs/app-1.log", attack.encode())
    return open_bundle(path)


def _spoil(value: Any, name: str, attack: str) -> Any:
    if name in _FIXED or name in ("files", "phases"):
        return value
    if isinstance(value, dict):
        return {key: _spoil(inner, key, attack) for key, inner in value.items()}
    if isinstance(value, list):
        return [_spoil(inner, "", attack) for inner in value]
    return f"{value}{attack}" if isinstance(value, str) else value


def _with_words(rows: pl.DataFrame, attack: str) -> pl.DataFrame:
    failed = pl.col("error").cast(pl.String) != ""
    name = pl.Series(np.where(np.arange(rows.height) % 2, attack, "detail"))
    return rows.with_columns(
        name=name.cast(pl.Categorical),
        error=pl.when(failed).then(pl.lit(attack)).otherwise(pl.lit("")).cast(pl.Categorical),
    )


def _hostile_readings(attack: str) -> pl.DataFrame:
    ticks = [float(t) for t in range(13)]
    sources = (
        "host",
        "server/app-1",
        "process/app-1",
        "jvm/app-1",
        "jvm/a",
        attack,
        f"jvm/{attack}",
    )
    metrics = ("cpu_user_s", "disk_read_bytes", "heap_used_bytes", "requests_total", attack)
    hostile = readings(
        {
            (source, f"{metric}/{attack}"): [(t, 1 + t) for t in ticks]
            for source in sources
            for metric in metrics
        }
        | {(attack, attack): [(t, t * t) for t in ticks]}
        | {(f"process/{attack}", "cpu_user_s"): [(t, t) for t in ticks]}
    )
    return pl.concat([usual_readings(), hostile]).sort("time_ns", maintain_order=True)


def _parquet(frame: pl.DataFrame, folder: Path) -> bytes:
    made = folder.parent / f".{folder.name}.parquet"
    frame.write_parquet(made, compression="zstd", statistics=False)
    data = made.read_bytes()
    made.unlink()
    return data
