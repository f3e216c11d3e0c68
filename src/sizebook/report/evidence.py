"""Where a published number, figure or table comes from, as a record that travels with it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import sizebook

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class EvidenceSource:
    """One bundle behind a result: its id, its checksum, and what the checks said of it."""

    bundle: str
    sha256: str
    verdict: str

    def __post_init__(self) -> None:
        if not _SHA256.fullmatch(self.sha256):
            raise ValueError(f"bundle {self.bundle}: {self.sha256!r} is no SHA-256 in hexadecimal")


@dataclass(frozen=True)
class EvidenceFile:
    """One file of the project behind a result, such as a table of reported data."""

    file: str
    """Its path below the project's folder, with slashes."""
    sha256: str

    def __post_init__(self) -> None:
        if not _SHA256.fullmatch(self.sha256):
            raise ValueError(f"file {self.file}: {self.sha256!r} is no SHA-256 in hexadecimal")


@dataclass(frozen=True)
class Evidence:
    """All that is needed to audit a result and to make it again."""

    chapter: str
    parameters: Mapping[str, Any]
    sources: Sequence[EvidenceSource]
    command: str
    commit: str
    harness: str
    files: Sequence[EvidenceFile] = ()

    def with_files(self, files: Sequence[EvidenceFile]) -> Evidence:
        """Give the same evidence with these files behind its results."""
        return replace(self, files=tuple(files))

    def as_record(
        self,
        content_sha256: str,
        sources: Sequence[EvidenceSource] = (),
        files: Sequence[EvidenceFile] = (),
    ) -> dict[str, Any]:
        """Give the record as plain JSON data, with the checksum of what is shown.

        ``sources`` are the bundles behind this one result; without any, the chapter's. The same
        for ``files``, which the record lists only where there are some.
        """
        record: dict[str, Any] = {
            "chapter": self.chapter,
            "parameters": {name: _plain(value) for name, value in self.parameters.items()},
            "sources": [asdict(source) for source in sources or self.sources],
            "command": self.command,
            "commit": self.commit,
            "harness": self.harness,
            "sha256": content_sha256,
        }
        if behind := tuple(files) or tuple(self.files):
            record["files"] = [asdict(file) for file in behind]
        return record


def make_evidence(
    chapter: str,
    parameters: Mapping[str, Any],
    sources: Sequence[EvidenceSource],
    command: str,
    files: Sequence[EvidenceFile] = (),
    commit: str = "",
) -> Evidence:
    """Give the evidence of one chapter's run, with today's commit and harness version filled in.

    A ``commit`` that is given is not looked for: asking Git starts two programs.
    """
    return Evidence(
        chapter=chapter,
        parameters=dict(parameters),
        sources=tuple(sources),
        command=command,
        commit=commit or find_commit(),
        harness=sizebook.__version__,
        files=tuple(files),
    )


def find_commit(folder: Path | None = None) -> str:
    """Give the commit of the checkout, ``+changes`` behind it if files differ, or "unknown".

    The runner passes it in ``SIZEBOOK_COMMIT``, so that all chapters of one run agree.
    """
    given = os.environ.get("SIZEBOOK_COMMIT")
    if given:
        return given
    here = folder or Path.cwd()
    commit = _ask_git(here, "rev-parse", "HEAD")
    if commit is None:
        return "unknown"
    changes = _ask_git(here, "status", "--porcelain", "--untracked-files=no")
    return commit + ("+changes" if changes else "")


_OTHER_REPOSITORY = {
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
}


def git_environment() -> dict[str, str]:
    """Give the environment in which git tells of the folder that it is in, and of what is there.

    Neither another repository (``GIT_DIR``, set in hooks) nor commits that stand for others
    (``refs/replace``, grafts) take part.
    """
    rest = {name: value for name, value in os.environ.items() if name not in _OTHER_REPOSITORY}
    return rest | {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull}


def hash_text(text: str) -> str:
    """Give the SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def hash_json(data: Any) -> str:
    """Give the SHA-256 of JSON data, whatever the order of its keys."""
    return hash_text(json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False))


def _ask_git(folder: Path, *words: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", *words],
            cwd=folder,
            env=git_environment(),
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def _plain(value: Any) -> Any:
    """Give a value as JSON keeps it; anything that JSON does not know becomes its text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return str(value)
