"""Settings that nodes and load would refuse are refused when a design is planned."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sizebook.lab.chapter_lab import ChapterLab
from sizebook.lab.deployments import app_stack
from sizebook.lab.placement import Placement
from sizebook.lab.planning import Setup
from sizebook.lab.profiles import get_profile
from sizebook.model.deployment import JvmRole
from sizebook.model.design import Design, Factor, Treatment
from sizebook.model.errors import UsageError
from sizebook.model.load import ClosedLoop, LoadProfile
from sizebook.model.records import Scalar
from sizebook.stack.allowed import Allowed
from sizebook.stack.settings import NODE, check_settings
from sizebook.store import Project

JAVA = Path(__file__).resolve().parents[2] / "stack" / "src" / "main" / "java" / "refstack"
SOURCES = {path.name: path.read_text(encoding="utf-8") for path in JAVA.rglob("*.java")}
ALLOWED = dict(NODE.values())
KINDS = {"int": "count", "boolean": "truth", "Duration": "span", "DataSize": "size"}


def properties_of_records() -> dict[str, str]:
    """Every property of a record of properties, with its Java type."""
    found = {}
    for text in SOURCES.values():
        for prefix, heads in re.findall(
            r'@ConfigurationProperties\("([\w.]+)"\)[^{]*?record \w+\((.*?)\)\s*\{', text, re.DOTALL
        ):
            for kind, name in re.findall(r"([A-Z]?\w+) (\w+)(?:,|$)", heads):
                dashed = re.sub("[A-Z]", lambda one: f"-{one[0].lower()}", name)
                found[f"{prefix}.{dashed}"] = kind
    return found


@pytest.mark.parametrize(("listed", "least"), [("POOL_SIZES", 1), ("NONE_OR_SIZES", 0)])
def test_the_least_of_a_number_is_the_configuration_checks(listed: str, least: int) -> None:
    """A property in one of its lists has that least here."""
    written = re.search(
        rf"> {listed} = List.of\((.*?)\);", SOURCES["ConfigurationCheck.java"], re.DOTALL
    )
    assert written is not None
    names = re.findall(r'"([\w.-]+)"', written[1])
    shared = [name for name in names if name in ALLOWED]
    assert len(shared) >= len(names) - 2 > 2
    assert {ALLOWED[name].least for name in shared} == {least}
    assert {ALLOWED[name].kind for name in shared} == {"count"}


def test_every_setting_is_of_the_kind_of_its_property() -> None:
    """Whole numbers, sizes, spans and yes or no, by the records that Spring fills."""
    kinds = properties_of_records()
    shared = {name: KINDS[kinds[name]] for name in ALLOWED if kinds.get(name) in KINDS}
    assert len(shared) > 30
    assert {name: ALLOWED[name].kind for name in shared} == shared


def test_ranges_that_java_states_in_words_are_these() -> None:
    """As ``refstack.events.workers must be from 0 to 1000``, and the broker's own numbers."""
    text = re.sub(r'"\s*\+\s*"', "", "\n".join(SOURCES.values()))
    worth = {"byte": 1, "bytes": 1, "MB": 1 << 20, "GB": 1 << 30}
    stated = re.findall(
        r'"(refstack[\w.-]+) must be from (\d+)(?: bytes?)? to (\d+) ?(MB|GB)?"', text
    )
    assert len(stated) > 4
    for name, least, most, unit in stated:
        if name in ALLOWED:
            allowed = ALLOWED[name]
            assert (allowed.least, allowed.greatest) == (int(least), int(most) * worth.get(unit, 1))
    for name in ("large-bytes", "queue-max-bytes", "global-max-bytes"):
        least = {"large-bytes": 1024}.get(name, -1)
        assert ALLOWED[f"refstack.broker.embedded.{name}"].least == least
        java = {1024: "KIB", -1: "-1"}[least]
        assert f'number(all, "{name}", {java},' in SOURCES["BrokerSettings.java"]


@pytest.mark.parametrize(
    ("role", "name", "value"),
    [
        ("app", "threads", 0),
        ("app", "threads", -1),
        ("app", "threads", 1.5),
        ("app", "threads", True),
        ("app", "threads", 1 << 31),
        ("app", "threads", "many"),
        ("app", "threads", "\u0665"),
        ("backend", "consumers", 1001),
        ("app", "xml_max_body", "2GB"),
        ("app", "xml_max_body", "2kb"),
        ("app", "fault_delay", "0s"),
        ("app", "session_timeout", "900ms"),
        ("app", "cache", "yes"),
        ("app", "sessions", "disk"),
        ("app", "nothing", 1),
        ("broker", "threads", 1),
        ("broker", "full-policy", "drop"),
        ("broker", "max-deliveries", -2),
        ("nullserver", "body-bytes", -1),
    ],
)
def test_what_a_node_would_not_start_with_is_refused(role: str, name: str, value: Scalar) -> None:
    """One message names setting, value and role."""
    node = JvmRole.model_validate({"role": role, "settings": {name: value}})
    with pytest.raises(UsageError, match=f"found setting .?{name}.* of role {role}"):
        check_settings(node)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threads", 1),
        ("threads", " 50 "),
        ("keep_alive_requests", -1),
        ("xml_max_body", "1GB"),
        ("xml_max_body", 4096),
        ("fault_delay", "5s"),
        ("session_timeout", "30m"),
        ("cache", True),
        ("sessions", "database"),
        ("event_workers", 0),
        ("parts", "rest,odata"),
    ],
)
def test_what_a_node_starts_with_passes(name: str, value: Scalar) -> None:
    """As a number, as text, with a unit."""
    check_settings(JvmRole(role="app", settings={name: value}))


def test_words_say_the_range() -> None:
    """A message tells what would do."""
    assert Allowed.count(0, 9).words == "a whole number, from 0 to 9"
    assert Allowed.size(1).words == "a size such as 4096 or 64KB, 1 bytes or more"
    assert Allowed.one_of("a", "b").words == "one of a, b"


def planned(project: Project, *, source: str = "measure", **given: Scalar) -> None:
    """Plan one design whose nodes have so many threads, and whose load these settings."""
    lab = ChapterLab("own", profile="smoke", source=source, seed=1, project=project)
    threads = given.pop("threads", 5)

    def treat(treatment: Treatment) -> Setup:
        load = LoadProfile(
            locustfile="shop.py",
            arrivals=ClosedLoop(users=1),
            phases=get_profile("smoke").phases,
            settings=given,
        )
        cpus = Placement(stack=(0,), generator=(1,), total_heap_mib=1024)
        return Setup(app_stack(cpus, settings={"threads": treatment["threads"]}), load)

    lab.add(Design("one", (Factor("threads", (threads,)),), replicates=1, seed=1), treat)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threads": -2}, "setting threads=-2 of role app; expected a whole number, 1 or more"),
        ({"bytes": -1}, "setting bytes=-1 for shop.py; expected a number, 0 or more"),
        ({"bytes": 1.5}, "setting bytes=1.5 for shop.py; expected a value of type int"),
        ({"way": "up"}, "setting way='up' for shop.py; expected one of in, out"),
        ({"wey": "in"}, "setting 'wey' for shop.py; expected one of bytes, way"),
    ],
)
def test_a_plan_refuses_settings_that_no_trial_could_have(
    tmp_path: Path, given: dict[str, Scalar], message: str
) -> None:
    """Before a node or generator is started; bundles that are only shown were measured so."""
    project = Project(tmp_path)
    project.locustfiles.mkdir()
    own = project.locustfiles / "shop.py"
    own.write_text(
        'WAYS = ("in", "out")\nclass Buyer:\n'
        '    settings = {"bytes": Setting(10), "way": Setting("in", WAYS)}\n'
    )
    planned(project)
    planned(project, threads=7, bytes=0, way="out")
    with pytest.raises(UsageError, match=re.escape(message)):
        planned(project, **given)
    planned(project, source=str(tmp_path), **given)
    own.write_text("class Buyer:\n    settings = made()\n")
    if "threads" not in given:  # only the generator can tell
        planned(project, **given)
