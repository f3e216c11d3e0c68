"""Bundles from elsewhere are read once by a process of their own, which has little to lose.

A table of a few kilobytes can unpack to gigabytes inside a reader's native code, where nobody
counts, and a damaged one may bring that code down. The taster reads every table with a limit on
memory and CPU time; if it survives, the same bytes are safe to read here.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from sizebook.model.bundle import REQUEST_COLUMNS
from sizebook.model.errors import BundleError
from sizebook.store.bundles import Bundle, open_bundle, verify_bundle
from sizebook.store.notes import read_notes
from sizebook.store.record_file import damaged
from sizebook.store.tables import REQUESTS, SCHEDULE

BASE_BYTES = 3 * 2**29
"""Address space of a taster with nothing read: interpreter, libraries, their threads' stacks."""
TIMES_FILE = 16
"""Bytes of memory for each byte of a bundle's longest table; own ones take up to 5."""
BASE_S = 60
BYTES_A_S = 2**21
"""Read at least so many bytes in a second of CPU time."""


def taste_bundles(folders: Sequence[Path]) -> None:
    """Raise BundleError unless every bundle can be read whole within limits of memory and time.

    All are read by one other process, which takes a second for a start, on two threads at most.
    """
    if not folders:
        return
    sizes = [_table_bytes(open_bundle(folder)) for folder in folders]
    limits = {
        "address": BASE_BYTES + TIMES_FILE * max(map(max, sizes)),
        "cpu_s": BASE_S + sum(map(sum, sizes)) // BYTES_A_S,
    }
    asked = json.dumps({**limits, "folders": [str(folder.resolve()) for folder in folders]})
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-m", "sizebook.store.sandboxed_read"],
            input=asked.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"POLARS_MAX_THREADS": "2", "PATH": os.defpath},
            timeout=4 * limits["cpu_s"],
            check=False,
        )
        said = done.stdout.decode(errors="replace").splitlines()
        code = done.returncode
    except subprocess.TimeoutExpired as error:
        said, code = (error.stdout or b"").decode(errors="replace").splitlines(), -1
    for line in said:
        if fault := json.loads(line):
            raise BundleError(**fault)
    if code != 0 or len(said) != len(folders):
        failed = folders[min(len(said), len(folders) - 1)]
        raise damaged(failed.name, "a table that brings its reader down (memory or time)")


def taste(bundle: Bundle) -> None:
    """Read every part of a bundle, one column at a time; raise BundleError for what is bad."""
    verify_bundle(bundle)
    read_notes(bundle)
    if REQUESTS in bundle.record.files:
        for column in REQUEST_COLUMNS:
            bundle.request_column(column)
    if bundle.has_counters:
        _ = bundle.counters
    if SCHEDULE in bundle.record.files:
        _ = bundle.schedule


def _table_bytes(bundle: Bundle) -> list[int]:
    return [0, *(f.bytes for name, f in bundle.record.files.items() if name.endswith(".parquet"))]


def main() -> None:
    """Taste the bundles that standard input names; print a line of JSON for each."""
    asked = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (asked["cpu_s"], asked["cpu_s"]))
    resource.setrlimit(resource.RLIMIT_AS, (asked["address"], asked["address"]))
    for folder in asked["folders"]:
        fault: dict[str, str] = {}
        try:
            taste(open_bundle(Path(folder)))
        except BundleError as error:
            fault = {"found": error.found, "expected": error.expected, "next_step": error.next_step}
        print(json.dumps(fault), flush=True)


if __name__ == "__main__":
    main()
