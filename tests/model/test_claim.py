"""A claim is checked when it is built."""

import pytest

from sizebook.model.claim import (
    RELATION_WORDS,
    RELATIONS,
    Claim,
    ClaimOutcome,
    Comparison,
    own_claim,
)


@pytest.mark.parametrize(
    "fields",
    [
        {"relation": "bigger"},
        {"claim_id": "own-x"},
        {"source": "sizebook"},
        {"transferable": "maybe: who knows"},
    ],
)
def test_a_claim_that_fits_nothing_is_refused(fields: dict[str, str]) -> None:
    """An unknown relation, an own id for a report's claim or the reverse, an unknown transfer."""
    right = {"claim_id": "gw-x", "source": "gateway-2012", "statement": "x.", "relation": "gt"}
    assert Claim(**right).is_transferable
    with pytest.raises(ValueError, match="claim"):
        Claim(**right | fields)


def test_own_claims_are_told_by_id_and_source() -> None:
    """A chapter's own claim can be confused with no report's."""
    claim = own_claim("machinery", "It is slower.", "gt")
    assert (claim.claim_id, claim.source, claim.reported_ratio) == ("own-machinery", "sizebook",
                                                                    None)  # fmt: skip


def test_transferable_is_taken_apart() -> None:
    """The word decides, the reason stands behind it."""
    claim = Claim("gw-x", "gateway-2012", "x.", "gt", transferable="no: another product")
    assert (claim.is_transferable, claim.limits) == (False, "another product")


def test_every_relation_has_words() -> None:
    """Cards can name each."""
    assert set(RELATION_WORDS) == set(RELATIONS)


@pytest.mark.parametrize(
    ("relation", "reported", "intervals", "size"),
    [
        ("gt", 3.0, [(1.5, 2.5)], "smaller"),
        ("gt", 3.0, [(3.5, 9.0)], "larger"),
        ("increases", 3.0, [(2.0, 4.0)], "within"),
        ("lt", 0.001, [(0.04, 0.2)], "smaller"),
        ("decreases", 0.5, [(0.1, 0.3)], "larger"),
        ("gt", 3.0, [(3.5, 9.0), (3.1, 4.0)], "larger"),
        ("gt", 3.0, [(3.5, 9.0), (1.5, 2.5)], None),
        ("gt", 3.0, [(None, None)], None),
        ("gt", None, [(1.5, 2.5)], None),
        ("approx", 1.0, [(0.95, 1.05)], None),
    ],
)
def test_a_confirmed_effect_has_a_size_beside_the_reported(relation, reported, intervals, size):
    """Seen in the direction that is claimed; all comparisons have to lie on the same side."""
    told = (3, "confirmed", "")
    pairs = tuple(Comparison({"a": 1}, {"a": 2}, None, *each, *told) for each in intervals)
    fields = ("gw-x", "gateway-2012", "x.", "c", "m", relation)
    rest = ("", None, None, None, 3, 1.1, "the chapter", reported, "", pairs)
    assert ClaimOutcome(*fields, "confirmed", *rest).size == size
    assert ClaimOutcome(*fields, "undetermined", *rest).size is None
