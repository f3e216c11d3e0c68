"""The hosts of a deployment: made side by side, used, and nothing of them left."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sizebook.hosts.base import Host
from sizebook.hosts.boots import Boot, Image, Site
from sizebook.hosts.cgroups import ControlGroup
from sizebook.hosts.guard import Guard
from sizebook.hosts.guest import GuestHost
from sizebook.hosts.kinds import KIND_OF
from sizebook.hosts.local import LocalHost
from sizebook.hosts.network import Network
from sizebook.hosts.ssh import Machine, SshBoot, SshSite, own_address
from sizebook.model.deployment import HostSpec
from sizebook.model.errors import UsageError
from sizebook.model.inventory import Inventory, SshHost
from sizebook.model.modes import Mode
from sizebook.model.network import NetworkSpec

_READY_WITHIN_S = 120.0


@contextlib.contextmanager
def opened_hosts(
    specs: Sequence[HostSpec],
    boots: Mapping[Mode, Callable[[Site], Boot]],
    image: Callable[[], Image],
    *,
    scratch: Path,
    state: Path,
    local: LocalHost,
    guard: Guard,
    connected: NetworkSpec | None = None,
    inventory: Inventory | None = None,
    callers: Sequence[HostSpec] = (),
) -> Iterator[dict[str, Host]]:
    """Yield the hosts by name when all of them answer; close them in every case.

    With them comes this machine, ``local``, at an address that they reach; without any it is
    ``local`` itself.

    ``boots`` makes hosts of the modes that run an agent, the others are processes of this machine;
    ``image`` gives the application image, and is asked only if a host needs it. ``scratch`` is the
    folder of this machine at whose path each host has its own writable disk. ``connected`` says how
    the hosts are connected, ``inventory`` where other machines are, and ``callers`` are machines
    that are opened elsewhere and reach these hosts. Raises HostLacksError if this
    machine, or another one, lacks something for one of them, TrialError if one does not come up.
    """
    with contextlib.ExitStack() as undo:
        networked = any(KIND_OF[spec.mode].own_network for spec in specs)
        network = Network(guard, connected) if networked else None
        found = image() if any(spec.mode in boots or spec.is_elsewhere for spec in specs) else None
        if network is not None:
            undo.callback(network.close)
        address = (
            network.address if network is not None else _address_for((*specs, *callers), inventory)
        )
        here = LocalHost(guard, address=address, cpus=local.cpus) if address else local

        def open_one(spec: HostSpec) -> Host:
            if spec.is_elsewhere and found is not None:
                place = _machine(spec, inventory)
                far = SshBoot(SshSite(spec, place, found, scratch, guard, local))
                machine = Machine(spec.name, far, _READY_WITHIN_S)
                undo.callback(machine.close)
                return machine
            group = ControlGroup(f"sb-{secrets.token_hex(2)}-{spec.name}", guard)
            undo.callback(group.remove)
            if network is None or found is None or spec.mode not in boots:
                host = _limited_host(spec, group, here, network)
                undo.callback(host.close)
                return host
            folder = state / "hosts" / "run" / group.name
            promise = guard.promise(["rm", "-rf", str(folder)])
            undo.callback(guard.keep, promise)
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
            folder.mkdir(parents=True, mode=0o700)
            site = Site(spec, found, scratch, folder, guard, local, network, group)
            guest = GuestHost(spec.name, boots[spec.mode](site), _READY_WITHIN_S)
            undo.callback(guest.close)
            return guest

        with ThreadPoolExecutor(max(1, len(specs))) as pool:
            futures = [pool.submit(open_one, spec) for spec in specs]
        hosts = {spec.name: future.result() for spec, future in zip(specs, futures, strict=True)}
        if network is not None:
            network.connect()
            for host in (here, *hosts.values()):
                host.links = network.ends(host.name)
        yield {here.name: here, **hosts}


def _limited_host(
    spec: HostSpec, group: ControlGroup, here: LocalHost, network: Network | None
) -> LocalHost:
    """Return a host that is a part of this machine: under limits, maybe with its own network."""
    begin = time.monotonic()
    if network is None or not KIND_OF[spec.mode].own_network:
        host = LocalHost(here.guard, spec.name, group, here.address, here.cpus)
    else:
        link = network.add_namespace(spec.name)
        space = link.namespace
        host = LocalHost(here.guard, spec.name, group, link.address, here.cpus, space, spec.mode)
        host.boot_s = {"all": time.monotonic() - begin}
    host.set_limits(spec.cpu_limit, spec.cpu_weight, spec.cpus)
    host.set_memory(spec.memory_mib)
    return host


def _machine(spec: HostSpec, inventory: Inventory | None) -> SshHost:
    """Return where another machine is. Raises UsageError if no inventory names it."""
    place = inventory.elsewhere().get(spec.name) if inventory is not None else None
    if place is None:
        raise UsageError(
            found=f"host {spec.name} of mode ssh, which no inventory names",
            expected="an inventory with its address, user and key",
            next_step="give one with --inventory",
        )
    return place


def _address_for(specs: Sequence[HostSpec], inventory: Inventory | None) -> str:
    """Return this machine's address as other machines reach it; empty where there are none."""
    far = [spec for spec in specs if spec.is_elsewhere]
    if not far:
        return ""
    place = _machine(far[0], inventory)
    return inventory.address if inventory and inventory.address else own_address(place)
