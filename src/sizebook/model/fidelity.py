"""How faithfully a claim is tested: the same question, a smaller one, a stand-in, or none here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

FidelityKind = Literal["same question", "scaled", "proxy", "not testable here"]
"""``scaled``: the same question, smaller or shorter. ``proxy``: a stand-in, whose answer is shown
and counts as no verdict. ``not testable here``: it takes another machine."""

FIDELITIES: tuple[FidelityKind, ...] = get_args(FidelityKind)
BEARS_A_VERDICT: tuple[FidelityKind, ...] = ("same question", "scaled")

UNITS: Mapping[str, str] = {
    "cpus": "CPUs",
    "memory_gb": "GB of memory",
    "hosts": "hosts",
    "kvm": "hardware virtualization (KVM)",
    "hours": "hours of load",
    "disks": "disks",
}
"""What a test can require of a machine or a run, in words."""
_ITEM = re.compile(r"([a-z_]+)>=([0-9]+(?:\.[0-9]+)?)")


@dataclass(frozen=True)
class Fidelity:
    """How a claim's test compares with what its report says."""

    kind: FidelityKind
    reason: str
    """What the test does beside what the report says."""
    requires: Mapping[str, float] = field(default_factory=dict)
    """What a machine needs at least to ask the same question, by the names of ``UNITS``."""

    @classmethod
    def read(cls, kind: str, reason: str, requires: str) -> Fidelity:
        """Return what a row of a table says; ``requires`` is ``cpus>=8 hours>=4`` or empty.

        Raises ValueError for another kind, a missing reason, and a need that is not in ``UNITS``.
        """
        known = next((each for each in FIDELITIES if each == kind), None)
        if known is None:
            raise ValueError(f"fidelity {kind!r}, not one of {', '.join(FIDELITIES)}")
        if not reason.strip():
            raise ValueError("no reason")
        needs = {}
        for item in requires.split():
            match = _ITEM.fullmatch(item)
            if match is None or match[1] not in UNITS:
                raise ValueError(f"{item!r}, not such as cpus>=8, of {', '.join(UNITS)}")
            needs[match[1]] = float(match[2])
        return cls(known, reason.strip(), needs)

    @property
    def bears_a_verdict(self) -> bool:
        """Whether the answer of the test is a verdict on the claim."""
        return self.kind in BEARS_A_VERDICT

    def is_met_by(self, has: Mapping[str, float]) -> bool:
        """Return whether a machine has all that the same question needs; never if nothing is."""
        return bool(self.requires) and all(
            has.get(name, 0.0) >= least for name, least in self.requires.items()
        )
