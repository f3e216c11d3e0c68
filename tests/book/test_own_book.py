"""A book of one's own out of a wheel: it brings what it needs, and tells nothing of its author."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
import yaml

from sizebook.book.guides import list_guides, read_guide
from sizebook.book.scaffold import NewChapter, start_book
from sizebook.lab.equipment import examine, examine_modes
from sizebook.model.errors import UsageError
from sizebook.store import Project

ROOT = Path(__file__).resolve().parents[2]


def run(*command, folder, **environment) -> str:
    """Run a command and return what it printed; its output is in the message if it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this checkout, built from a copy of what it is made of."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for each in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "LICENSE-CC-BY-4.0"):
        (source / each).write_bytes((ROOT / each).read_bytes())
    for each in ("src", "book", "env"):
        (source / each).symlink_to(ROOT / each)
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    run(*build, "-w", str(folder), ".", folder=source)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The environment of a process that has the wheel instead of the checkout."""
    folder = tmp_path_factory.mktemp("site")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index"]
    run(*install, "--target", str(folder), str(wheel), folder=folder)
    return {"PYTHONPATH": str(folder)}


@pytest.fixture(scope="module")
def book(installed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("books") / "mine"
    run(sys.executable, "-m", "sizebook.cli", "new", "book", str(folder), folder=folder.parent,
        **installed)  # fmt: skip
    return folder


def test_the_book_brings_the_wheel_that_it_was_made_with(wheel, book):
    """All files of the installed package, and no file that says where it was installed from."""
    (packed,) = (book / "wheels").glob("*.whl")
    assert packed.name == wheel.name
    one, other = zipfile.ZipFile(wheel), zipfile.ZipFile(packed)
    assert sorted(one.namelist()) == sorted(other.namelist())
    different = [name for name in one.namelist() if one.read(name) != other.read(name)]
    assert [name.rpartition("/")[2] for name in different] in ([], ["RECORD"])
    record = next(name for name in other.namelist() if name.endswith("/RECORD"))
    rows = other.read(record).decode().splitlines()
    assert sorted(row.split(",")[0] for row in rows) == sorted(other.namelist())


def test_the_documents_are_in_the_wheel(book, installed):
    """Each guide is printed out of the wheel as the checkout has it, without links to nowhere."""
    guides = list_guides()
    assert {"write", "audit", "readme", "method", "load", "inventories"} <= guides.keys()
    assert all(guides.values())
    listed = run(sys.executable, "-m", "sizebook.cli", "guide", folder=book, **installed)
    assert all(name in listed for name in guides)
    for name in guides:
        command = [sys.executable, "-m", "sizebook.cli", "guide", name]
        assert run(*command, folder=book, **installed).rstrip() == read_guide(name).rstrip()
        assert "{doc}" not in read_guide(name)
    with pytest.raises(UsageError, match="one of audit"):
        read_guide("nothing")


def test_no_file_tells_where_it_was_made(book):
    """Neither the author's folders nor another year than this one; every target is described."""
    texts = {path: path.read_text() for path in book.rglob("*")
             if path.is_file() and path.suffix != ".whl"}  # fmt: skip
    for path, text in texts.items():
        for place in (sys.prefix, str(Path.home()), str(book.parent), str(ROOT)):
            assert not re.search(rf"{re.escape(place)}\b", text), (path, place)
    config = yaml.safe_load(texts[book / "_config.yml"])
    assert config["copyright"] == time.strftime("%Y")
    steps = yaml.safe_load(texts[book / ".github/workflows/book.yml"])["jobs"]["book"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [
        "make test", "make book PROFILE=smoke",
    ]  # fmt: skip
    assert "ruff==" in texts[book / "env/test.lock"] and "--hash" in texts[book / "env/test.lock"]
    assert "pytest==" in texts[book / "env/requirements.lock"]


def test_targets_do_what_they_say(book):
    """JupyterLab starts as root and takes ARGS; the printed book is a target."""
    bin_ = f"BIN={Path(sys.executable).parent}"
    assert re.match(r"\d+\.\d+", run("make", "lab", bin_, "ARGS=--version", folder=book))
    lab = run("make", "-n", "lab", bin_, "ARGS=--no-browser", folder=book)
    assert ("--allow-root" in lab) == (os.geteuid() == 0) and "--no-browser" in lab
    assert "build --pdf" in run("make", "-n", "pdf", bin_, folder=book)
    whole = run("make", "-n", "book", bin_, folder=book)
    assert "sizebook run --profile quick" in whole and "sizebook build" in whole
    limited = run("make", "-n", "book", bin_, "BUDGET=45", folder=book)
    assert 'sizebook book --profile quick --budget "45"' in limited and "run --" not in limited
    assert all(f"make {name}" in run("make", "help", folder=book)
               for name in ("book", "test", "pdf", "lab", "doctor", "setup"))  # fmt: skip


def test_without_sizebook_the_wheel_is_asked_for(tmp_path):
    """One line says what is missing and where to put it."""
    start_book(tmp_path / "b", "Mine", NewChapter("one", "One"))
    assert not (tmp_path / "b" / "wheels").exists()  # this is a checkout, which is no wheel
    done = subprocess.run(
        ["make", "book"],
        cwd=tmp_path / "b",
        env={**os.environ, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "found no sizebook; expected its wheel in wheels/" in done.stderr


def test_the_doctor_asks_for_what_this_book_needs(tmp_path):
    """A book without the reference stack needs neither JVM nor database, and tries no modes."""
    start_book(tmp_path / "b", "Mine", NewChapter("one", "One"))
    names = {item.name for item in examine(Project(tmp_path / "b"))}
    assert {"CPUs", "memory", "disk", "measurement lock"} <= names
    assert names.isdisjoint({"JVM", "Maven", "stack build", "PostgreSQL", "HAProxy", "nginx"})
    assert examine_modes(Project(tmp_path / "b")) == ()
