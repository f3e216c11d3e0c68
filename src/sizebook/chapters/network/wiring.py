"""Hosts that are wired in one way or another, and what is asked of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sizebook.lab import Setup, app_stack, null_server, work_stack
from sizebook.lab.workplace import Workplace
from sizebook.model.deployment import LOCAL, BalancerRole, Deployment, HostSpec
from sizebook.model.design import Design, Factor, Treatment
from sizebook.model.load import Arrivals, ClosedLoop, LoadProfile, OpenArrivals
from sizebook.model.network import LinkSpec, NetworkSpec
from sizebook.model.records import Scalar

WEB, DB, APPS = "web", "db", ("web1", "web2")
BODIES = {"bulk": 2**20, "small": 2**10}
"""Bytes of an answer of the null server."""
_NEEDS = {"bytes": (), "rows": (), "sharing": ("rate",), "full-load": ("rate",)}
_SECONDS = {"smoke": (0.1, 0.6, 0.3), "quick": (0.5, 4.0, 20.0), "full": (5.0, 30.0, 60.0)}


@dataclass(frozen=True)
class Wiring(Workplace):
    """What all trials of the chapter have in common."""

    rates: Mapping[str, float]
    """Answers due per second, by ``BODIES``."""
    router_mbit_per_s: float
    """Capacity of the shared router, and of each link in its place."""
    link_mbit_per_s: float
    """Rate of the link whose use is looked at."""

    @property
    def measured_s(self) -> float:
        """Seconds measured in a trial."""
        return _SECONDS[self.profile.name][1]

    @property
    def conditioning_s(self) -> float:
        """Seconds of the longest load after a fresh start."""
        return _SECONDS[self.profile.name][2]

    def answered(self, t: Treatment) -> Setup:
        """Return a null server that answers the generator at a fixed rate."""
        body_bytes = BODIES[str(t["answers"])]
        server = null_server(self.here, body_bytes=body_bytes)
        server = server.on(*self._hosts(WEB, mib=600), nullserver=WEB)
        server = server.changed("nullserver", heap_mib=256)  # a connection buffers an answer or two
        rate = self.rates[str(t["answers"])] / (4 if self.smoke else 1)
        clock = OpenArrivals(kind="constant", rate_per_s=rate, users=40)
        asked = self._load("null.py", clock, expect_bytes=body_bytes)
        return Setup(
            server.connected(_wired(t, (LOCAL, WEB))),
            asked,
            probe_interval_s=0.2,
            conditioning=asked.model_copy(update={"arrivals": ClosedLoop(users=4)}),
        )

    def worked(self, t: Treatment) -> Setup:
        """Return an app node that reads rows of a database on another host."""
        tiers = work_stack(self.here, heap_mib=256).on(*self._hosts(WEB, DB), app=WEB, database=DB)
        return self._rows(tiers, _wired(t, (WEB, DB)), 2)

    def routed(self, t: Treatment) -> Setup:
        """Return two app nodes that read rows through one router, or each over its link."""
        work = work_stack(self.here, heap_mib=192).changed("app", nodes=2)
        whole = Deployment(roles=(*work.roles, BalancerRole(cpus=self.here.stack)))
        hosts = self._hosts(*APPS, DB, "front", mib=700)
        tiers = whole.on(*hosts, app=APPS, database=DB, balancer="front")
        rate = self.router_mbit_per_s
        links = tuple(LinkSpec(ends=(name, DB), rate_mbit_per_s=rate) for name in APPS)
        apart = t["network"] == "links"
        network = NetworkSpec(links=links) if apart else NetworkSpec(router_mbit_per_s=rate)
        return self._rows(tiers, network, int(t["users"]))

    def filled(self, t: Treatment) -> Setup:
        """Return look-ups that fill the processors, over a link with a rate between tiers."""
        tiers = app_stack(self.here, heap_mib=256, settings={"parts": "rest"})
        tiers = tiers.on(*self._hosts(WEB, DB), app=WEB, database=DB)
        link = LinkSpec(
            ends=(WEB, DB), rate_mbit_per_s=self.link_mbit_per_s, frame_bytes=int(t["frame"])
        )
        return Setup(
            tiers.connected(NetworkSpec(links=(link,))),
            self._load("flight.py", ClosedLoop(users=8)),
            probe_interval_s=0.2,
        )

    def _rows(self, tiers: Deployment, network: NetworkSpec, users: int) -> Setup:
        load = self._load("work.py", ClosedLoop(users=users), work="aggregates-naive")
        return Setup(tiers.connected(network), load, probe_interval_s=0.2)

    def _hosts(self, *names: str, mib: int = 900) -> list[HostSpec]:
        cpus = self.here.stack
        return [HostSpec(name=n, mode="namespace", cpus=cpus, memory_mib=mib) for n in names]

    def _load(self, file: str, arrivals: Arrivals, **settings: Scalar) -> LoadProfile:
        warmup_s, measured_s, _ = _SECONDS[self.profile.name]
        phases = {"warmup_s": warmup_s, "measured_s": measured_s}
        return self.load(file, arrivals, settings, phases=phases)


def make_designs(
    frames: Sequence[int], switches: Sequence[str], blocks: int, seed: int, *, smoke: bool
) -> dict[str, Design]:
    """Return the design of each experiment; ``switches`` are the offloads that can be chosen.

    The shared network is measured as it comes, small answers with offloads at one size; a smoke
    run proves the plumbing with fewer.
    """
    least, most = min(frames), max(frames)
    frame, offloads = Factor("frame", tuple(frames)), Factor("offloads", tuple(switches))
    users = Factor("users", (8,) if smoke else (1, 8), "sub")
    answers, ways = Factor("answers", tuple(BODIES)), Factor("way", ("link", "shared"))
    larger = [one for one in frames if one != least]
    left_out: list[dict[str, Scalar]] = [
        {"way": "shared", "offloads": "off"},
        {"answers": "small", "offloads": "on", "frame": most},
    ]
    left_out += [{"way": "shared", "frame": one} for one in larger]
    rows_out: list[dict[str, Scalar]] = []
    if smoke:
        left_out += [
            {"answers": "small", "way": "link"},
            {"answers": "bulk", "way": "shared"},
            {"offloads": "on", "frame": most},
        ]
        rows_out = [{"offloads": "on", "frame": least}, {"offloads": "off", "frame": most}]
    designs = (
        Design("bytes", (frame, offloads, answers, ways), blocks, seed, tuple(left_out)),
        Design("rows", (frame, offloads), blocks, seed, tuple(rows_out)),
        Design("sharing", (Factor("network", ("router", "links")), users), blocks, seed),
        Design("full-load", (Factor("frame", (most,)),), blocks, seed),
    )
    return {design.experiment: design for design in designs}


def why_not(experiment: str, lacking: Mapping[str, str]) -> str:
    """Return why a machine that lacks this cannot run an experiment; empty if it can."""
    return "; ".join(lacking[one] for one in ("hosts", *_NEEDS[experiment]) if one in lacking)


def _wired(t: Treatment, ends: tuple[str, str]) -> NetworkSpec:
    """Return a network of a treatment: a link between these ends, or none beside the shared one."""
    frame_bytes = int(t["frame"])
    link = LinkSpec(ends=ends, frame_bytes=frame_bytes)
    return NetworkSpec(
        frame_bytes=frame_bytes,
        offloads=t["offloads"] == "on",
        links=(link,) if t.get("way", "link") == "link" else (),
    )
