"""Interval logs that somebody prepared: read as a log, or refused by its own error."""

from __future__ import annotations

import base64
import random
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import synthetic_bundles as made

from sizebook.stats import hdr
from sizebook.stats.histograms import (
    IntervalLogError,
    merge_intervals,
    read_interval_log,
    write_interval_log,
)


def write_line(path: Path, payload: str = "", **fields: str) -> None:
    """Write a log of one second, its line changed as told."""
    write_interval_log(path, made.closed_rows(), made.BEGIN)
    lines = path.read_text().splitlines()
    head = [line for line in lines if not line.startswith("Tag=")]
    tag, begin, length, most, packed = lines[len(head)].split(",")
    changed = {"tag": tag, "begin": begin, "length": length, "most": most, **fields}
    path.write_text("\n".join([*head, ",".join([*changed.values(), payload or packed])]) + "\n")


@pytest.mark.parametrize(
    "fields",
    [
        {"begin": "9" * 400 + ".0"},
        {"begin": "9" * 17 + ".0"},
        {"length": "9" * 20 + ".0"},
        {"most": "1." + "9" * 400},
        {"begin": "nan"},
        {"tag": "Tag=latency/measured/ok/" + "x" * 3000},
        {"tag": "Tag=latency/measured/ok/x/y"},
        {"tag": "Tag=latency/party/ok/x"},
    ],
)
def test_times_and_tags_have_bounds(tmp_path: Path, fields: dict[str, str]) -> None:
    """A time beyond any trial would be a window beyond any memory."""
    write_line(tmp_path / "latency.hlog", **fields)
    with pytest.raises(IntervalLogError, match=r"line 6 of latency\.hlog"):
        read_interval_log(tmp_path / "latency.hlog")


def test_a_line_without_end_is_not_kept(tmp_path: Path) -> None:
    """A file of one line is refused at its first half million letters."""
    write_line(tmp_path / "latency.hlog", "A" * 5_000_000)
    with pytest.raises(IntervalLogError, match="not an interval"):
        read_interval_log(tmp_path / "latency.hlog")


def packed(data: bytes) -> str:
    """Return a payload with these bytes inside, its outer header right."""
    inner = zlib.compress(data)
    return base64.b64encode(struct.pack(">II", 0x1C849314, len(inner)) + inner).decode()


def test_damaged_histograms_are_refused(tmp_path: Path) -> None:
    """Thousands of mutations: the package's errors come as one kind, what is read adds up."""
    log = tmp_path / "latency.hlog"
    write_line(log)
    text, _, payload = log.read_text().rstrip("\n").rpartition(",")
    good = zlib.decompress(base64.b64decode(payload)[8:])
    chance = random.Random(7)
    refused = 0
    for _ in range(2000):
        data = bytearray(good)
        for _ in range(chance.choice((1, 2, 4))):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF))
        data += bytes(chance.choice((0xFF, 0x80, 1)) for _ in range(chance.randrange(12)))
        log.write_text(f"{text},{packed(bytes(data))}\n")
        try:
            merged = merge_intervals(read_interval_log(log), phase=None)
        except IntervalLogError:
            refused += 1
        else:
            assert 0 <= merged.total_count <= 2**53
            assert np.isfinite(hdr.percentiles_ns(merged, [50.0])).all() or not merged.total_count
    assert 500 < refused < 2000
