"""Which roles run where: nodes, heaps, CPU sets, pools, data."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from sizebook.model.errors import UsageError
from sizebook.model.faults import place_of, wanted
from sizebook.model.modes import CONNECTED, ELSEWHERE, Mode
from sizebook.model.network import NetworkSpec
from sizebook.model.records import Record, Scalars
from sizebook.model.server import CounterSource, Program, SystemName, UrlPath
from sizebook.model.urls import OwnUrl

CpuSet = tuple[int, ...]
"""Numbers of the logical CPUs that a process may use; empty means any."""

Positive = Annotated[int, Field(gt=0, le=2**40)]


CpuLimit = Annotated[float, Field(ge=0.05, le=4096)]
"""CPUs' worth of time that something may use, such as 0.5."""

CpuWeight = Annotated[int, Field(ge=1, le=10_000)]
"""Share under contention, in the measure of control groups' version 2: 100 is the usual one."""

LOCAL = "local"
"""Name of this machine as it is: a host that is always there."""


class HostSpec(Record):
    """A host that a deployment brings along, and what it may use of this machine."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,7}$")]
    """What roles call it; short, since network interfaces are named after it."""
    mode: Mode
    cpus: CpuSet = ()
    """CPUs of this machine on which all of the host runs; empty: all that the harness may use."""
    cpu_limit: CpuLimit | None = None
    """For all of the host together; None: no limit."""
    cpu_weight: CpuWeight | None = None
    """Beside other hosts; None: the usual one."""
    memory_mib: Positive = 1024
    """Memory of a guest; limit of what a host without a kernel of its own may use."""
    whole: Annotated[bool, Field(exclude_if=lambda whole: not whole)] = False
    """Whether all memory of another machine may be used, whatever ``memory_mib`` says."""
    disk_mib: Positive = 4096
    """Size of the scratch disk."""

    @model_validator(mode="after")
    def _is_not_this_machine(self) -> Self:
        if self.name == LOCAL:
            raise ValueError(f"a host named {LOCAL!r}, which is this machine as it is")
        return self

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is another machine, which uses nothing of this one."""
        return self.mode == ELSEWHERE


class JvmRole(Record):
    """One or more equal JVM nodes that play one role of the reference stack."""

    kind: Literal["jvm"] = "jvm"
    role: Literal["app", "backend", "broker", "nullserver"]
    host: str = LOCAL
    hosts: Annotated[tuple[str, ...], Field(exclude_if=lambda hosts: not hosts)] = ()
    """Hosts that the nodes are dealt out to in turn; empty: all are on ``host``."""
    nodes: Annotated[int, Field(gt=0, le=1000)] = 1
    heap_mib: Positive = 256
    """Heap of each node in MiB: initial and maximum size alike."""
    cpus: CpuSet = ()
    jvm: str = ""
    """Feature version of the JVM to use (``"17"``, ``"25"``); empty: the first that is found."""
    flags: tuple[str, ...] = ()
    """Further JVM flags, such as the collector."""
    settings: Scalars = Field(default_factory=dict)
    """The role's own configuration: threads, connections, pools (names: stack/README.md)."""

    def host_of(self, number: int) -> str:
        """Return the name of the host of a node; the first node has number 1."""
        return self.hosts[(number - 1) % len(self.hosts)] if self.hosts else self.host

    @property
    def total_heap_mib(self) -> int:
        """Heap of all nodes together, in MiB."""
        return self.nodes * self.heap_mib


class DatabaseRole(Record):
    """A private PostgreSQL cluster with generated data."""

    kind: Literal["database"] = "database"
    role: Literal["database"] = "database"
    host: str = LOCAL
    cpus: CpuSet = ()
    flights: Positive = 400
    ledger_rows: Annotated[int, Field(ge=0, le=10_000_000, exclude_if=lambda rows: not rows)] = 0
    """Items of the ledger that part ``work`` needs; 0: the database has none, and the JSON does not
    mention them, so that trials from before there were ledgers are the same trials."""
    business_users: Annotated[int, Field(ge=0, le=200_000, exclude_if=lambda users: not users)] = 0
    """Users of the business that part ``business`` needs, by whom its size goes; 0: the database
    has none, and the JSON does not mention them."""
    data_seed: int = 1
    settings: Scalars = Field(default_factory=dict)
    """PostgreSQL settings that differ from the project's, by their PostgreSQL names."""


_CHECK_WITHIN_S = 5.0
_ANSWER_WITHIN_S = 60.0
"""What a balancer grants in trials that do not mention it."""

Span = Annotated[float, Field(ge=0.01, le=3600)]
"""Seconds."""


class BalancerRole(Record):
    """HAProxy in front of the app nodes: clients of role ``app`` are sent to it."""

    kind: Literal["balancer"] = "balancer"
    role: Literal["balancer"] = "balancer"
    host: str = LOCAL
    cpus: CpuSet = ()
    algorithm: Literal["leastconn", "roundrobin"] = "leastconn"
    sticky: bool = False
    """Whether a cookie keeps a session on its node."""
    check_within_s: Annotated[Span, Field(exclude_if=lambda span: span == _CHECK_WITHIN_S)] = 5.0
    """Longest that a node may take to say that it is ready; three times longer, and it is down."""
    answer_within_s: Annotated[Span, Field(exclude_if=lambda span: span == _ANSWER_WITHIN_S)] = 60.0
    """Longest that a node may take for an answer; after it the client gets status 504."""
    ends_lost: Annotated[bool, Field(exclude_if=lambda ends: not ends)] = False
    """Whether requests under way at a node are ended as soon as it is found down."""


class ServerRole(Program):
    """A server that is not the reference stack's, started by a command."""

    kind: Literal["server"] = "server"
    role: SystemName
    host: str = LOCAL
    cpus: CpuSet = ()
    """From its start on: what counts its CPUs at the start then counts its own."""
    memory_mib: Positive = 256
    """What it takes of this machine, at most."""


class GivenRole(Record):
    """A server that is not the reference stack's and runs already: it is loaded, nothing else."""

    kind: Literal["given"] = "given"
    role: SystemName
    host: str = LOCAL
    """The machine that it runs on, if an inventory names it: what that says of itself is kept."""
    cpus: CpuSet = ()
    url: OwnUrl = ""
    """Its base URL if it is on this machine; empty: an inventory names it among its systems."""
    about: Annotated[str, Field(max_length=200)] = ""
    """What it is, such as its version: nobody asks it, and another one is measured anew."""
    ready: UrlPath = "/"
    """Path that is answered with a status below 300 before a load begins."""
    any_status: Annotated[bool, Field(exclude_if=lambda any_status: not any_status)] = False
    """Whether an answer of any status will do before a load begins."""
    counters: CounterSource | None = None


OwnRole = ServerRole | GivenRole
"""A role of a system of one's own, which is no part of the reference stack."""

RoleSpec = Annotated[
    JvmRole | DatabaseRole | BalancerRole | ServerRole | GivenRole, Field(discriminator="kind")
]


def _hosts_of(role: RoleSpec) -> tuple[str, ...]:
    return (role.host, *(role.hosts if isinstance(role, JvmRole) else ()))


def _placed(role: RoleSpec, place: str | tuple[str, ...] | None) -> RoleSpec:
    """Return a role moved to a host, or dealt out to several; UsageError if it cannot be."""
    if place is None:
        return role
    if isinstance(place, str):
        return role.model_copy(update={"host": place})
    if not isinstance(role, JvmRole):
        raise UsageError(
            found=f"role {role.role} on hosts {', '.join(place)}",
            expected="one host for a role that has no nodes",
            next_step="correct the places in the notebook",
        )
    return role.model_copy(update={"host": place[0], "hosts": place})


class Deployment(Record):
    """The roles of one stack, in the order in which they start."""

    roles: tuple[RoleSpec, ...]
    hosts: Annotated[tuple[HostSpec, ...], Field(exclude_if=lambda hosts: not hosts)] = ()
    """Hosts beside this machine. Without any the JSON does not mention them, so that trials from
    before there were hosts are the same trials."""
    network: Annotated[NetworkSpec | None, Field(exclude_if=lambda network: network is None)] = None
    """How the hosts are connected; None, and not mentioned in the JSON: by a bridge as it is."""

    given: Annotated[tuple[str, ...], Field(exclude_if=lambda given: not given)] = ()
    """Roles that run already, at addresses that an inventory names. Nothing is started for them,
    and only the generator tells how they do. Without any the JSON does not mention them."""

    @model_validator(mode="after")
    def _has_the_hosts_of_its_network(self) -> Self:
        if self.network is None:
            return self
        for host in self.hosts:
            if host.mode not in CONNECTED:
                raise ValueError(
                    f"a network of its own for host {host.name} of mode {host.mode}, which is none "
                    f"of {', '.join(CONNECTED)}"
                )
        names = (LOCAL, *(host.name for host in self.hosts))
        for link in self.network.links:
            for end in link.ends:
                if end not in names:
                    raise ValueError(f"a link to {end!r}, which is none of {', '.join(names)}")
        return self

    @model_validator(mode="after")
    def _has_the_hosts_of_its_roles(self) -> Self:
        names = [host.name for host in self.hosts]
        if len(set(names)) < len(names):
            raise ValueError("two hosts of one name")
        own = [role.role for role in self.own_roles()]
        if len(set(own)) < len(own):
            raise ValueError(f"two systems of one name among {', '.join(own)}")
        for role in self.roles:
            for host in _hosts_of(role):
                if host not in (LOCAL, *names):
                    raise ValueError(
                        f"role {role.role} on host {host!r}, which is none of "
                        f"{', '.join((LOCAL, *names))}"
                    )
        return self

    def host(self, name: str) -> HostSpec | None:
        """Return the specification of the named host; None for this machine as it is."""
        return next((host for host in self.hosts if host.name == name), None)

    def jvm_roles(self) -> tuple[JvmRole, ...]:
        """Return the roles that are JVM nodes, in start order."""
        return tuple(role for role in self.roles if isinstance(role, JvmRole))

    def database(self) -> DatabaseRole | None:
        """Return the database role, or None where the stack has none."""
        return next((role for role in self.roles if isinstance(role, DatabaseRole)), None)

    def balancer(self) -> BalancerRole | None:
        """Return the balancer, or None where clients go to the one app node."""
        return next((role for role in self.roles if isinstance(role, BalancerRole)), None)

    def own_roles(self) -> tuple[OwnRole, ...]:
        """Return the roles that are no part of the reference stack, in start order."""
        return tuple(role for role in self.roles if isinstance(role, OwnRole))

    def counting(self) -> tuple[str, int] | None:
        """Return the role whose servers count the load's requests, and how many they are.

        None where none does, or several systems do and nobody knows which one is asked.
        """
        if isinstance(app := self.find("app"), JvmRole):
            return app.role, app.nodes
        own = [r.role for r in self.own_roles() if r.counters and r.counters.counts_requests]
        return (own[0], 1) if len(own) == 1 else None

    def find(self, role: str) -> RoleSpec | None:
        """Return the specification of the named role, or None."""
        return next((spec for spec in self.roles if spec.role == role), None)

    def changed(self, role: str, **fields: Any) -> Deployment:
        """Return this deployment with some fields of a role changed, and checked.

        So a treatment chooses what no factory has a parameter for, such as the collector::

            messaging_stack(here).changed("app", flags=("-XX:+UseZGC",), jvm="25")

        Raises UsageError if there is no such role, or it has no such field or value.
        """
        found = self.find(role)
        if found is None:
            raise UsageError(
                found=f"role {role!r}",
                expected=f"one of {', '.join(spec.role for spec in self.roles)}",
                next_step="correct the deployment in the notebook",
            )
        try:
            new = type(found).model_validate(found.model_dump() | fields)
        except ValidationError as error:
            first = error.errors()[0]
            place, given = place_of(first) or "fields", str(first["input"])[:200]
            raise UsageError(
                found=f"{place} of role {role}: {given!r}",
                expected=wanted(first),
                next_step="correct the deployment in the notebook",
            ) from error
        roles = tuple(new if spec is found else spec for spec in self.roles)
        try:
            return Deployment(roles=roles, hosts=self.hosts, network=self.network)
        except ValidationError as error:
            raise UsageError(
                found=error.errors()[0]["msg"].removeprefix("Value error, "),
                expected="a host of this deployment",
                next_step="add it with Deployment.on(), or correct the role's host",
            ) from error

    def flagged(self, *flags: str) -> Deployment:
        """Return this deployment with further flags of every JVM, after those that it has."""
        roles = tuple(
            role.model_copy(update={"flags": (*role.flags, *flags)})
            if isinstance(role, JvmRole)
            else role
            for role in self.roles
        )
        return self.model_copy(update={"roles": roles})

    def on(self, *hosts: HostSpec, **places: str | tuple[str, ...]) -> Deployment:
        """Return this deployment with these hosts, and the named roles moved to them.

        So one deployment is measured in several modes::

            stack.on(HostSpec(name="box", mode="container", cpus=(0,)), app="box", database="box")

        With several hosts the nodes of a role are dealt out to them in turn. Raises UsageError for
        a role or host that there is not.
        """
        for role in set(places) - {spec.role for spec in self.roles}:
            raise UsageError(
                found=f"role {role!r}",
                expected=f"one of {', '.join(spec.role for spec in self.roles)}",
                next_step="correct the places in the notebook",
            )
        roles = [_placed(spec, places.get(spec.role)) for spec in self.roles]
        try:
            return Deployment(roles=tuple(roles), hosts=hosts, network=self.network)
        except ValidationError as error:
            raise UsageError(
                found=error.errors()[0]["msg"].removeprefix("Value error, "),
                expected="roles on hosts of this deployment, each host with a name of its own",
                next_step="correct hosts and places in the notebook",
            ) from error

    def connected(self, network: NetworkSpec) -> Deployment:
        """Return this deployment with its hosts connected so.

        ::

            tiers = stack.on(web, db, app="web", database="db")
            tiers.connected(NetworkSpec(links=(LinkSpec(ends=("web", "db"), frame_bytes=8996),)))

        Raises UsageError for a link to a host that there is not, and for hosts whose mode does not
        let this machine set up their network.
        """
        try:
            return Deployment(roles=self.roles, hosts=self.hosts, network=network)
        except ValidationError as error:
            raise UsageError(
                found=error.errors()[0]["msg"].removeprefix("Value error, "),
                expected="links between hosts of this deployment, each of a mode that allows it",
                next_step="correct the network in the notebook",
            ) from error
