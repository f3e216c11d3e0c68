"""The lock files, the conda environment, the Debian list and pyproject agree."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]


RUN, DEV = "requirements.lock", "dev.lock"


def locked(lock: str) -> dict[str, str]:
    """Return package to version of a lock file."""
    lines = (ROOT / "env" / lock).read_text().splitlines()
    pins = [re.match(r"([A-Za-z0-9._-]+)==([^ ;\\]+)", line) for line in lines]
    return {canonicalize_name(pin[1]): pin[2] for pin in pins if pin}


def declared() -> tuple[list[Requirement], list[Requirement]]:
    """Return what pyproject asks for: to read and measure, and to develop."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    parts = project["dependencies"], project["optional-dependencies"]["dev"]
    run, dev = ([Requirement(text) for text in part] for part in parts)
    return run, dev


def test_every_requirement_is_locked_within_its_bounds():
    """What pyproject asks for is pinned in the lock files, in a version that it allows."""
    run, dev = declared()
    for requirements, pins in ((run, locked(RUN)), (dev, locked(RUN) | locked(DEV))):
        for requirement in requirements:
            name = canonicalize_name(requirement.name)
            assert name in pins
            assert requirement.specifier.contains(pins[name], prereleases=True), name


def test_what_only_developers_need_is_locked_apart():
    """Who reads a published book installs none of it, and no package is pinned twice."""
    run, dev = locked(RUN), locked(DEV)
    assert set(run).isdisjoint(dev)
    assert {"mypy", "ruff", "pytest-xdist", "kubernetes-validate"} <= set(dev)


@pytest.mark.parametrize("lock", [RUN, DEV, "installer.lock"])
def test_every_pin_has_hashes_and_no_address(lock):
    """A lock file pins by hash and records no download address."""
    text = (ROOT / "env" / lock).read_text()
    entries = [e for e in re.split(r"\n(?=[A-Za-z0-9])", text) if "==" in e]
    assert len(entries) == len(locked(lock))
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text


def test_conda_environment_uses_the_same_pins():
    """Conda brings interpreter, Java, Maven and PostgreSQL; Python packages are the locks'."""
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())
    names = [entry for entry in conda["dependencies"] if isinstance(entry, str)]
    pip = next(entry["pip"] for entry in conda["dependencies"] if isinstance(entry, dict))
    assert pip == [f"-r env/{RUN}", f"-r env/{DEV}"]
    assert {name.split("=")[0] for name in names} >= {"python", "pip", "openjdk", "maven"}
    python = next(name for name in names if name.startswith("python="))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">=" + python.split("=")[1]


def test_java_release_agrees_everywhere():
    """The stack's release, the Debian package and the conda package name one Java."""
    pom = (ROOT / "stack" / "pom.xml").read_text()
    release = re.search(r"<java.version>(\d+)</java.version>", pom)[1]
    assert f"openjdk-{release}-jdk" in (ROOT / "env" / "apt.txt").read_text()
    assert f"openjdk={release}" in (ROOT / "environment.yml").read_text()


def test_make_targets_are_phony_and_described():
    """Targets that share a folder's name would do nothing if they were not phony."""
    text = (ROOT / "Makefile").read_text()
    phony = set(re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split())
    targets = re.findall(r"^([a-z]+):(.*)$", text, re.MULTILINE)
    assert {name for name, _ in targets} == phony
    assert all("##" in rest for _, rest in targets)


@pytest.mark.parametrize(
    "path",
    [
        "env/setup.sh",
        "src/sizebook/book/new/book/Makefile.j2",
        "src/sizebook/book/new/book/workflow.yml.j2",
        "tests/own_environment.py",
        "tests/book/accessibility.py",
    ],
)
def test_what_a_lock_names_is_all_that_is_installed(path):
    """With hashes pip refuses extras that a lock pins otherwise than their package asks."""
    text = (ROOT / path).read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if "--require-hashes" in line]
    assert lines or path.endswith("workflow.yml.j2")
    whole = re.search(r"^install\(\).*?^}", text, re.MULTILINE | re.DOTALL)
    for line in lines:
        said = whole[0] if line.strip().startswith("install ") else line
        assert said.count("--no-deps") >= said.count("pip install") > 0 or "--no-deps" in line


def test_setup_is_the_small_one_for_what_measures_nothing():
    """No Java, Maven or kernel for an audit or a site; all where another target is asked for."""

    def setup(*goals):
        done = subprocess.run(
            ["make", "-n", *goals], cwd=ROOT, capture_output=True, text=True, check=True
        )
        return next(line for line in done.stdout.splitlines() if "env/setup.sh" in line)

    for goals in (["audit"], ["build"], ["pdf"], ["publish", "ROUND=2026-01-01"], ["audit", "pdf"]):
        assert " FROM=published " in setup(*goals), goals
    for goals in (["book"], ["test"], ["setup"], ["audit", "book"], ["doctor"]):
        assert " FROM= " in setup(*goals), goals
    assert " FROM=published " in setup("book", "FROM=published")


def test_what_packing_a_wheel_leaves_is_nobodys_source():
    """Git, ruff and mypy leave it out, and so does make clean remove it."""
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    clean = re.search(r"^clean:.*\n\trm -rf (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for folder in ("build", "dist"):
        assert f"/{folder}/" in ignored
        assert folder in tools["ruff"]["extend-exclude"]
        assert any(re.match(each, f"{folder}/lib/x.py") for each in tools["mypy"]["exclude"])
        assert folder in clean[1].split()
