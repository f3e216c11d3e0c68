"""Machines and hosts that a user names, and what is to run where: an inventory."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from sizebook.model.deployment import (
    LOCAL,
    CpuLimit,
    CpuSet,
    CpuWeight,
    Deployment,
    GivenRole,
    HostSpec,
    JvmRole,
    Positive,
    RoleSpec,
    ServerRole,
)
from sizebook.model.errors import UsageError
from sizebook.model.load import LoadProfile
from sizebook.model.modes import ELSEWHERE, Elsewhere, Mode
from sizebook.model.records import Record
from sizebook.model.server import SystemName
from sizebook.model.urls import HostAddress, OptionalHostAddress, OptionalUrl, Url

HostName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,7}$")]
"""What roles call a host: as in ``HostSpec``."""
RoleName = Literal["app", "backend", "broker", "nullserver", "database", "balancer"]
Places = HostName | tuple[HostName, ...]
"""One host, or several to which the nodes of a role are dealt out in turn."""
_TEXT = r'[^"\n\r]'


HERE = "here"
"""Kind of all hosts that are no other machines; it stands in no file."""


class Limits(Record):
    """What a host may use; what is left out is not limited."""

    cpus: CpuSet = ()
    """Numbers of its CPUs, as its machine counts them."""
    cpu_limit: CpuLimit | None = None
    cpu_weight: CpuWeight | None = None
    memory_mib: Positive | None = None


class SshHost(Limits):
    """Another machine, reached over ssh. It needs an ssh server and python3, no more."""

    mode: Elsewhere
    address: HostAddress
    """Its address or name: where its servers listen, and where this machine and other hosts reach
    them. It is one of the machine's own."""
    ssh_address: OptionalHostAddress = ""
    """Where its ssh server is reached, if that is another."""
    port: Annotated[int, Field(gt=0, lt=65536)] = 22
    user: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,31}$")]
    """Whom to log in as: root, or a user who may make user name spaces."""
    key: Annotated[str, Field(pattern=f"^{_TEXT}*$")] = ""
    """File of the private key; empty: what a running ssh agent offers. A key with a passphrase
    needs the agent, since nothing is asked for."""
    host_key: Annotated[str, Field(pattern=r"^[a-z0-9@.-]+ [A-Za-z0-9+/=]+$")]
    """Its public host key, such as ``ssh-ed25519 AAAA…``: no other machine is talked to."""
    folder: Annotated[str, Field(pattern=f"^{_TEXT}+$")] = "~/.cache/sizebook"
    """Folder there for the application image and, while the host is used, its disk."""


class LocalHostKind(Limits):
    """A host that is made on this machine, in one of its modes."""

    mode: Mode
    disk_mib: Positive = 4096


def _kind(value: Any) -> str:
    mode = value.get("mode") if isinstance(value, dict) else getattr(value, "mode", "")
    return ELSEWHERE if mode == ELSEWHERE else HERE


class GeneratorPlaces(Record):
    """Where workers of the load generator run."""

    hosts: Annotated[tuple[HostName, ...], Field(min_length=1)]
    """Other machines to which the workers are dealt out in turn."""
    workers: Annotated[int, Field(gt=0, le=256)] | None = None
    """How many there are; without it as many as the chapter asks for."""


class SystemPlace(Record):
    """Where a system of a chapter's own is."""

    url: OptionalUrl = ""
    """Base URL at which it runs already; empty: it is started as the chapter says."""
    host: HostName = LOCAL
    """Host on which it is started, or whose counters tell of the machine that it runs on."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.url and self.host == LOCAL:
            raise ValueError("a system without 'url' and without 'host'")
        return self


class Inventory(Record):
    """Hosts by name, and what runs where."""

    hosts: dict[
        HostName,
        Annotated[
            Annotated[SshHost, Tag(ELSEWHERE)] | Annotated[LocalHostKind, Tag(HERE)],
            Discriminator(_kind),
        ],
    ] = Field(default_factory=dict)
    targets: dict[RoleName, Url] = Field(default_factory=dict)
    """Role to the URL at which it runs already, such as a service of Kubernetes. With any, nothing
    of a deployment is started."""
    systems: dict[SystemName, SystemPlace] = Field(default_factory=dict)
    """Systems that are no part of the reference stack, by the role that a chapter gives them."""
    roles: dict[RoleName, Places] = Field(default_factory=dict)
    """Role to its host or hosts; what is not named stays where the chapter puts it."""
    generator: GeneratorPlaces | None = None
    address: Annotated[str, Field(pattern=r"^([0-9a-fA-F.:]+)?$")] = ""
    """Address of this machine at which its hosts reach it; empty: found out."""

    @model_validator(mode="after")
    def _names_its_own_hosts(self) -> Self:
        if LOCAL in self.hosts:
            raise ValueError(f"a host named {LOCAL!r}, which is this machine as it is")
        named: dict[tuple[str, str], tuple[str, ...]] = {
            ("roles", role): _names(place) for role, place in self.roles.items()
        }
        named |= {("systems", role): (place.host,) for role, place in self.systems.items()}
        if self.generator is not None:
            named["generator", "hosts"] = self.generator.hosts
        for place, names in named.items():
            known = self._places_for(place)
            for name in names:
                if name not in known:
                    raise PydanticCustomError(
                        "stranger",
                        "{what} on {name}, which is none of {known}",
                        {
                            "what": " ".join(place),
                            "name": repr(name),
                            "known": ", ".join(known) or "no other machine",
                            "place": place,
                        },
                    )
        return self

    def _places_for(self, place: tuple[str, str]) -> tuple[str, ...]:
        """Return the hosts that may stand at a place of the file.

        HAProxy is this machine's own program and is talked to over a socket: it stays here.
        """
        if place[0] == "generator":
            return tuple(self.elsewhere())
        every = (LOCAL, *self.hosts)
        far = self.elsewhere() if place[1] == "balancer" else {}
        return tuple(name for name in every if name not in far)

    def elsewhere(self) -> dict[str, SshHost]:
        """Return the hosts that are other machines, by name."""
        return {name: host for name, host in self.hosts.items() if isinstance(host, SshHost)}

    def running(self) -> dict[str, str]:
        """Return what runs already: role to URL, systems of chapters' own among them."""
        running: dict[str, str] = dict(self.targets.items())
        return running | {role: place.url for role, place in self.systems.items() if place.url}

    def spec(self, name: str) -> HostSpec:
        """Return a host as a deployment names it: without address, user or key."""
        host = self.hosts[name]
        limits: dict[str, Any] = {
            "cpus": host.cpus,
            "cpu_limit": host.cpu_limit,
            "cpu_weight": host.cpu_weight,
        }
        if host.memory_mib is not None:
            limits["memory_mib"] = host.memory_mib
        elif isinstance(host, SshHost):
            limits["whole"] = True
        if isinstance(host, LocalHostKind):
            limits["disk_mib"] = host.disk_mib
        return HostSpec(name=name, mode=host.mode, **limits)

    def placed(self, deployment: Deployment) -> Deployment:
        """Return a deployment with its roles on the hosts of this inventory.

        A host that the deployment itself brings along is taken from here if it has the same name.
        A role that is moved may use all CPUs of its host. Where the inventory has targets, they are
        the deployment, unless that has nothing of the reference stack. Raises UsageError where a
        role cannot be placed, or other machines stand beside hosts that only this machine reaches.
        """
        if self.targets and len(deployment.own_roles()) < len(deployment.roles):
            return Deployment(roles=(), given=tuple(sorted(self.targets)))
        roles = tuple(self._place(role) for role in deployment.roles)
        used = dict.fromkeys(name for role in roles for name in _hosts_of(role) if name != LOCAL)
        own = {host.name: host for host in deployment.hosts}
        hosts = tuple(self.spec(name) if name in self.hosts else own[name] for name in used)
        far = [host.name for host in hosts if host.is_elsewhere]
        near = [host.name for host in hosts if not host.is_elsewhere]
        if far and near:
            raise UsageError(
                found=f"hosts {', '.join(near)} of this machine beside {', '.join(far)}, which "
                "cannot reach them",
                expected="a deployment on other machines and on this one as it is",
                next_step=f"name {', '.join(near)} among the hosts of the inventory, with mode ssh",
            )
        if far and deployment.network is not None:
            raise UsageError(
                found=f"a network of the deployment's own beside host {far[0]}",
                expected="hosts of this machine, whose network can be set up",
                next_step="leave this chapter out, or measure it without an inventory",
            )
        return Deployment(roles=roles, hosts=hosts, network=deployment.network)

    def spread(self, load: LoadProfile) -> LoadProfile:
        """Return a load whose workers run where this inventory says.

        There are as many as it says, but no more than users; without a number as many as the load
        asks for. Machines that get none are left out. Each worker may use all CPUs that its machine
        gives to the host.
        """
        if self.generator is None:
            return load
        workers = min(self.generator.workers or load.workers, load.arrivals.users)
        hosts = tuple(self.spec(name) for name in self.generator.hosts[:workers])
        return load.model_copy(update={"hosts": hosts, "workers": workers, "cpus": ()})

    def _place(self, role: RoleSpec) -> RoleSpec:
        if isinstance(role, ServerRole | GivenRole):
            return self._place_system(role)
        place = self.roles.get(role.role)
        if place is None:
            moved = any(name in self.hosts for name in _hosts_of(role))
            return role.model_copy(update={"cpus": ()}) if moved else role
        names = _names(place)
        if len(names) > 1 and not isinstance(role, JvmRole):
            raise UsageError(
                found=f"role {role.role} on hosts {', '.join(names)}",
                expected="one host for a role that has no nodes",
                next_step="correct 'roles' in the inventory",
            )
        changed: dict[str, Any] = {"host": names[0]}
        if isinstance(role, JvmRole):
            changed["hosts"] = names if len(names) > 1 else ()
        if set(names) != {LOCAL}:
            changed["cpus"] = ()
        return role.model_copy(update=changed)

    def _place_system(self, role: ServerRole | GivenRole) -> RoleSpec:
        """Return a system where it is: what is started elsewhere may run here already."""
        place = self.systems.get(role.role)
        if place is None:
            return role.model_copy(update={"cpus": ()}) if role.host in self.hosts else role
        if place.url:
            return GivenRole(
                role=role.role,
                host=place.host,
                ready=role.ready,
                any_status=isinstance(role, GivenRole) and role.any_status,
                counters=role.counters,
            )
        return role.model_copy(update={"host": place.host, "cpus": ()})


def _names(place: str | tuple[str, ...]) -> tuple[str, ...]:
    return (place,) if isinstance(place, str) else place


def _hosts_of(role: RoleSpec) -> tuple[str, ...]:
    return role.hosts if isinstance(role, JvmRole) and role.hosts else (role.host,)


if __name__ == "__main__":  # env/inventories/schema.json
    print(json.dumps(Inventory.model_json_schema(), indent=1))
