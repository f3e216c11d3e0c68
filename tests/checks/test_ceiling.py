"""SB204 says which ceiling a trial was judged by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import synthetic_bundles as made

from sizebook.checks import RULES
from sizebook.model.load import ClosedLoop, OpenArrivals

RULE = next(rule for rule in RULES if rule.id == "SB204-ceiling")
DUE = np.arange(made.BEGIN, made.END, made.S // 100, dtype=np.int64)
OPEN = {
    "rows": made.open_rows(DUE, np.full(DUE.size, 20_000_000)),
    "arrivals": OpenArrivals(kind="constant", rate_per_s=100.0),
}
CLOSED = {"arrivals": ClosedLoop(users=4)}


@pytest.mark.parametrize(
    ("load", "kind", "words", "doubt"),
    [
        (OPEN, {"ceiling_kind": "open"}, "of the open ceiling of 1,000/s", False),
        (OPEN, {"ceiling_kind": "closed"}, "of the closed ceiling of 1,000/s", True),
        (OPEN, {}, "of the closed ceiling of 1,000/s", True),
        (CLOSED, {"ceiling_kind": "closed"}, "of the closed ceiling of 1,000/s", False),
        (CLOSED, {}, "of the closed ceiling of 1,000/s", False),
    ],
)
def test_the_finding_names_the_ceiling(
    make_bundle: Any, load: dict[str, Any], kind: dict[str, str], words: str, doubt: bool
) -> None:
    """Bundles of before the open ceiling was known have no kind: theirs is the closed loop's."""
    finding = RULE(make_bundle(**load, execution_facts={"ceiling_per_s": 1000.0} | kind))
    assert finding.passed
    assert words in finding.message
    assert ("was not known" in finding.message) is doubt
