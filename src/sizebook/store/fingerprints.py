"""SHA-256 over what decides whether two measurements may be compared."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from sizebook.model.bundle import Fingerprints, MachineFacts
from sizebook.model.trial import TrialSpec
from sizebook.store.plain_files import open_plain


def fingerprint_text(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint_file(path: Path) -> str:
    """Return the SHA-256 of a plain file's bytes, in hexadecimal. Raises OSError for others."""
    with os.fdopen(open_plain(path, follow=True), "rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def fingerprint_files(paths: Iterable[Path], root: Path) -> str:
    """Return one SHA-256 over names (relative to ``root``) and contents, in sorted order."""
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(f"{path.relative_to(root).as_posix()}\0{fingerprint_file(path)}\n".encode())
    return total.hexdigest()


def fingerprint_machine(machine: MachineFacts) -> str:
    """Return the SHA-256 of a machine's facts, memory rounded to GiB."""
    rounded = machine.model_copy(update={"memory_mib": round(machine.memory_mib / 1024) * 1024})
    return fingerprint_text(rounded.canonical_json())


def fingerprint_machine_class(machine: MachineFacts) -> str:
    """Return the SHA-256 of what machines of one class share: hardware, not system and kernel."""
    return fingerprint_machine(machine.model_copy(update={"system": "", "kernel": ""}))


def cache_key(trial: TrialSpec, fingerprints: Fingerprints) -> str:
    """Return the key under which a measurement of this trial, on this machine, is found again."""
    return fingerprint_text(trial.canonical_json() + fingerprints.canonical_json())
