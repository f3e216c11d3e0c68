"""Whether the answer of a test is a verdict: by its fidelity, and by when the claim was made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sizebook.book.ledger.discoveries import DECIDED
from sizebook.book.ledger.tables import ClaimTables, OwnKey
from sizebook.model.bundle import BundleRecord
from sizebook.model.claim import OWN, ClaimOutcome
from sizebook.model.fidelity import UNITS, Fidelity
from sizebook.model.modes import HARDWARE_GUESTS, SOFTWARE_GUESTS, Mode

NoVerdict = Literal["proxy", "not testable here", "late claim"]
NO_VERDICT: tuple[NoVerdict, ...] = ("proxy", "not testable here", "late claim")
"""What stands in the place of a verdict; ``late claim``: one that was made after its trials."""

Measured = Callable[[str], BundleRecord | None]
"""Gives the record of a bundle by its id; None where it is not at hand."""

_STARTED = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-")
"""The id of a bundle begins with when its trial did."""
_S_PER_H = 3600


@dataclass(frozen=True)
class Standing:
    """What a test's answer counts for."""

    fidelity: Fidelity | None = None
    """None for the book's own claims, and in a book that does not say."""
    written_utc: str = ""
    """When a claim of the book's own was written down; empty for others."""
    instead: NoVerdict | None = None
    """What the ledger says instead of the verdict; None where it is one."""
    why: str = ""
    """The reason for that, without a full stop."""


def stand(
    outcome: ClaimOutcome, bundles: Sequence[str], tables: ClaimTables, measured: Measured
) -> Standing:
    """Return what the answer of a claim's test counts for.

    A limit of the test is none where all its trials ran on a machine that has what the same
    question needs.
    """
    if outcome.source == OWN:
        return _own(outcome, bundles, tables)
    fidelity = tables.fidelity.get(outcome.claim_id)
    if fidelity is None or fidelity.bears_a_verdict:
        return Standing(fidelity)
    if bundles and fidelity.requires and _had_all(fidelity, bundles, measured):
        met = Fidelity("same question", "the machine had what it takes", fidelity.requires)
        return Standing(met)
    instead: NoVerdict = "proxy" if fidelity.kind == "proxy" else "not testable here"
    return Standing(fidelity, instead=instead, why=fidelity_words(fidelity))


def fidelity_words(fidelity: Fidelity) -> str:
    """Return why a test is what it is, and which machine would do better."""
    needs = needs_words(fidelity.requires)
    return f"{fidelity.reason}; the same question needs {needs}" if needs else fidelity.reason


def needs_words(requires: Mapping[str, float]) -> str:
    """Return needs in words: ``8 CPUs and 4 hours of load``."""
    return join_words(
        [
            UNITS[name] if name == "kvm" else f"{least:g} {UNITS[name]}"
            for name, least in requires.items()
        ]
    )


def card_rows(outcome: ClaimOutcome, standing: Standing) -> Iterator[tuple[str, str]]:
    """Yield the titled lines that a claim's card has of its standing."""
    if standing.instead is not None:
        yield "No verdict", f"{standing.instead}: {standing.why}"
        if outcome.verdict in DECIDED:
            yield "Test result", f"{outcome.verdict}, not a verdict"
    elif standing.fidelity is not None:
        yield "Fidelity", f"{standing.fidelity.kind}: {fidelity_words(standing.fidelity)}"
    elif standing.written_utc:
        yield "Written down", f"{standing.written_utc[:10]}, before its trials"


def join_words(parts: Sequence[str]) -> str:
    """Return parts of a sentence as a list in words."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def began_utc(bundle: str) -> str:
    """Return when the trial of a bundle began, as tables have it; empty if its id does not say."""
    match = _STARTED.match(bundle)
    return "{}-{}-{}T{}:{}:{}Z".format(*match.groups()) if match else ""


def _own(outcome: ClaimOutcome, bundles: Iterable[str], tables: ClaimTables) -> Standing:
    written = tables.written_utc.get(OwnKey(outcome.claim_id, outcome.relation), "")
    first = min(map(began_utc, bundles), default=written)
    if not written:
        why = "it was not written down before its trials"
    elif first < written:
        why = f"its first trial began {first or 'nobody knows when'}, it was written down {written}"
    else:
        return Standing(written_utc=written)
    return Standing(written_utc=written, instead="late claim", why=why)


def _had_all(fidelity: Fidelity, bundles: Sequence[str], measured: Measured) -> bool:
    """Return whether each trial had what the same question needs; the first without it is enough.

    A need of hardware virtualization is met where a guest had it, and none was without.
    """
    modes: set[Mode] = set()
    for bundle in bundles:
        record = measured(bundle)
        if record is None or not fidelity.is_met_by(_had(record)):
            return False
        modes |= {host.mode for host in record.trial.deployment.hosts}
    return "kvm" not in fidelity.requires or not modes.isdisjoint(HARDWARE_GUESTS)


def _had(record: BundleRecord) -> dict[str, float]:
    """Return what the machine and the run of a trial had, by the names of ``UNITS``."""
    modes = {host.mode for host in record.trial.deployment.hosts}
    return {
        "cpus": record.machine.logical_cpus,
        "memory_gb": record.machine.memory_mib / 1024,
        "hosts": 1.0 + len(record.fingerprints.hosts),
        "hours": record.execution.phases_s() / _S_PER_H,
        "kvm": float(modes.isdisjoint(SOFTWARE_GUESTS)),
    }
