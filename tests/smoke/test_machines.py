"""A trial whose stack and load are on other machines, by the command line and an inventory.

The machines are network name spaces with an ssh server each.
"""

import json

import pytest
from tests.hosts import ssh_server
from tests.smoke.conftest import make_copy
from tests.waiting import wait_until

from sizebook.store import open_bundle

TRIAL = (
    "--locustfile",
    "flight.py",
    "--users",
    "4",
    "--warmup",
    "0.5",
    "--measured",
    "2",
    "--conditioning",
    "4",
    "--json",
)


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    """Three machines and the file that names them."""
    folder = tmp_path_factory.mktemp("machines")
    users = {"server": "root", "load1": "bench", "load2": "bench"}
    with ssh_server.machines(folder, *users) as servers:
        hosts = {name: servers[name].host(user) for name, user in users.items()}
        told = {"hosts": hosts, "roles": {"app": "server", "database": "server"}}
        file = folder / "inventory.yaml"
        file.write_text(
            json.dumps(told | {"generator": {"hosts": ["load1", "load2"], "workers": 2}})
        )
        yield file, hosts


@pytest.fixture(scope="module")
def measured(copied_project, machines):
    """What the command printed, and the bundle."""
    done = copied_project.sizebook(
        "trial", *TRIAL, "--heap", "256", "--inventory", str(machines[0]), check=0
    )
    said = json.loads(done.stdout)
    return done, said, open_bundle(copied_project.root / said["bundle"])


def test_each_machine_is_named_before_anything_starts(copied_project, machines):
    """On the terminal, with what it is for."""
    file, hosts = machines
    done = copied_project.sizebook("plan", "calibration", "--inventory", str(file), check=0)
    for name, host in hosts.items():
        assert f"not on this machine: {name}: {host['user']}@{host['address']}" in done.stderr


def test_the_doctor_looks_at_them(copied_project, machines):
    file, hosts = machines
    done = copied_project.sizebook("doctor", "--json", "--inventory", str(file))
    found = {one["name"]: one for one in json.loads(done.stdout)["inventory"]}
    assert set(found) == set(hosts)
    assert all(one["problems"] == [] for one in found.values())
    assert found["server"]["limits"] == ""
    assert "not writable" in found["load1"]["limits"]


def test_the_trial_is_whole_and_judged(measured):
    """All accounts close: what the workers sent, what the server counted, what was stored."""
    _, said, bundle = measured
    found = {finding["rule"]: finding for finding in said["findings"]}
    assert said["outcome"] == "completed"
    for rule in ("SB101-accounting", "SB102-clock", "SB104-server-count", "SB406-host-clocks"):
        assert found[rule]["passed"] is True, found[rule]
    assert found["SB201-generator-cpu"]["passed"] is not None
    assert "no ceiling" in found["SB204-ceiling"]["message"]
    record = bundle.record
    assert [run.name for run in record.execution.hosts] == ["server"]
    assert [run.name for run in record.execution.callers] == ["load1", "load2"]
    assert set(record.fingerprints.hosts) == {"server", "load1", "load2"}
    assert all(run.clock_uncertainty_ns > 0 for run in record.execution.callers)
    assert record.trial.load.workers == 2
    assert set(bundle.columns["worker"].tolist()) == {0, 1}


def test_no_address_user_or_key_is_in_the_bundle(measured, machines):
    """Not in the record, not in a log; what stands for an address is the host's name."""
    _, _, bundle = measured
    _, hosts = machines
    secrets = {str(host[word]) for host in hosts.values() for word in ("address", "key")}
    secrets |= {host["host_key"].split()[1] for host in hosts.values()} | {"bench@", "root@"}
    for path in bundle.path.rglob("*"):
        if path.is_file():
            text = path.read_bytes()
            assert not [word for word in secrets if word.encode() in text], path.name
    commands = [" ".join(one.command) for one in bundle.record.execution.commands]
    assert any("--server.address=<server>" in command for command in commands)


def test_another_inventory_is_another_measurement(copied_project, machines, measured, tmp_path):
    """Without a limit that the first one has not, the trial is on disk; with it, it is not."""
    from sizebook.lab.inventories import read_inventory

    file, _ = machines
    told = json.loads(file.read_text())
    told["hosts"]["server"]["cpus"] = [0]
    (tmp_path / "other.yaml").write_text(json.dumps(told))
    _, _, bundle = measured
    first, other = read_inventory(file), read_inventory(tmp_path / "other.yaml")
    assert first.spec("server") == bundle.record.trial.deployment.host("server")
    assert other.spec("server") != bundle.record.trial.deployment.host("server")


def test_nothing_is_left_on_them(measured, machines):
    """What a machine's keeper clears away when its connection ends is gone soon after."""
    _, hosts = machines
    for name, host in hosts.items():
        runs = machines[0].parent / name / "home" / host["user"] / ".cache" / "sizebook" / "run"
        assert wait_until(lambda runs=runs: not any(runs.iterdir())), list(runs.iterdir())


def test_what_runs_already_is_measured_by_its_url(copied_project, tmp_path):
    """A stack that somebody started: the load is judged, what cannot be looked at is said."""
    up = copied_project.sizebook("stack", "up", "--heap", "256", "--json", check=0)
    try:
        url = json.loads(up.stdout)["urls"]["app"]
        (tmp_path / "there.yaml").write_text(json.dumps({"targets": {"app": url}}))
        other = make_copy(tmp_path / "other")
        words = ("trial", *TRIAL, "--inventory", str(tmp_path / "there.yaml"))
        done = other.sizebook(*words, check=0)  # tests need not be alone on the machine
    finally:
        copied_project.sizebook("stack", "down")
    said = json.loads(done.stdout)
    bundle = open_bundle(other.root / said["bundle"])
    found = {finding["rule"]: finding for finding in said["findings"]}
    assert said["throughput_per_s"] > 0
    assert found["SB101-accounting"]["passed"] is True
    assert found["SB104-server-count"]["passed"] is None
    assert bundle.record.trial.deployment.given == ("app",)
    assert set(bundle.record.fingerprints.hosts) == {"target app"}
    told = bundle.path.joinpath("trial.json").read_text()
    assert url.removeprefix("http://") not in told
