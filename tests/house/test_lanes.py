"""Lanes: a test starts what its markers name, and nothing else; the quick lane starts nothing."""

import re
import subprocess
import sys

import pytest
from tests.asking import asked_again
from tests.lanes import ALONE, FIRST, piece_of, rank
from tests.needs import NEEDS, OF, TESTS, needs_of_command

ROOT = TESTS.parent


def run_pytest(folder, body, *, marker=""):
    """Run one test, which may call ``start(words)``, with the watch; return what came of it."""
    (folder / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\npytest_plugins = ['tests.needs']\n"
    )
    decorated = f"@pytest.mark.{marker}\n" if marker else ""
    (folder / "test_one.py").write_text(
        "import subprocess, sys\nimport pytest\n"
        f"JAVA = {str(folder / 'java')!r}\n"
        f"{decorated}def test_one():\n    {body}\n"
    )
    (folder / "java").write_text("#!/bin/sh\nsleep 1\n")
    (folder / "java").chmod(0o755)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--strict-markers", folder]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


DIRECTLY = "subprocess.run([JAVA])"
BY_ANOTHER = "subprocess.run([sys.executable, '-c', f'import os; os.system({JAVA!r})'])"


@pytest.mark.jvm  # by the name of the program
@pytest.mark.parametrize("body", [DIRECTLY, BY_ANOTHER])
def test_a_jvm_without_its_marker_is_found(tmp_path, body):
    """Whoever starts it; the message names the need and the command."""
    done = run_pytest(tmp_path, body)
    assert done.returncode == 1, done.stdout
    assert re.search(r"needs jvm \(.*java", done.stdout)
    assert "1 error" in done.stdout


@pytest.mark.jvm  # by the name of the program
@pytest.mark.parametrize("body", [DIRECTLY, BY_ANOTHER])
def test_a_jvm_with_its_marker_is_in_order(tmp_path, body):
    done = run_pytest(tmp_path, body, marker="jvm")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("command", "needs"),
    [
        (["/usr/lib/jvm/x/bin/java", "-version"], {"jvm"}),
        (["unshare", "-U", "/opt/bin/postgres", "-D", "x"], {"database"}),
        (["ip", "netns", "exec", "a", "java", "-jar", "x"], {"jvm", "root"}),
        ([sys.executable, "-m", "sizebook.load.generator"], {"measure"}),
        ([sys.executable, "-c", "from jupyter_book.cli.main import main; main()"], {"site"}),
        ([sys.executable, "-m", "sizebook.cli", "plan"], set()),
        ([sys.executable, "-c", "import sizebook.load.generator, sphinx"], set()),
    ],
)
def test_what_a_command_needs(command, needs):
    """By its program, or what Python is told to run; programs that start others are looked past."""
    assert needs_of_command(command) == needs


def test_the_quick_lane_leaves_out_every_need():
    """The script and the list of needs agree."""
    script = (TESTS / "run.sh").read_text()
    (named,) = re.findall(r'none="not \((.*)\)"', script)
    assert named.split(" or ") == sorted(NEEDS)


def test_places_with_needs_exist():
    """A renamed module keeps its needs."""
    for place, needs in OF.items():
        path, _, fixture = place.partition("@")
        path = path.rstrip("/")
        assert (TESTS / path).exists(), place
        assert set(needs) <= set(NEEDS), place
        if fixture:
            files = [TESTS / path] if path.endswith(".py") else sorted((TESTS / path).rglob("*.py"))
            assert any(f"def {fixture}(" in file.read_text() for file in files), place


def test_chapters_are_one_piece_and_come_first():
    """But for modules with a copy of the project each."""
    assert piece_of("smoke/test_smoke.py") == piece_of("smoke/test_disk.py") == "smoke"
    assert piece_of(f"smoke/{ALONE[0]}") == f"smoke/{ALONE[0]}"
    assert piece_of("stats/test_hdr.py") == "stats/test_hdr.py"
    paths = ["stats/test_hdr.py", "stack/test_xml.py", "smoke/test_disk.py"]
    assert sorted(paths, key=rank) == paths[::-1]
    for place in FIRST:
        assert (TESTS / place).exists(), place
    for name in ALONE:
        assert (TESTS / "smoke" / name).exists(), name


def test_a_trial_is_asked_for_again_with_a_reason():
    """The first that is fit is taken; none at all is a failure that tells the reason."""
    given = iter([1, 2, 3])
    with pytest.warns(UserWarning, match=r"asked again \(1 of 5\): too small"):
        assert asked_again(lambda: next(given), lambda number: number > 1, "too small") == 2
    with (
        pytest.warns(UserWarning, match="too small"),
        pytest.raises(AssertionError, match="too small, 2 times"),
    ):
        asked_again(lambda: 0, lambda number: number > 1, "too small", tries=2)
