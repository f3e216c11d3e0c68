"""Inventories: what a file says, where deployments go by it, which line is wrong."""

import json
import os
from pathlib import Path

import pytest
import yaml

from sizebook.lab import app_stack, inventories, place, started_system
from sizebook.lab.inventories import VARIABLE, choose_inventory, placing, read_inventory, targets
from sizebook.lab.planning import Setup
from sizebook.model.deployment import GivenRole, HostSpec
from sizebook.model.errors import UsageError
from sizebook.model.inventory import Inventory
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.network import NetworkSpec
from sizebook.model.server import CounterSource, Told

EXAMPLES = Path(__file__).resolve().parents[2] / "env" / "inventories"
TEXT = """\
hosts:
  web:
    mode: ssh
    address: 192.0.2.1
    user: bench
    host_key: ssh-ed25519 AAAA
  data:
    mode: ssh
    address: 192.0.2.2
    user: root
    host_key: ssh-ed25519 AAAB
    memory_mib: 2000
    cpus: [2, 3]
  box:
    mode: container
roles:
  app: [web, data]
  database: data
"""


@pytest.fixture
def given(tmp_path, monkeypatch):
    """Return what reads a text as an inventory; none is chosen before or after."""
    monkeypatch.setenv(VARIABLE, "")

    def read(text):
        (tmp_path / "here.yaml").write_text(text)
        return read_inventory(tmp_path / "here.yaml")

    return read


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.stem)
def test_the_examples_are_inventories(file):
    """They can be read, name only machines that nobody has, and say where roles go."""
    found = read_inventory(file)
    assert found.elsewhere()
    assert all(host.address.startswith("192.0.2.") for host in found.elsewhere().values())
    assert found.placed(app_stack(place(), nodes=2)).hosts


def test_the_schema_is_that_of_the_model():
    """Made anew with ``python -m sizebook.model.inventory > env/inventories/schema.json``."""
    assert json.loads((EXAMPLES / "schema.json").read_text()) == Inventory.model_json_schema()


def test_every_word_is_explained():
    """Each field of the model stands in the table of its README."""
    told = (EXAMPLES / "README.md").read_text()
    for part in Inventory.model_json_schema()["$defs"].values():
        for word in part.get("properties", {}):
            assert f"`{word}`" in told or word == "mode"


def test_systems_of_a_chapters_own_are_placed_or_found(given):
    """With a URL one runs already, and keeps its counters; with a host it is started there."""
    counters = CounterSource(series=(Told(series="x_total"),))
    shop = started_system(place(), "shop", ["shop", "{port}"], ready="/up", counters=counters)
    running = given(TEXT + "systems:\n  shop: {url: 'http://192.0.2.9:80/a', host: web}\n")
    (role,) = running.placed(shop).own_roles()
    assert role == GivenRole(role="shop", host="web", ready="/up", counters=counters)
    assert "192.0.2" not in running.placed(shop).canonical_json()
    assert "shop: http://192.0.2.9:80/a, which runs already" in targets(running)
    moved = given(TEXT + "systems:\n  shop: {host: data}\n").placed(shop)
    assert (moved.roles[0].host, moved.roles[0].cpus) == ("data", ())
    assert [host.name for host in moved.hosts] == ["data"]
    assert given(TEXT).placed(shop) == shop
    with pytest.raises(UsageError, match="on 'far', which is none of local, web, data, box"):
        given(TEXT + "systems:\n  shop: {host: far}\n")


def test_roles_go_to_their_hosts(given):
    """With all CPUs of the host, whatever the role had here; nothing tells where that is."""
    found = given(TEXT)
    placed = found.placed(app_stack(place(), nodes=2))
    app, database = placed.find("app"), placed.database()
    assert (app.host, app.hosts, app.cpus) == ("web", ("web", "data"), ())
    assert (database.host, database.cpus) == ("data", ())
    assert placed.balancer().host == "local"
    assert {host.name: (host.mode, host.whole) for host in placed.hosts} == {
        "web": ("ssh", True),
        "data": ("ssh", False),
    }
    assert (placed.host("data").memory_mib, placed.host("data").cpus) == (2000, (2, 3))
    assert "192.0.2" not in placed.canonical_json()
    assert "bench" not in placed.canonical_json()


def test_a_host_of_the_deployment_s_own_is_taken_by_its_name(given):
    """A chapter's tiers are the machines that are called as they are."""
    found = given(TEXT.replace("  app: [web, data]\n  database: data\n", "  backend: web\n"))
    tiers = app_stack(place()).on(HostSpec(name="web", mode="namespace"), app="web")
    placed = found.placed(tiers)
    assert [(host.name, host.mode) for host in placed.hosts] == [("web", "ssh")]
    assert placed.find("app").cpus == ()
    assert placed.database().host == "local"


def test_what_cannot_be_placed_is_refused(given):
    """Hosts that cannot reach each other, one role on two hosts, a network of its own."""
    found = given(TEXT)
    stack = app_stack(place())
    beside = stack.on(HostSpec(name="guest", mode="container"), app="guest")
    one = given(TEXT.replace("[web, data]", "web").replace("database: data", "backend: web"))
    with pytest.raises(UsageError, match="hosts box of this machine beside data"):
        given(TEXT.replace("[web, data]", "box")).placed(stack)
    assert one.placed(stack).find("app").host == "web"
    with pytest.raises(UsageError, match="role database on hosts web, data"):
        given(TEXT.replace("database: data", "database: [web, data]")).placed(stack)
    networked = beside.model_copy(update={"network": NetworkSpec()})
    with pytest.raises(UsageError, match="a network of the deployment's own beside host"):
        found.placed(networked)


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        (("    user: bench\n", ""), 2, r"no hosts\.web\.user; expected a value"),
        (("memory_mib: 2000", "memory_mib: none"), 12, r"hosts\.data\.memory_mib: 'none'"),
        (("memory_mib", "memory"), 12, "memory: 2000; expected a word that inventories have"),
        (("mode: container", "mode: box"), 15, "'box'; expected 'bare'"),
        (("database: data", "database: dat"), 18, "roles database on 'dat', which is none of"),
        (("database: data", "balancer: data"), 18, "roles balancer on 'data', which is none of"),
        (("  data:\n", "  web:\n"), 7, "'web' a second time"),
        (("hosts:\n", "hosts: [\n"), 3, "expected YAML"),
        (("  box:", "  Box-number-one:"), 14, "Box-number-one"),
        (("address: 192.0.2.1\n", "address: -oProxyCommand=x\n"), 4, "expected a host name whose"),
        (("user: bench", 'user: "a b"'), 5, "string should match"),
        (("  box:\n", "  local:\n"), 1, "a host named 'local', which is this machine as it is"),
    ],
)
def test_an_error_names_its_line(given, change, line, said):
    assert change[0] in TEXT
    with pytest.raises(UsageError, match=said) as told:
        given(TEXT.replace(*change, 1))
    assert f"in line {line} of here.yaml" in told.value.found
    assert told.value.next_step.startswith(f"correct line {line}")


def test_a_file_that_is_none_is_told(given, tmp_path):
    with pytest.raises(UsageError, match="no mapping"):
        given("")
    with pytest.raises(UsageError, match=r"none\.yaml: No such file"):
        read_inventory(tmp_path / "none.yaml")


def test_a_target_that_runs_already_is_the_deployment(given, tmp_path):
    """Nothing is started; its URL is in no specification; another URL is another measurement."""
    text = "targets:\n  app: http://192.0.2.9:30080\n"
    placed = given(text).placed(app_stack(place(), nodes=2))
    assert (placed.roles, placed.hosts, placed.given) == ((), (), ("app",))
    assert "192.0.2" not in placed.canonical_json()
    found = choose_inventory(tmp_path / "here.yaml")
    assert targets(found) == ["app: http://192.0.2.9:30080, which runs already"]
    first = inventories.target_fingerprints(["app"])
    given(text.replace("30080", "30081"))
    assert set(first) == {"target app"}
    assert inventories.target_fingerprints(["app"]) != first
    assert "given" not in app_stack(place()).model_dump(mode="json")
    with pytest.raises(UsageError, match=r"in line 2 .*targets\.app"):
        given("targets:\n  app: https://me:secret@192.0.2.9\n")


def test_no_object_is_made_of_what_yaml_says(given):
    """A tag that would call something is refused."""
    with pytest.raises(UsageError, match="could not determine a constructor"):
        given("hosts: !!python/object/apply:os.getcwd []\n")


def test_the_chosen_one_serves_this_process_and_those_it_starts(given, tmp_path):
    """And each other machine of it is named, with what it is for."""
    given(TEXT)
    found = choose_inventory(tmp_path / "here.yaml")
    assert inventories.chosen_inventory() == found
    assert os.environ[VARIABLE] == str(tmp_path / "here.yaml")
    assert targets(found) == [
        "web: bench@192.0.2.1 port 22, for app",
        "data: root@192.0.2.2 port 22, for app, database",
    ]
    before = inventories.inventory_fingerprint()
    given(TEXT.replace("2000", "3000"))
    assert inventories.inventory_fingerprint() != before != ""


def test_treatments_are_placed(given):
    """What a chapter's design means is moved as a whole; without an inventory it is as it was."""
    load = LoadProfile(
        locustfile="flight.py",
        arrivals=ClosedLoop(users=4),
        phases=Phases(warmup_s=0, measured_s=1),
    )

    def treat(_):
        return Setup(app_stack(place()), load)

    assert placing(treat, None) is treat
    setup = placing(treat, given(TEXT))({})
    assert setup.deployment.database().host == "data"


def test_yaml_and_model_agree_on_the_examples():
    for file in EXAMPLES.glob("*.yaml"):
        assert set(yaml.safe_load(file.read_text())["hosts"]) == set(read_inventory(file).hosts)


def test_workers_go_to_their_machines(given):
    """As many as are asked for, on as many machines as that takes; without a number as before."""
    text = TEXT.replace("  app: [web, data]\n  database: data\n", "  backend: web\n")
    load = LoadProfile(
        locustfile="flight.py",
        arrivals=ClosedLoop(users=3),
        phases=Phases(warmup_s=0, measured_s=1),
        cpus=(0,),
    )
    one = given(text + "generator:\n  hosts: [web, data]\n").spread(load)
    assert ([host.name for host in one.hosts], one.workers, one.cpus) == (["web"], 1, ())
    many = given(text + "generator:\n  hosts: [web, data]\n  workers: 5\n").spread(load)
    assert ([host.name for host in many.hosts], many.workers) == (["web", "data"], 3)
    assert given(TEXT).spread(load) is load
    with pytest.raises(UsageError, match="generator hosts on 'box', which is none of web, data"):
        given(text + "generator:\n  hosts: [box]\n")


BOMB = "\n".join(
    ["  a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]"]
    + [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
)
"""Eight lines that stand for 9^9 values."""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("  web: {mode: container, memory_mib: 01000}", "01000, which YAML reads as something"),
        ("  web: {mode: container, memory_mib: 17:04}", "17:04, which YAML reads as something"),
        ("  web: {mode: container, memory_mib: 0x200}", "0x200, which YAML reads as something"),
        ("  web: {mode: container, memory_mib: 1_024}", "1_024, which YAML reads as something"),
        ("  on: {mode: container}", "on, which YAML reads as something"),
        ("  web: {mode: no}", "no, which YAML reads as something"),
        ("  web: &a {mode: container, cpus: *a}", "a value that holds itself"),
        ("  web: &a [*a]", "a value that holds itself"),
        (BOMB, "more than 10000 values"),
        ("  web: {mode: container, mode: bare}", "'mode' a second time"),
        ("  ? [web]\n  : {mode: container}", "a list or mapping as a name"),
        ("  web: {mode: container, memory_mib: 2024-13-45}", "month must be in 1..12"),
        ("  web: {mode: container, memory_mib: many}", "memory_mib"),
        ("  web: " + "[" * 5000 + "]" * 5000, "in each other without end"),
    ],
    ids=lambda value: value[:40],
)
def test_what_yaml_reads_otherwise_than_people_is_refused(given, line, said):
    """One message, never a number that nobody wrote, and no mapping that holds itself."""
    with pytest.raises(UsageError) as caught:
        given(f"hosts:\n{line}\n")
    assert said in str(caught.value)


def test_in_quotes_it_is_text(given):
    assert given('hosts:\n  "on": {mode: container}\n').hosts["on"].mode == "container"


def test_what_is_no_plain_text_file_is_refused(tmp_path):
    """A folder, a pipe that nobody writes to, another encoding, a file without end."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "latin").write_bytes("hosts: {}  # gr\xfc\xdfe".encode("latin-1"))
    (tmp_path / "long").write_bytes(b"#" * (2**20 + 1))
    for name in (".", "pipe", "latin", "long", "absent"):
        with pytest.raises(UsageError, match=r"cannot be read|expected an inventory in a"):
            read_inventory(tmp_path / name)
    (tmp_path / "good").write_text("\ufeffhosts: {web: {mode: container}}\n")
    (tmp_path / "link").symlink_to("good")
    assert list(read_inventory(tmp_path / "link").hosts) == ["web"]
