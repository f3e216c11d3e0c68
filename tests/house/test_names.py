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
    """Those with a leading underscore are their module's own affair."""
    places = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    shared = {name: found for name, found in places.items() if len(found) > 1}
    assert {name: found for name, found in shared.items() if name not in SHARED} == {}
