"""A claim is checked when it is built."""

import pytest

from sizebook.model.claim import RELATION_WORDS, RELATIONS, Claim, own_claim


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
