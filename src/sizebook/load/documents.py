"""XML documents made from a seed, and what a server that transforms them must find in them."""

from __future__ import annotations

import random
from dataclasses import dataclass

_UNITS = ("PC", "KG", "M", "L")
_STORAGES = ("0001", "0002", "RAW", "SEMI")


@dataclass(frozen=True)
class OrdersDocument:
    """Production orders with their components, as XML in UTF-8."""

    body: bytes
    rows: int
    """Components of released orders: a transformation makes a posting of each."""
    total: str
    """Sum over them of quantity times price, with two decimal places."""


def production_orders(size_bytes: int, seed: int) -> OrdersDocument:
    """Return a document of about ``size_bytes``; the same arguments give the same bytes.

    It ends with the first order that reaches the size, so it is longer by an order (1 kB) at most.
    Three orders of four are released. Raises ValueError if the size is below 1.
    """
    if size_bytes < 1:
        raise ValueError("a size of 1 byte at least")
    numbers = random.Random(f"production orders {seed}")
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<productionOrders plant="{1000 + seed % 9}" day="201106{1 + seed % 28:02}">\n'
    ]
    end = "</productionOrders>\n"
    length, order, rows, cents = len(parts[0]) + len(end), 0, 0, 0
    while length < size_bytes:
        text, found, value = _order(numbers, order)
        parts.append(text)
        length, order = length + len(text), order + 1
        rows, cents = rows + found, cents + value
    parts.append(end)
    return OrdersDocument("".join(parts).encode(), rows, f"{cents // 100}.{cents % 100:02}")


def _order(numbers: random.Random, order: int) -> tuple[str, int, int]:
    """Return an order's text, the postings that it gives, and their value in cents."""
    released = order % 4 != 3
    product = numbers.randrange(1, 500)
    lines = [
        f'<order number="{1_000_000 + order}" status="{"released" if released else "created"}">\n'
        f"  <material>P-{product:05}</material>\n"
        f"  <description>Pump {product} &amp; valve</description>\n  <components>\n"
    ]
    rows = cents = 0
    for position in range(1, numbers.randrange(2, 5)):
        material, quantity = numbers.randrange(1, 10_000), numbers.randrange(1, 500)
        price = numbers.randrange(1, 100_000)
        lines.append(
            f'    <component position="{position * 10:04}"><material>M-{material:06}</material>'
            f"<description>Part {material} &lt;series {material % 7}&gt;</description>"
            f"<storage>{_STORAGES[material % 4]}</storage>"
            f'<quantity unit="{_UNITS[material % 4]}">{quantity}</quantity>'
            f'<price currency="EUR">{price // 100}.{price % 100:02}</price></component>\n'
        )
        rows, cents = rows + 1, cents + quantity * price
    lines.append("  </components>\n</order>\n")
    return "".join(lines), rows if released else 0, cents if released else 0
