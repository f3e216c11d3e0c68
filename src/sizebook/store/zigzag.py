"""Whole numbers as bytes that lie beside those of their kind: the high ones of all, then the next.

A number n is told as 2 n, or as -2 n - 1 below zero, so that small ones have few bytes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WIDEST = 8
"""Bytes of the widest number."""


def fold(numbers: NDArray[np.int64]) -> tuple[int, bytes]:
    """Return how many bytes each number has, 0 to ``WIDEST``, and the bytes, the highest first."""
    folded = ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)
    width = (int(folded.max(initial=0)).bit_length() + 7) // 8
    planes = folded.astype(">u8").view(np.uint8).reshape(-1, WIDEST)[:, WIDEST - width :].T
    return width, planes.tobytes()


def unfold(data: bytes, width: int, count: int) -> NDArray[np.int64]:
    """Return ``count`` numbers of ``width`` bytes each. Raises ValueError for other data."""
    if not 0 <= width <= WIDEST:
        raise ValueError(f"steps of other than 0 to {WIDEST} bytes")
    planes = np.zeros((count, WIDEST), np.uint8)
    planes[:, WIDEST - width :] = np.frombuffer(data, np.uint8).reshape(width, count).T
    folded = planes.view(">u8").ravel().astype(np.uint64)
    return (folded >> np.uint64(1)).view(np.int64) ^ -(folded & np.uint64(1)).view(np.int64)
