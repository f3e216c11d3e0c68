"""Settings that nodes and load would refuse are refused when a design is planned."""

from __future__ import annotations

import re
from collections.abc import Iterator
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


def components() -> Iterator[tuple[str, str, str]]:
    """Every property of a record of settings: name, Java type, and its constraints as written."""
    for text in SOURCES.values():
        for prefix, heads in re.findall(
            r'@ConfigurationProperties\("([\w.]+)"\)[^{]*?record \w+\((.*?)\)\s*\{', text, re.DOTALL
        ):
            for marks, kind, name in re.findall(
                r"((?:@\w+(?:\([^)]*\))?\s*)*)\b([A-Z]?\w+) (\w+)(?:,|$)", heads
            ):
                dashed = re.sub("[A-Z]", lambda one: f"-{one[0].lower()}", name)
                yield f"{prefix}.{dashed}", kind, marks


def bounds(marks: str) -> tuple[int, int | None] | None:
    """Least and greatest of a constraint; None without one."""
    if found := re.search(r"@(Range|Bytes)\b(?:\((.*?)\))?", marks):
        given = dict(re.findall(r"(\w+) = ([\w. <]+)", found[2] or ""))
        least, most = given.get("min", "1"), given.get("max", "1 << 30")
        return number(least), None if most.endswith("MAX_VALUE") else number(most)
    if "@Positive" in marks:
        return (0 if "@PositiveOrZero" in marks else 1), None
    return None


def number(written: str) -> int:
    """A number as Java has it, shifted or not."""
    value, *by = (int(part) for part in written.split("<<"))
    return value << by[0] if by else value


def test_a_number_or_size_may_be_here_what_its_record_lets_it_be() -> None:
    """By the constraints that the records state."""
    stated = {name: bounds(marks) for name, _, marks in components() if bounds(marks)}
    stated["server.tomcat.threads.max"] = (1, None)  # within a record of its own
    shared = {name: limits for name, limits in stated.items() if name in ALLOWED}
    assert len(shared) > 30
    for name, (least, most) in shared.items():
        assert (name, ALLOWED[name].least) == (name, least)
        if most is not None:
            assert (name, ALLOWED[name].greatest) == (name, most)


def test_every_setting_is_of_the_kind_of_its_property() -> None:
    """Whole numbers, sizes, spans and yes or no, by the records that Spring fills."""
    kinds = {name: kind for name, kind, _ in components()}
    shared = {name: KINDS[kinds[name]] for name in ALLOWED if kinds.get(name) in KINDS}
    assert len(shared) > 30
    assert {name: ALLOWED[name].kind for name in shared} == shared


def test_numbers_of_the_broker_are_these() -> None:
    """By what its own reader of settings asks for."""
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
