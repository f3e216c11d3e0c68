"""What a plan knows of a load's settings is what the generator will know, without running it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sizebook.load import declared
from sizebook.load.declared import read_declared
from sizebook.load.settings import Setting
from sizebook.store import find_project

LOCUSTFILES = sorted(find_project().locustfiles.glob("*.py"))
TOLD = """
import json, runpy, sys
from sizebook.load.settings import Setting
told = {}
for path in sys.argv[1:]:
    classes = [c for c in runpy.run_path(path).values()
               if isinstance(c, type) and c.__module__ == "<run_path>" and "settings" in vars(c)]
    told[path] = {n: [s.default, list(s.choices)] for c in classes for n, s in c.settings.items()}
print(json.dumps(told))
"""


def test_what_is_read_is_what_the_classes_have() -> None:
    """Names, defaults, types and choices of every locustfile; choices that are computed are open.

    The other process imports Locust, which patches what it is imported into.
    """
    command = [sys.executable, "-c", TOLD, *map(str, LOCUSTFILES)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for path in LOCUSTFILES:
        read = read_declared(path)
        assert read is not None, path.name
        had = told[str(path)]
        assert {name: one.default for name, one in read.items()} == {
            n: d for n, (d, _) in had.items()
        }
        for name, setting in read.items():
            assert type(setting.default) is type(had[name][0])
            assert list(setting.choices) in (had[name][1], [])
    settled = sum(bool(one.choices) for path in LOCUSTFILES for one in read_declared(path).values())
    assert settled > 8  # words, and words of several constants


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (
            'A = ("x", "y")\nB, C = "z", 1 << 3\nclass U:\n'
            '    settings = {"way": Setting("x", (*A, B)), "n": Setting(C, least=-2 * C)}\n',
            {"way": Setting("x", ("x", "y", "z")), "n": Setting(8, least=-16)},
        ),
        (
            "A = tuple(map(str, range(3)))\n"
            "class U:\n    settings: dict = {'n': Setting('1', A)}\n",
            {"n": Setting("1")},
        ),
        ("class U:\n    settings = {'n': Setting(read())}\n", None),
        ("class U:\n    settings = {**OTHERS, 'n': Setting(1)}\n", None),
        ("class U:\n    settings = dict(n=Setting(1))\n", None),
        ("class U:\n    settings = {'n': Setting(1)}\nclass V:\n    settings = {}\n", None),
        ("class U:\n    settings = {'n': Setting(1 << (1 << 40))}\n", None),
        ("class U:\n    settings = {'n': Setting(1, 2, 3, 4, 5, 6), 3: 4}\n", None),
        ("class U:\n    pass\n", None),
        ("class U(:\n", None),
    ],
)
def test_what_is_written_out_is_read_and_nothing_guessed(
    tmp_path: Path, body: str, read: dict[str, Setting] | None
) -> None:
    """Nothing in the file runs, however it is written."""
    locustfile = tmp_path / "load.py"
    locustfile.write_text(f"raise SystemExit(1)\n{body}")
    assert read_declared(locustfile) == read


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        (Setting(100), -1, "a number, 0 or more"),
        (Setting(0.5), float("nan"), "a number, 0 or more"),
        (Setting(1, least=1, greatest=9), 0, "a number, 1 or more, 9 at most"),
        (Setting(1, least=1, greatest=9), 10, "a number, 1 or more, 9 at most"),
        (Setting(-3), -4, "a number, -3 or more"),
        (Setting(-3), -3, ""),
        (Setting(1), True, "a value of type int"),
        (Setting(True), False, ""),
        (Setting("a"), "", ""),
        (Setting("a", ("a", "b")), "c", "one of a, b"),
    ],
)
def test_a_number_is_none_below_its_least(
    setting: Setting, value: float | str, expected: str
) -> None:
    """Sizes, counts and seconds cannot be negative, unless the file says so."""
    assert setting.expected(value) == expected


def test_a_text_is_taken_apart_once_and_another_one_anew(tmp_path, monkeypatch) -> None:
    """However often designs ask; a file that was edited is another text."""
    parsed: list[bytes] = []
    parse = declared.ast.parse
    monkeypatch.setattr(declared.ast, "parse", lambda text: parsed.append(text) or parse(text))
    text = "class Once(User):\n    settings = {'think_s': Setting(%s)}  # asked for several times\n"
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(text % 3)
    found = [read_declared(tmp_path / name) for name in ("one.py", "two.py", "one.py")]
    assert [each["think_s"].default for each in found] == [3, 3, 3]
    (tmp_path / "one.py").write_text(text % 4)
    assert read_declared(tmp_path / "one.py")["think_s"].default == 4
    assert parsed == [(text % 3).encode(), (text % 4).encode()]
