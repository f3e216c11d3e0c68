"""Runs over flights: representations, services, and the loads that ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from sizebook.lab import Placement, Setup, app_stack
from sizebook.lab.profiles import Profile
from sizebook.model.deployment import Deployment
from sizebook.model.design import Treatment
from sizebook.model.load import ClosedLoop, LoadProfile
from sizebook.model.records import Scalar
from sizebook.model.trial import Allowance

REPRESENTATIONS: Mapping[str, Mapping[str, Scalar]] = {
    "odata-atom-compat": {"representation": "odata-atom", "mode": "compatibility"},
    "odata-atom": {"representation": "odata-atom", "mode": "standard"},
    "odata-json": {"representation": "odata-json", "mode": "standard"},
    "rest-json": {"representation": "rest-json"},
    "rest-xml-padded": {"representation": "rest-xml-padded"},
}
"""Representation to what the load is told of it."""
SERVICES: Mapping[str, Mapping[str, Scalar]] = {
    "plain": {},
    "cached": {"cache": True},
    "failing": {"fault_flights": 4, "fault_delay": "250ms"},
}
"""Variant of the plain service to its settings."""
FLIGHTS = 400
_THREADS = 50
_MEASURED_S = {"smoke": 0.3, "quick": 8.0, "full": 30.0}


def at(representation: str, users: int) -> dict[str, Scalar]:
    """Return the treatment of a representation with so many users."""
    return {"representation": representation, "users": users}


def rung(threads: int) -> dict[str, Scalar]:
    """Return the treatment of a step of the ladder, where both designs are in one frame."""
    return {"design": "ladder", "threads": threads}


def plain(representation: str, users: int) -> dict[str, Scalar]:
    """Return the treatment of a representation, where both designs are in one frame."""
    return {"design": "formats"} | at(representation, users)


@dataclass(frozen=True)
class Flights:
    """What all trials of the chapter have in common."""

    here: Placement
    profile: Profile
    seed: int
    heap_mib: int
    most: int
    """The most users: those of the designs that do not vary them."""

    def formats(self, t: Treatment) -> Setup:
        """Return a representation with a number of users."""
        load = self._load(str(t["representation"]), int(t["users"]))
        return Setup(self._stack({"threads": _THREADS}), load)

    def ladder(self, t: Treatment) -> Setup:
        """Return the compatibility mode with a number of worker threads."""
        return Setup(
            self._stack({"threads": t["threads"]}), self._load("odata-atom-compat", self.most)
        )

    def topology(self, t: Treatment) -> Setup:
        """Return the back end in the app's process or in one of its own."""
        where = cast("Literal['local', 'remote']", t["topology"])
        return Setup(
            self._stack({"threads": _THREADS}, where), self._load("odata-atom", int(t["users"]))
        )

    def services(self, t: Treatment) -> Setup:
        """Return a variant of the plain service; one of them fails by design."""
        return Setup(
            self._stack({"threads": _THREADS, **SERVICES[str(t["service"])]}),
            self._load("rest-json", self.most, times=3),
            Allowance(failed_share=0.05, expected_error="status"),
        )

    def _stack(
        self, settings: Mapping[str, Scalar], topology: Literal["local", "remote"] = "local"
    ) -> Deployment:
        return app_stack(
            self.here, topology=topology, heap_mib=self.heap_mib, settings=dict(settings)
        )

    def _load(self, name: str, users: int, times: int = 1) -> LoadProfile:
        # The first run begins with the measured phase, so that even a slow one is seen whole; of
        # several runs the median counts.
        measured_s = times * _MEASURED_S[self.profile.name]
        return LoadProfile(
            locustfile="odata_rest.py",
            arrivals=ClosedLoop(users=users),
            phases=self.profile.phases.model_copy(
                update={"warmup_s": 0.0, "measured_s": measured_s}
            ),
            settings={**REPRESENTATIONS[name], "flights": FLIGHTS},
            seed=self.seed,
            cpus=self.here.generator,
        )
