"""Another machine over a real ssh server: what it needs, what it refuses, what is left there.

What it has in common with every other host is in ``test_contract.py``.
"""

import os
import secrets
import subprocess
import tempfile
from pathlib import Path

import psutil
import pytest
from tests.hosts.ssh_server import SshServer, inventory
from tests.waiting import wait_until

from sizebook.hosts import keepers
from sizebook.hosts.network import Network
from sizebook.hosts.opening import opened_hosts
from sizebook.hosts.ssh import look_at
from sizebook.model.deployment import HostSpec
from sizebook.model.errors import HostLacksError, TrialError, UsageError


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = SshServer(tmp_path_factory.mktemp("far") / "ssh", "127.0.0.8")
    yield server
    server.close()


def opened(ground, far, **limits):
    """Open one host of an inventory, called ``far``."""
    spec = HostSpec(name="far", mode="ssh", **({"whole": True} | limits))
    return opened_hosts(
        [spec],
        {},
        ground.image,
        scratch=ground.scratch,
        state=ground.state,
        local=ground.local,
        guard=ground.guard,
        inventory=inventory(far=far),
    )


def test_who_is_not_root_is_nobody_there_and_has_no_limits(ground, server):
    """A user name space is enough; a limit is refused with the reason."""
    with opened(ground, server.host("bench"), cpus=(0,)) as hosts:
        host = hosts["far"]
        tell = "import os; print(os.getuid(), sorted(os.sched_getaffinity(0)))"
        assert ground.run(host, tell) == (0, "65534 [0]")
        assert ground.run(host, "import os; print(os.getuid())", user=65534) == (0, "65534")
        with pytest.raises(HostLacksError, match=r"host far: .* is not writable for this user"):
            host.set_limits(0.5, None, ())
        burn = host.start(
            "burn",
            ground.words("import time\nwhile time.process_time() < .3: pass\ntime.sleep(60)"),
            log=ground.scratch / "burn.log",
        )
        assert wait_until(
            lambda: host.outside().cpu_user_s + host.outside().cpu_system_s > 0.25, 15
        )
        assert host.outside().memory_bytes > 1_000_000
        host.stop(burn, grace_s=0)
    assert list((server.home("bench") / "run").iterdir()) == []
    with (
        pytest.raises(HostLacksError, match="is not writable for this user"),
        opened(ground, server.host("bench"), whole=False, memory_mib=300),
    ):
        pass


def test_the_image_goes_there_once(ground, server):
    """By its contents: the second host, and another user's, do not wait for it or do."""
    with opened(ground, server.host()):
        pass
    with opened(ground, server.host()) as hosts:
        assert "image" not in hosts["far"].boot_s
    images = [path.name for path in (server.home() / "images").iterdir() if path.is_dir()]
    assert images == [ground.image().fingerprint[:16]]


def test_looking_changes_nothing(ground, server, tmp_path):
    """What a machine is and can do is told by a program that is nowhere written down."""
    before = sorted(map(str, server.folder.rglob("*")))
    place = inventory(far=server.host("bench", folder=str(tmp_path / "none" / "x")))
    found = look_at(place.elsewhere()["far"], "far", ground.local, ground.guard)
    assert (found["spaces"], found["address"], found["image"]) == ("", "", False)
    assert "is not writable for this user" in found["groups"]
    assert (found["kernel"], found["free_bytes"] > 0) == (os.uname().release, True)
    assert sorted(map(str, server.folder.rglob("*"))) == before
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        ({"host_key": "ssh-ed25519 " + "A" * 68}, TrialError, "ssh ended with 255: .*host key"),
        ({"user": "stranger"}, TrialError, "Permission denied"),
        ({"user": "sshd"}, TrialError, "This account is currently not available"),
        ({"port": 1}, TrialError, "refused"),
        ({"key": "/none/key"}, HostLacksError, "no file /none/key with the key of host far"),
        (
            {"address": "10.77.255.254", "ssh_address": "127.0.0.8"},
            HostLacksError,
            "host far: its address, at which no server can listen",
        ),
        ({"address": "no-such-machine.invalid"}, HostLacksError, "no machine of that address"),
    ],
)
def test_what_is_wrong_is_told(ground, server, monkeypatch, change, kind, said):
    """And leaves nothing, here or there; neither user nor address is named by ssh's own words."""
    made, make = [], tempfile.mkdtemp

    def noted(**words):
        made.append(Path(make(**words)))
        return str(made[-1])

    monkeypatch.setattr(tempfile, "mkdtemp", noted)
    with pytest.raises(kind, match=said) as told, opened(ground, server.host() | change):
        pass
    if kind is TrialError:
        assert server.address not in str(told.value)
    assert not [folder for folder in made if folder.exists()]
    left = server.home() / "run"
    assert not left.is_dir() or list(left.iterdir()) == []


def test_a_machine_that_no_inventory_names_is_not_talked_to(ground):
    with (
        pytest.raises(UsageError, match="host far of mode ssh, which no inventory names"),
        opened_hosts(
            [HostSpec(name="far", mode="ssh")],
            {},
            ground.image,
            scratch=ground.scratch,
            state=ground.state,
            local=ground.local,
            guard=ground.guard,
        ),
    ):
        pass


def test_no_secret_in_any_command_line(ground, server, monkeypatch):
    """The agent's token and the names of user and machine go through pipes and files."""
    token = "feed" * 8
    monkeypatch.setattr(secrets, "token_hex", lambda size: token[: 2 * size])
    with opened(ground, server.host()):
        lines = [" ".join(one.info["cmdline"] or []) for one in psutil.process_iter(["cmdline"])]
    assert any("/sizebook-ssh-" in line for line in lines)
    ours = [line for line in lines if "ssh" in line and "sshd" not in line and "pytest" not in line]
    assert not [line for line in ours if token in line or server.address in line]


def test_what_a_killed_keeper_left_is_removed_by_the_next(ground, server):
    """Its processes end with it, by the kernel; its folder stays until somebody comes."""
    with opened(ground, server.host()) as hosts:
        sleeper = hosts["far"].start("s", ["sleep", "61.5"], log=ground.scratch / "s.log")
        [keeper] = running_keepers(server)
        keeper.kill()
        assert wait_until(lambda: sleeper.exit_code is not None, 15)
        assert wait_until(lambda: not sleepers("61.5"), 15)
    assert len(list((server.home() / "run").iterdir())) == 1
    with opened(ground, server.host()):
        assert len(list((server.home() / "run").iterdir())) == 1
    assert list((server.home() / "run").iterdir()) == []


def running_keepers(server):
    """Return the processes that run a server's keeper, without the agents below them."""
    found = []
    for one in psutil.process_iter(["cmdline", "environ"]):
        words, around = one.info["cmdline"] or [""], one.info["environ"] or {}
        if words[0] == "python3" and around.get("HOME", "").startswith(str(server.folder)):
            found.append(one)
    return [one for one in found if one.ppid() not in {each.pid for each in found}]


def sleepers(seconds):
    return [
        one for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"] == ["sleep", seconds]
    ]


def test_a_dead_line_ends_all_that_ran_there(ground, tmp_path, monkeypatch):
    """No packet comes any more, and nobody says so: the machine notices the silence."""
    monkeypatch.setattr(keepers, "SILENCE_S", 1.0)
    monkeypatch.setattr(keepers, "_END_S", 0.1)
    network = Network(ground.guard)
    try:
        link = network.add_namespace("far")
        server = SshServer(tmp_path / "ssh", link.address, link.namespace.name)
        try:
            with opened(ground, server.host()) as hosts:
                assert hosts["far"].address == link.address
                assert hosts["local"].address == network.address
                hosts["far"].start("s", ["sleep", "62.5"], log=ground.scratch / "s.log")
                assert sleepers("62.5")
                cut = ["ip", "-n", link.namespace.name, "link", "set", "eth0", "down"]
                subprocess.run(cut, check=True)
                assert wait_until(lambda: not sleepers("62.5"), 15)
                assert wait_until(lambda: not list((server.home() / "run").iterdir()), 15)
        finally:
            server.close()
    finally:
        network.close()
