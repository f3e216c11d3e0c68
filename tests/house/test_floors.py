"""The house: imports point down, every module is one subject, nothing names this workplace."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.working_copy import project_files

from sizebook.book.chapters import find_chapters
from sizebook.book.stamps import list_rooms

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "sizebook"
FLOORS = {
    "model": 0,
    "store": 1,
    "stats": 1,
    "hosts": 1,
    "gclog": 1,
    "load": 2,
    "probes": 2,
    "stack": 2,
    "checks": 2,
    "judge": 2,
    "traffic": 3,
    "lab": 3,
    "report": 4,
    "usage": 4,
    "chapters": 5,
    "book": 6,
    "budget": 7,
    "cli": 8,
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def imported_rooms(path: Path) -> set[str]:
    """Return the rooms of the package that a module imports, wherever in it."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("sizebook.")}
    return rooms & set(FLOORS)


def test_every_room_has_a_floor():
    """A new room needs a floor, so that it is known what may import it."""
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name[0] != "_"}
    assert rooms == set(FLOORS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path):
    """A module imports its own room and rooms on lower floors, nothing beside or above it."""
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if room not in FLOORS:
        assert imported_rooms(path) == set()
        return
    wrong = {r for r in imported_rooms(path) if r != room and FLOORS[r] >= FLOORS[room]}
    assert wrong == set()


ORDINARY = {"bindings", "calibration", "disk", "events", "instrument", "messaging", "network",
            "nginx", "reported", "virtualization", "xml"}  # fmt: skip
"""Ids of chapters that are words of the harness as well."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_chapter_has_a_room_of_its_own(path):
    """Nobody enters a chapter's room but its notebook, and the harness names no chapter."""
    rooms, own = PACKAGE / "chapters", path.relative_to(PACKAGE).parts
    imported = set()
    for node in ast.walk(tree := ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("sizebook.chapters."):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            imported |= {name.split(".")[2] for name in names}
    if rooms in path.parents:
        assert imported <= {own[1].removesuffix(".py")}
        return
    assert imported == set()
    ids = {each.id for each in find_chapters(ROOT)} - ORDINARY
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
             and isinstance(node.value, str)}  # fmt: skip
    assert words & ids == set()


def test_a_room_belongs_to_a_chapter():
    """Each is named after one, and its notebook enters it; another notebook does not."""
    rooms = {path.stem for path in (PACKAGE / "chapters").glob("[a-z]*")}
    entered = {
        each.id.replace("-", "_"): {
            path.relative_to(PACKAGE / "chapters").parts[0].removesuffix(".py")
            for path in list_rooms(each.notebook)
        }
        for each in find_chapters(ROOT)
    }
    assert rooms
    assert {chapter for chapter, names in entered.items() if names} == rooms
    assert all(names <= {chapter} for chapter, names in entered.items())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_is_one_subject(path):
    """No module is called after nothing, and none grows past what one can read at a sitting."""
    assert path.stem not in ("utils", "util", "helpers", "common", "misc")
    assert len(path.read_text().splitlines()) <= 400


def test_a_derived_answer_has_a_name_of_its_own():
    """Published digests answer by it: it is told in the code, and belongs to one function."""
    names = [
        each.args[0].value
        for path in MODULES
        for each in ast.walk(ast.parse(path.read_text()))
        if isinstance(each, ast.Call) and getattr(each.func, "id", "") == "derived"
    ]
    assert len(names) > 30
    assert len({*names}) == len(names)


def test_the_lab_process_never_imports_locust():
    """Locust patches the standard library for gevent; only the generator's process may have it."""
    code = (
        "import sys, sizebook.lab.measuring, sizebook.report, sizebook.book.notebooks; "
        "assert not {'locust', 'gevent'} & set(sys.modules), 'locust or gevent is loaded'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_starting_takes_no_longer_than_it_must():
    """No grammar of addresses is compiled, and no distribution made, before it is needed."""
    modules = "sizebook.lab, sizebook.report, sizebook.book.notebooks, sizebook.book.sphinx_ext"
    code = f"import sys, {modules}; print({{'lark', 'scipy.stats'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_an_interval_is_computed_without_distribution_objects():
    """Importing ``scipy.stats`` takes a page half a second of CPU time."""
    code = (
        "import sys; from sizebook.stats import decisions, intervals, noise; "
        "print(intervals.mean_interval([1, 2, 4]).low < 1, decisions.share_interval(2, 3)[0] > 0, "
        "'scipy.stats' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True False\n"


def test_nothing_names_a_machine_or_a_download_address():
    """Paths of one machine and hosts of package registries have no place in the tree."""
    words = ["/wo" + "rk/", "/fa" + "rm/", "pypi" + ".org", "files.python" + "hosted", "npm" + "js"]
    words += ["repo.maven" + ".apache", "repo1." + "maven", "/root" + "/"]
    pattern = re.compile("|".join(map(re.escape, words)))
    own = Path(__file__).resolve()
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in (ROOT / name for name in project_files())
        if path != own and path.suffix not in (".parquet", ".png", ".hlog", ".ico")
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


def test_notebooks_are_stored_without_outputs():
    """A template holds no result: every number in the book is made by running it."""
    import nbformat

    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            assert cell.get("outputs", []) == [], path.name
            assert cell.get("execution_count") is None, path.name
