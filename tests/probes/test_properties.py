"""Laws of the text format of Prometheus, for labels and values that a search makes up."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from sizebook.probes.exposition import read_points

NAMES = st.from_regex(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,8}", fullmatch=True)
LABELS = st.dictionaries(
    st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,8}", fullmatch=True),
    st.text(st.characters(codec="utf-8"), max_size=9) | st.text('{},="\\\n #', max_size=9),
    max_size=4,
)


def written(name, labels, value, blank):
    """Return a line as the client libraries write it."""
    escaped = {
        key: said.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
        for key, said in labels.items()
    }
    inner = ",".join(f'{key}="{said}"' for key, said in escaped.items())
    return f"{name}{{{inner}}}{blank}{value!r}\n" if inner else f"{name}{blank}{value!r}\n"


@given(NAMES, LABELS, st.floats(), st.sampled_from([" ", "  ", "\t"]))
def test_a_point_comes_back(name, labels, value, blank):
    """Whatever its labels hold: braces, commas, quotes, ends of lines."""
    text = "# HELP x y\n" + written(name, labels, value, blank) + "other 1\n"
    point = next(iter(read_points(text, {name})))
    assert (point.name, point.labels) == (name, labels)
    assert point.value == value or (math.isnan(point.value) and math.isnan(value))
