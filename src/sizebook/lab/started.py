"""A stack and a generator that were started, and the trial that both are being prepared for."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sizebook.lab.recording import TrialRecord
from sizebook.lab.warm_up import Settling
from sizebook.load.turns import TurnOrder
from sizebook.load.workers import Workers
from sizebook.model.trial import TrialSpec
from sizebook.probes.base import Probe
from sizebook.probes.sampler import Sampler
from sizebook.stack import RunningStack
from sizebook.store import Bundle


def new_session_name() -> str:
    """Return the name of a new session: when it began, and a number."""
    return f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(3)}"


@dataclass
class Ahead:
    """A trial that generator and probes are being prepared for."""

    record: TrialRecord
    marks: dict[Path, int]
    out: Path
    ready: tuple[Future[Any], ...]
    turns: TurnOrder | None = None
    """When the load is this trial's; None: throughout."""
    is_lost: bool = False
    """Whether it failed because a process was killed or is gone."""

    @property
    def sampler(self) -> Sampler:
        """What reads the counters meanwhile."""
        assert self.record.sampler is not None
        return self.record.sampler


@dataclass(frozen=True)
class Broken:
    """Why a locustfile cannot be loaded, and what it read until then."""

    reason: str
    read: Mapping[str, str]


class SessionLost(Exception):  # noqa: N818 - an outcome, kept inside the lab
    """A trial failed; its bundle is stored, but the stack cannot be trusted any more."""

    def __init__(self, bundle: Bundle, *, may_return: bool) -> None:
        super().__init__(bundle.record.failure)
        self.bundle = bundle
        self.may_return = may_return
        """Whether a fresh start may bring back what it lacked."""


@dataclass
class Started:
    """A stack and a generator, ready for trials."""

    name: str
    stack: RunningStack
    generator: Workers
    probes: list[Probe]
    setup_s: float
    position: int = 0
    settling: Settling | None = None
    """Watches the conditioning load that is running, if one is."""
    conditioned_s: float = 0.0
    """How long it was under a conditioning load so far."""
    ahead: Ahead | None = None

    def take_ahead(self, spec: TrialSpec | None) -> Ahead | None:
        """Return what was prepared for this trial, once; let go what was for another."""
        ahead, self.ahead = self.ahead, None
        if ahead is None or ahead.record.spec == spec:
            return ahead
        wait(ahead.ready)
        if ahead.record.sampler is not None:
            ahead.record.sampler.detach()
        return None
