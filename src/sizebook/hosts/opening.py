"""The hosts of a deployment: made side by side, used, and nothing of them left."""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sizebook.hosts.base import Host
from sizebook.hosts.boots import Boot, Image, Site
from sizebook.hosts.cgroups import ControlGroup
from sizebook.hosts.guard import Guard
from sizebook.hosts.guest import GuestHost
from sizebook.hosts.local import LocalHost
from sizebook.hosts.network import Network
from sizebook.model.deployment import HostSpec, Mode

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
) -> Iterator[dict[str, Host]]:
    """Yield the hosts by name when all of them answer; close them in every case.

    With them comes this machine, ``local``, at an address that they reach; without any it is
    ``local`` itself.

    ``boots`` makes hosts of each mode but ``bare``; ``image`` gives the application image, and is
    asked only if a host needs it. ``scratch`` is the folder of this machine at whose path each host
    has its own writable disk. Raises HostLacksError if this machine lacks something for one of
    them, TrialError if one does not come up.
    """
    with contextlib.ExitStack() as undo:
        guests = [spec for spec in specs if spec.mode != "bare"]
        network = Network(guard) if guests else None
        found = image() if guests else None
        if network is not None:
            undo.callback(network.close)
        here = (
            local if network is None else LocalHost(guard, address=network.address, cpus=local.cpus)
        )

        def open_one(spec: HostSpec) -> Host:
            group = ControlGroup(f"sb-{secrets.token_hex(2)}-{spec.name}", guard)
            undo.callback(group.remove)
            if network is None or found is None or spec.mode == "bare":
                host = LocalHost(guard, spec.name, group, here.address, local.cpus)
                host.set_limits(spec.cpu_limit, spec.cpu_weight, spec.cpus)
                host.set_memory(spec.memory_mib)
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
        yield {here.name: here, **hosts}
