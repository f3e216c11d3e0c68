"""Logs by columns: what comes out is what went in, whatever the log, and damage is told."""

import json
import random
import re

import pytest

from sizebook.model.errors import BundleError
from sizebook.store import log_columns
from sizebook.store.log_columns import LogError, read_columns, write_columns
from sizebook.store.packs import pack, read_pack

LOG = b"""\
[35.300s][29725860417330ns][info][gc,start       ] GC(247) Pause Young (Allocation Failure)
[35.301s][29725861597552ns][info][gc,heap        ] GC(247) DefNew: 139984K(157248K)->576K(157248K)
[35.301s][29725861608148ns][info][gc,cpu         ] GC(247) User=0.00s Sys=0.01s Real=0.00s
[35.399s][29725960417330ns][info][gc,start       ] GC(248) Pause Young (100% of 0x00ff, 007)
[36.001s][29726561597552ns][info][gc,heap        ] GC(248) DefNew: 139984K(157248K)->0K(157248K)
[36.001s][29726561608148ns][info][gc,cpu         ] GC(248) User=1.10s Sys=0.00s Real=12.07s
"""


def plain(lines):
    """Return lines without the clock of the JVM."""
    return b"".join(line.split(b"]", 2)[2] + b"\n" for line in lines.splitlines())


@pytest.mark.parametrize(
    "log",
    [
        LOG,
        plain(LOG),
        LOG + b"\n",
        LOG + b"a line without a clock\n",
        b"\n",
        b"no number\n" * 3,
        b"%d %s 5%\n%% 17 \\ 0.0 00 .5 1.\n",
        b"999999999999999999 1.000000000000000001\n0 0.0\n",
        LOG.replace(b"[35.300s]", b"[0.000s]").replace(b"[29725860417330ns]", b"[1ns]"),
        LOG.replace(b"[36.001s]", b"[036.001s]") + plain(LOG),
    ],
)
def test_a_log_comes_back_to_the_last_byte(log):
    """With a clock, without, with zeros before numbers, and with what is a mark elsewhere."""
    columns = write_columns(log)
    assert columns is not None
    assert read_columns(columns, len(log)) == log
    with pytest.raises(LogError):
        read_columns(columns, len(log) - 1)


def test_any_text_comes_back_or_is_left_as_it_is():
    """Drawn from the characters that matter."""
    draw = random.Random(5)
    kept = 0
    for _ in range(400):
        log = "".join(draw.choices("0123789.[]sn%K(\n", k=draw.randint(1, 120))).encode() + b"\n"
        columns = write_columns(log)
        if columns is not None:
            kept += 1
            assert read_columns(columns, len(log)) == log
    assert kept > 300


@pytest.mark.parametrize(
    "log", [b"", LOG[:-1], LOG + b"\xff\n", LOG + b"a\0b\n", b"1234567890123456789\n"],
)  # fmt: skip
def test_what_has_no_such_form_is_refused(log):
    """It is packed as it is."""
    assert write_columns(log) is None


def test_a_log_that_is_too_long_is_packed_as_it_is(monkeypatch):
    """And what claims to be one is not read."""
    columns = write_columns(LOG)
    monkeypatch.setattr(log_columns, "MOST_LOG_BYTES", len(LOG) - 1)
    assert write_columns(LOG) is None
    with pytest.raises(LogError, match="at most"):
        read_columns(columns, 10**9)


def test_numbers_of_a_shape_lie_in_columns():
    """What is the same in each line, or one more, takes next to no bytes."""
    many = b"".join(b"GC(%d) took %d us of 157248K\n" % (n, 900 + n % 7) for n in range(1000))
    columns = write_columns(many)
    head = json.loads(columns.partition(b"\n")[0])
    assert [text for text, _ in head["shapes"]] == ["GC(\0) took \0 us of \0K"]
    assert (head["lines"], head["bytes"], head["clock"]) == (1000, len(many), None)
    assert len(columns) < len(many) / 3


def test_damage_is_told_in_one_line():
    """Bytes changed, missing or added, and what would unpack to more than it says."""
    columns = write_columns(LOG)
    head, _, body = columns.partition(b"\n")
    told = json.loads(head)

    def broken(**changes):
        return json.dumps(told | changes).encode() + b"\n" + body

    shapes = told["shapes"]
    for data in (
        b"",
        b"{}\n",
        columns[:-1],
        columns + b"\0",
        b"[" * 100_000 + b"\n",
        broken(version=2),
        broken(lines=10**9),
        broken(lines=0),
        broken(bytes=len(LOG) - 1),
        broken(shapes=shapes[:-1]),
        broken(shapes=[[shapes[0][0] * 10_000, shapes[0][1]], *shapes[1:]]),
        broken(shapes=[[shapes[0][0] + "\0", shapes[0][1]], *shapes[1:]]),
        broken(shapes=[[shapes[0][0], [9] * len(shapes[0][1])], *shapes[1:]]),
        broken(shapes=[[shapes[0][0], [-1] * len(shapes[0][1])], *shapes[1:]]),
        broken(clock=[0, 9]),
        broken(clock=[1]),
        broken(clock=None),
    ):
        with pytest.raises(LogError, match="no form that is known"):
            read_columns(data, 10**6)


def test_a_pack_has_logs_of_collectors_by_columns(tmp_path):
    """Nobody who reads it sees that; a damaged one is refused; other files lie as they are."""
    files = {"t/gc/app-1.log": LOG * 50, "t/gc/odd.log": b"\xff", "t/logs/app-1.log": LOG}
    pack(tmp_path / "a.tar.xz", files)
    assert read_pack(tmp_path / "a.tar.xz") == files
    pack(tmp_path / "b.tar.xz", {"t/gc/app-1.log.columns": write_columns(LOG)[:-3]})
    with pytest.raises(BundleError, match=re.escape("b.tar.xz with a log in no form")):
        read_pack(tmp_path / "b.tar.xz")
