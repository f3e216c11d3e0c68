"""The binary row of a recorded request, as the generator packs it and the lab reads it."""

from __future__ import annotations

import struct

import numpy as np

ROW = struct.Struct("<qqqIIIIIHHH")
"""Intended start, start, end (CLOCK_MONOTONIC ns); received, body, sent bytes; iteration, user;
name id, status, error id."""

ROW_TYPE = np.dtype(
    [
        ("intended_ns", "<i8"),
        ("start_ns", "<i8"),
        ("end_ns", "<i8"),
        ("received_bytes", "<u4"),
        ("body_bytes", "<u4"),
        ("sent_bytes", "<u4"),
        ("iteration", "<u4"),
        ("user", "<u4"),
        ("name", "<u2"),
        ("status", "<u2"),
        ("error", "<u2"),
    ]
)
assert ROW_TYPE.itemsize == ROW.size

LATE_NS = 1_000_000
"""A request that starts later than this after its intended start is counted as a late start."""
