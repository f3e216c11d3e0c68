"""A number as the calculator shows it, in Python and in the page's script alike."""

from __future__ import annotations

import math


def shown(value: float) -> str:
    """Return a number with two decimals below 10, one below 100, none above or if it is whole.

    Halves go up. The script does so too: by themselves the two languages round halves differently.
    """
    places = 2 if value < 10 else 1 if value < 100 else 0
    scale = 10**places
    rounded = math.floor(value * scale + 0.5) / scale
    return f"{rounded:.{0 if rounded == math.floor(rounded) else places}f}"
