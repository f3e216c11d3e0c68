"""What a stranger looks for in a repository is there, is valid, and agrees with the rest."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.licenses import canonicalize_license_expression

import sizebook

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)")


def make_targets() -> set[str]:
    """Return the targets of the Makefile."""
    text = (ROOT / "Makefile").read_text()
    return set(re.findall(r"^([a-z]+):.*##", text, re.MULTILINE))


def read_yaml(path: Path) -> dict:
    """Return a file's mapping; ``on`` stays a word, which YAML 1.1 takes for true."""
    loaded = yaml.load(path.read_text(), Loader=yaml.BaseLoader)
    assert isinstance(loaded, dict)
    return loaded


def test_licences_are_named_and_their_texts_are_there():
    """The expression is one that SPDX knows; each part has its whole text in the repository."""
    expression = canonicalize_license_expression(PROJECT["license"])
    assert expression == PROJECT["license"] == "Apache-2.0 AND CC-BY-4.0"
    texts = [(ROOT / name).read_text() for name in PROJECT["license-files"]]
    assert "Apache License" in texts[0] and "END OF TERMS AND CONDITIONS" in texts[0]
    assert "Creative Commons Attribution 4.0 International" in texts[1]
    assert len(texts[1]) > 16_000
    readme = (ROOT / "README.md").read_text()
    assert all(f"]({name})" in readme for name in PROJECT["license-files"])


def test_the_citation_agrees_with_the_package():
    """Version, title and licences are those of the package; the date is one."""
    citation = read_yaml(ROOT / "CITATION.cff")
    assert citation["version"] == PROJECT["version"] == sizebook.__version__
    assert " AND ".join(citation["license"]) == PROJECT["license"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", citation["date-released"])
    required = {"cff-version", "message", "title", "authors", "type"}  # of the CFF 1.2.0 schema
    assert required <= citation.keys()
    heads = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heads[:2] == ["Unreleased", PROJECT["version"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_targets_that_are_there(path):
    """Each has bounded time and least rights, and calls nothing but targets of the Makefile."""
    workflow = read_yaml(path)
    assert workflow["permissions"] == {"contents": "read"}
    targets = re.findall(r"\bmake ([a-z]+)", path.read_text())
    assert set(targets) <= make_targets()
    for job in workflow["jobs"].values():
        assert "needs" in job or int(job["timeout-minutes"]) <= 90
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])


def test_the_oldest_python_and_java_are_tried():
    """The matrix begins with the versions that the package and the stack ask for."""
    jobs = read_yaml(ROOT / ".github" / "workflows" / "quick.yml")["jobs"]
    pythons = jobs["python"]["strategy"]["matrix"]["python"]
    javas = jobs["java"]["strategy"]["matrix"]["java"]
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    assert f"<java.version>{javas[0]}</java.version>" in (ROOT / "stack" / "pom.xml").read_text()
    assert (pythons, javas) == (["3.11", "3.12", "3.13", "3.14"], ["17", "21", "25"])


@pytest.mark.parametrize(
    "path", [each for each in FORMS if each.stem != "config"], ids=lambda p: p.stem
)
def test_an_issue_form_can_be_filled_in(path):
    """Each has a name, a description, and fields with ids of their own and labels."""
    form = read_yaml(path)
    assert {"name", "description", "body"} <= form.keys()
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert fields and all(field["attributes"]["label"] for field in fields)
    assert len({field["id"] for field in fields}) == len(fields)


def test_commit_hooks_are_the_commands_of_make_lint():
    """What is checked before a commit is what `make lint` checks, with the locked versions."""
    (repo,) = read_yaml(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repo["repo"] == "local"
    assert [hook["entry"] for hook in repo["hooks"]] == ["make lint"]
    assert "lint" in make_targets()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"])
def test_links_lead_to_files(name):
    """Every link to a file of the repository leads to one."""
    links = _LINK.findall((ROOT / name).read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_files_that_the_guides_name_are_there():
    """A module, folder or file in backticks that the guides give as an example exists."""
    for name in ("CONTRIBUTING.md", "book/design.md", "book/style.md"):
        text = (ROOT / name).read_text()
        places = re.findall(r"`((?:[\w.-]+/)+[\w.-]+)`", text)
        roots = (ROOT, ROOT / "src" / "sizebook")
        gone = [p for p in places if "NAME" not in p and not any((r / p).exists() for r in roots)]
        assert gone == [], name
