"""What tells a crate, and the audit's rules for one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

METADATA = "ro-crate-metadata.json"
CRATE_VERSION = "1"
"""Raised whenever the description of one run changes; stands in the metadata's own entity."""

_EXPORT = "Get a fresh copy of the crate, or export the run again."


@dataclass(frozen=True)
class CrateRule:
    """One rule: what it compares, how bad a difference is, what to do about one."""

    id: str
    severity: Literal["error", "warning", "note"]
    title: str
    meaning: str
    remedy: str


CRATE_RULES = (
    CrateRule(
        "AU601-crate",
        "error",
        "The crate's metadata can be read",
        "ro-crate-metadata.json is the JSON of a crate that this version of Sizebook writes: a "
        "graph of entities, each once, the crate itself among them.",
        _EXPORT,
    ),
    CrateRule(
        "AU602-crate-missing",
        "error",
        "What the metadata name is in the crate",
        "Every file and folder that the metadata describe is a plain one inside the crate; a "
        "link, or a name that leads out of it, is none.",
        _EXPORT,
    ),
    CrateRule(
        "AU603-crate-checksum",
        "error",
        "Every file of the crate has its checksum",
        "Size and SHA-256 of each file are those in the metadata.",
        _EXPORT,
    ),
    CrateRule(
        "AU604-crate-added",
        "error",
        "Nothing was added to the crate",
        "Every file in the crate's folder is described by the metadata, but for the metadata "
        "themselves and their page for people.",
        "Look at what it is and take it out.",
    ),
    CrateRule(
        "AU605-crate-bundle",
        "error",
        "The metadata say of a trial what its bundle says",
        "The description of every bundle (start, treatment, outcome, machine, files) is what "
        "follows from its trial.json.",
        _EXPORT,
    ),
    CrateRule(
        "AU606-crate-run",
        "error",
        "The crate holds a whole run",
        "Executed notebooks are those of the templates beside them, and every bundle that they "
        "name as evidence is in the crate with that checksum.",
        _EXPORT,
    ),
    CrateRule(
        "AU607-crate-description",
        "error",
        "The metadata describe that run",
        "Everything else that the metadata and their page for people say (actions, times, "
        "parameters, software, licence) is what an export makes of the files in the crate.",
        _EXPORT,
    ),
)


def is_crate(folder: Path) -> bool:
    """Return whether a folder says that it is a crate."""
    return os.path.lexists(folder / METADATA)
