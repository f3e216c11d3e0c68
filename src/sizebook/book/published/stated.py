"""What ``round.json`` says of a pack: counts, dates, machine and versions, from its trials."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sizebook.lab import calibration
from sizebook.lab.search import ATTEMPT
from sizebook.model.bundle import BundleRecord, MachineFacts
from sizebook.model.errors import BundleError
from sizebook.store.bundles import RECORD
from sizebook.store.packs import left_out_of
from sizebook.store.record_file import parse_record
from sizebook.store.rounds import PackRecord


def fewest_replicates(records: Iterable[BundleRecord]) -> int:
    """Return the number of trials, completed or failed, of the treatment that has fewest.

    0 without any. A search tries what it needs; its blocks count, not its trials.
    """
    blocks: dict[object, set[int]] = defaultdict(set)
    for record in records:
        spec = record.trial
        if spec.purpose == "measured":
            levels = {} if ATTEMPT in spec.treatment else spec.treatment
            key = spec.experiment, tuple(sorted(levels.items()))
            blocks[key].add(spec.replicate)
    return min(map(len, blocks.values()), default=0)


def state_trials(records: Sequence[BundleRecord]) -> dict[str, Any]:
    """Return the fields of a ``PackRecord`` that follow from its trials, which are made alike."""
    times = sorted(record.execution.started_utc for record in records)
    first = records[0] if records else None
    prints = first.fingerprints if first is not None else None
    out = {_kind(name) for record in records for name in left_out_of(record)}
    jvms = {record.fingerprints.jvm for record in records}
    return {
        "trials": len(records),
        "replicates": fewest_replicates(records),
        "machine": prints.machine if prints else "",
        "facts": first.machine if first else None,
        "stack": prints.stack if prints else "",
        "jvm": ", ".join(sorted(jvms - {""})),
        "harness": first.versions.get("sizebook", "") if first else "",
        "capture_version": prints.capture_version if prints else 0,
        "first_utc": times[0] if times else "",
        "last_utc": times[-1] if times else "",
        "left_out": tuple(sorted(out)),
    }


def misstated(
    pack: PackRecord, files: Mapping[str, bytes], run: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Yield each field of a pack's record that its files contradict: name, what it says, and they.

    ``run`` is what its page says of how it was made. Trials that cannot be read are not compared:
    the audit finds them as what they are.
    """
    parameters = run.get("parameters")
    given = parameters if isinstance(parameters, dict) else {}
    due = {"commit": str(run.get("commit", "unknown"))[:80], "profile": given.get("profile", "")}
    with contextlib.suppress(BundleError):
        due |= state_trials(_own_trials(pack, files))
    for name, follows in due.items():
        said = getattr(pack, name)
        if isinstance(said, MachineFacts) and isinstance(follows, MachineFacts):
            for fact in MachineFacts.model_fields:
                if (one := getattr(said, fact)) != (other := getattr(follows, fact)):
                    yield fact, _words(one), _words(other)
        elif said != follows:
            yield name, _words(said), _words(follows)


def _own_trials(pack: PackRecord, files: Mapping[str, bytes]) -> list[BundleRecord]:
    """Return the records of the trials that a pack's record tells of, in the order of their names.

    Those of an older calibration, which a round keeps for other pages, are not among them.
    """
    names = sorted(name for name in files if name.count("/") == 1 and name.endswith(f"/{RECORD}"))
    records = [parse_record(files[name], name.partition("/")[0]) for name in names]
    if pack.chapter != calibration.CHAPTER:
        return records
    return [one for one in records if one.execution.started_utc >= pack.first_utc]


def _kind(name: str) -> str:
    return f"{name.partition('/')[0]}/" if "/" in name else name


def _words(value: object) -> str:
    listed = ", ".join(value) if isinstance(value, tuple) else str(value)
    return listed[:80] if value is not None and listed else "nothing"
