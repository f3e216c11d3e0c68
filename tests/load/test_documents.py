"""Documents are the same for the same seed, and hold what they say they hold."""

import xml.etree.ElementTree as ET
from decimal import Decimal

import pytest

from sizebook.load.documents import production_orders


def test_what_is_told_is_what_is_in_it():
    """Rows and total by another reading of the XML; the size is reached and hardly passed."""
    document = production_orders(100_000, 7)
    root = ET.fromstring(document.body)
    released = [order for order in root.iter("order") if order.get("status") == "released"]
    components = [one for order in released for one in order.iter("component")]
    total = sum(
        Decimal(one.findtext("quantity")) * Decimal(one.findtext("price")) for one in components
    )
    assert 0 < len(released) < len(root.findall("order"))
    assert document.rows == len(components) > 100
    assert document.total == f"{total:.2f}"
    assert 100_000 <= len(document.body) < 101_000


def test_the_seed_decides():
    """The same seed, the same bytes; another seed, other ones."""
    assert production_orders(5000, 1) == production_orders(5000, 1)
    assert production_orders(5000, 1).body != production_orders(5000, 2).body


@pytest.mark.parametrize("size", [1, 120, 200])
def test_small_documents_are_documents(size):
    """Down to no order at all."""
    document = production_orders(size, 3)
    assert ET.fromstring(document.body).tag == "productionOrders"
    if document.rows == 0:
        assert document.total == "0.00"


def test_no_size_is_an_error():
    """Below 1 byte there is no document."""
    with pytest.raises(ValueError, match="1 byte"):
        production_orders(0, 1)
