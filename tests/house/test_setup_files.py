"""The lock file, the conda environment, the Debian list and pyproject agree."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]


def locked() -> dict[str, str]:
    """Return package to version of the lock file."""
    lines = (ROOT / "env" / "requirements.lock").read_text().splitlines()
    pins = [re.match(r"([A-Za-z0-9._-]+)==([^ ;\\]+)", line) for line in lines]
    return {canonicalize_name(pin[1]): pin[2] for pin in pins if pin}


def declared() -> list[Requirement]:
    """Return what pyproject asks for, development tools included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    return [Requirement(text) for text in texts]


def test_every_requirement_is_locked_within_its_bounds():
    """What pyproject asks for is pinned in the lock file, in a version that it allows."""
    pins = locked()
    for requirement in declared():
        name = canonicalize_name(requirement.name)
        assert name in pins
        assert requirement.specifier.contains(pins[name], prereleases=True), name


def test_every_pin_has_hashes_and_no_address():
    """The lock file pins by hash and records no download address."""
    text = (ROOT / "env" / "requirements.lock").read_text()
    entries = [e for e in re.split(r"\n(?=[A-Za-z0-9])", text) if "==" in e]
    assert len(entries) == len(locked())
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text


def test_conda_environment_uses_the_same_pins():
    """Conda brings interpreter, Java, Maven and PostgreSQL; Python packages are the lock file's."""
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())
    names = [entry for entry in conda["dependencies"] if isinstance(entry, str)]
    pip = next(entry["pip"] for entry in conda["dependencies"] if isinstance(entry, dict))
    assert pip == ["-r env/requirements.lock"]
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
