"""One word a concept: whoever reads a class's name knows which one is meant."""

import ast
from collections import defaultdict
from pathlib import Path

import sizebook

PACKAGE = Path(sizebook.__file__).parent
SHARED = {"Comparison", "Interval"}
"""Names of two classes each that are still to be parted: a claim's and a statistic's comparison, a
histogram log's and an estimate's interval."""


def test_no_two_classes_share_a_name():
    """Those with a leading underscore are their module's own affair; a chapter's room is its own.

    No room imports another one (``test_floors``): a name of one room's only meets the harness's.
    """
    places = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    shared = {name: found for name, found in places.items() if len(set(map(_home, found))) > 1}
    shared = {name: found for name, found in shared.items() if not all(map(_is_room, found))}
    assert {name: found for name, found in shared.items() if name not in SHARED} == {}


def test_a_room_has_one_class_of_a_name():
    """Its modules know each other."""
    places = defaultdict(list)
    for path in sorted((PACKAGE / "chapters").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                place = str(path.relative_to(PACKAGE))
                places[_home(place), node.name].append(place)
    assert {key: found for key, found in places.items() if len(found) > 1} == {}


def _home(place):
    """Return what a class belongs to: a chapter's room, or its own module and line."""
    return "/".join(place.split("/")[:2]).partition(".py")[0] if _is_room(place) else place


def _is_room(place):
    return place.startswith("chapters/")
