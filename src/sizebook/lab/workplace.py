"""What all loads of a chapter have in common: where they run, how long, and by which seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sizebook.lab.placement import Placement
from sizebook.lab.profiles import Profile
from sizebook.model.load import Arrivals, LoadProfile, Phases
from sizebook.model.records import Scalar


@dataclass(frozen=True)
class Workplace:
    """The base of a chapter's set-ups; a chapter adds what else its trials share."""

    here: Placement
    profile: Profile
    seed: int

    @property
    def smoke(self) -> bool:
        """Whether this run proves only that everything works."""
        return not self.profile.publishable

    def load(
        self,
        locustfile: str,
        arrivals: Arrivals,
        settings: Mapping[str, Scalar] | None = None,
        *,
        phases: Phases | Mapping[str, float] | None = None,
        **fields: Any,
    ) -> LoadProfile:
        """Return a load on the generator's CPUs, with arrivals from the seed.

        ``phases`` are the load's own, or seconds that differ from those of the profile;
        ``fields`` further ones of ``LoadProfile``.
        """
        if not isinstance(phases, Phases):
            phases = self.profile.phases.model_copy(update=dict(phases or {}))
        if settings is not None:
            fields["settings"] = dict(settings)
        return LoadProfile(
            locustfile=locustfile,
            arrivals=arrivals,
            phases=phases,
            seed=self.seed,
            cpus=self.here.generator,
            **fields,
        )
