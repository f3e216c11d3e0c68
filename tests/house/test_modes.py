"""A mode is told in its own module: no other names it, so that another one touches no other."""

import ast
from pathlib import Path
from typing import get_args

import pytest

import sizebook
from sizebook.hosts.kinds import KINDS, VIRTUAL_MACHINES
from sizebook.model.modes import Mode

PACKAGE = Path(sizebook.__file__).parent
OWN = ("bare", "namespace", "container", "gvisor", "uml", "qemu", "ssh")
ROOM = {PACKAGE / "model" / "modes.py", *(PACKAGE / "hosts" / f"{name}.py" for name in OWN)}
ORDINARY = {
    ("hosts/keepers.py", "ssh"): "a program",
    ("probes/forwarders.py", "ssh"): "a program",
    ("book/published/privacy.py", "bare"): "a word that is nobody's name",
    ("book/published/privacy.py", "container"): "a word that is nobody's name",
}
"""Places where the name of a mode is no mode."""
MODULES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path not in ROOM and PACKAGE / "chapters" not in path.parents
]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_other_module_names_a_mode(path):
    """Chapters do, as they are about modes; ``width="container"`` is a chart's."""
    lines = path.read_text().splitlines()
    named = {
        (path.relative_to(PACKAGE).as_posix(), node.value)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        and node.value in get_args(Mode)
        and "width" not in lines[node.lineno - 1]
    }
    assert named <= set(ORDINARY)


def test_each_mode_has_a_module_and_no_colour_of_another():
    """Virtual machines share one: they differ in devices, and in who runs the code."""
    assert len(OWN) == len(KINDS) - len(VIRTUAL_MACHINES) + 1
    colours = [kind.colour for kind in KINDS if kind.virtualization]
    assert sorted(colours) == list(range(len(colours)))
