"""Access logs as they are written: minutes and endpoints, and nothing of the people in them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sizebook.model.errors import UsageError
from sizebook.usage.access_log import read_access_log
from sizebook.usage.reading import read_usage

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus" / "access-log"
NOON = 971211336
"""10 October 2000, 13:55:36 in California: the time in Apache's manual, in seconds since 1970."""


def write(folder: Path, *lines: str) -> Path:
    path = folder / "access.log"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_combined_lines_count_in_their_minute() -> None:
    """Two, none and two requests in three minutes; numbers in a path are one endpoint.

    What was no request of HTTP, a scan or a client that said nothing, is left out.
    """
    found = read_access_log(CORPUS / "combined.log")
    begin = float(NOON // 60 * 60)
    assert found.per_s == {begin: 2 / 60, begin + 60: 0.0, begin + 120: 2 / 60}
    assert (found.resolution_s, found.left_out) == (60, 2)
    assert found.mix["/apache_pb.gif"] == found.mix["/orders/{id}/lines/{id}"] == 0.5


def test_json_lines_of_several_servers_are_read() -> None:
    """ISO 8601, seconds and milliseconds since 1970; a line without a time is left out."""
    found = read_access_log(CORPUS / "lines.json")
    assert sum(found.per_s.values()) * 60 == pytest.approx(4)
    assert len(found.per_s) == 1
    assert found.mix == pytest.approx({"/a": 0.5, "/b/{id}": 0.25, "/c/{id}": 0.25})
    assert found.left_out == 1


def test_a_packed_log_is_the_same_log(tmp_path: Path) -> None:
    """Rotated logs need not be unpacked."""
    plain = CORPUS / "combined.log"
    packed = tmp_path / "combined.log"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_usage(str(packed)) == read_access_log(plain)


def test_a_time_without_zone_is_utc(tmp_path: Path) -> None:
    """Whatever zone the reader's machine is in."""
    path = write(tmp_path, '{"time":"2000-10-10T20:55:36","request":"GET / HTTP/1.1","status":200}')
    assert list(read_access_log(path).per_s) == [NOON // 60 * 60]


@pytest.mark.parametrize(
    "lines",
    [
        (),
        ("no log", "at all"),
        ('{"time": 1e999}', '{"time": -5}', '{"time": "soon"}', '{"time": [1]}', "{"),
        ("[99/Foo/2000:13:55:36 -0700]",),
    ],
)
def test_what_has_no_time_is_refused(tmp_path: Path, lines: tuple[str, ...]) -> None:
    """One line that names the file and the formats that can be read."""
    with pytest.raises(UsageError, match="Common or Combined") as caught:
        read_access_log(write(tmp_path, *lines))
    assert "\n" not in str(caught.value)


def test_a_clock_that_was_wrong_is_refused(tmp_path: Path) -> None:
    """A first line of 1980 would make half a million empty hours."""
    told = '{"time": "%s-01-01T00:00:00Z", "request": "GET / HTTP/1.1", "status": 200}'
    path = write(tmp_path, told % 1980, told % 2026)
    with pytest.raises(UsageError, match="five years"):
        read_access_log(path)


def test_a_broken_archive_is_refused(tmp_path: Path) -> None:
    """A log that was cut while it was packed."""
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(b"x" * 9999)[:-9])
    with pytest.raises(UsageError, match=r"cut\.gz"):
        read_access_log(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """As is a folder."""
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(UsageError):
            read_usage(str(path))
