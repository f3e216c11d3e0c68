"""Calibrations that a round keeps when another one is published: other pages tell noise by them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from sizebook.lab import calibration
from sizebook.store import Bundle, find_bundles, open_bundle
from sizebook.store.packs import unpack
from sizebook.store.rounds import PackRecord, Published


def keep_calibrations(
    before: Published, new: Sequence[Bundle], others: Iterable[PackRecord], scratch: Path
) -> dict[str, bytes]:
    """Return files of the calibration that was published ``before``, by their names in its pack.

    Those of the A/A trials, with their sessions, by which pages of ``others`` tell noise: of their
    machine, and the newest when they were measured. Trials that are ``new`` are not among them.
    """
    for path in before.paths:
        unpack(path, scratch)
    old = [open_bundle(path) for path in find_bundles(scratch)]
    known = {bundle.id for bundle in new}
    told_by = [bundle for bundle in (*old, *new) if calibration.tells_noise(bundle)]
    sessions = set()
    for pack in others:
        there = [b for b in told_by if b.record.fingerprints.machine == pack.machine]
        chosen = calibration.one_calibration(there, pack.last_utc)
        sessions |= {b.record.execution.session for b in chosen if b.id not in known}
    kept = {bundle.id for bundle in old if bundle.record.execution.session in sessions} - known
    files = before.read()
    return {name: data for name, data in files.items() if name.partition("/")[0] in kept}
