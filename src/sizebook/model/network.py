"""How the hosts of a deployment are connected: one shared network, and links of their own."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from sizebook.model.records import Record

FrameBytes = Annotated[int, Field(ge=576, le=65_535)]
"""Largest packet that a frame carries (its MTU), headers of IP and TCP included."""

MbitPerS = Annotated[float, Field(ge=0.1, le=400_000)]
"""Millions of bits in a second."""

DelayMs = Annotated[float, Field(gt=0, le=10_000)]
"""Time that each packet is held back, one way."""

USUAL_FRAME_BYTES = 1500


class Wire(Record):
    """What a link can carry, each way by itself."""

    frame_bytes: FrameBytes = USUAL_FRAME_BYTES
    rate_mbit_per_s: MbitPerS | None = None
    """None: as much as this machine can copy."""
    delay_ms: DelayMs | None = None
    """None: none but what the copying takes."""


class LinkSpec(Wire):
    """A link point to point: what the two hosts say to each other goes over it alone."""

    ends: tuple[str, str]
    """Names of the hosts; one may be this machine, ``local``, from which the load comes."""

    @model_validator(mode="after")
    def _has_two_ends(self) -> Self:
        if self.ends[0] == self.ends[1]:
            raise ValueError(f"a link from {self.ends[0]} to itself")
        return self


class NetworkSpec(Wire):
    """The network that all hosts share, and the links beside it.

    ``frame_bytes``, ``rate_mbit_per_s`` and ``delay_ms`` are those of each host's link to the
    shared network.
    """

    router_mbit_per_s: MbitPerS | None = None
    """Capacity of the one router through which every packet between hosts goes that has no link of
    its own; None: a bridge, which is as wide as all links together."""
    offloads: bool = True
    """Whether hosts hand over up to 64 KB in one piece, for the network card to cut into frames and
    to sum up. Between name spaces of one machine nothing is cut then, whatever the frames' size;
    without offloads the kernel cuts and sums up every frame itself."""
    links: tuple[LinkSpec, ...] = ()

    @model_validator(mode="after")
    def _has_one_link_a_pair(self) -> Self:
        pairs = [frozenset(link.ends) for link in self.links]
        if len(set(pairs)) < len(pairs):
            raise ValueError("two links between the same hosts")
        return self
