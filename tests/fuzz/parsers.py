"""Every parser of what others wrote, as a function of bytes, with the errors that it documents.

A ``UserError`` is in order everywhere: it is what a user is meant to read. Each parser has a corpus
of small real samples in ``corpus/``, in a folder of its name.
"""

from __future__ import annotations

import ast
import contextlib
import http.client
import io
import json
import lzma
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl
from synthetic_bundles import write_synthetic
from tampered import put_file
from tests.fuzz.hunting import CORPUS

from sizebook.book import records
from sizebook.book.audit import outputs
from sizebook.book.audit.targets import PageFile
from sizebook.book.compared.reproductions import (
    count_chapters,
    read_reproductions,
    reproductions_folder,
)
from sizebook.book.crate.audit import audit_crate
from sizebook.book.crate.received import is_crate_archive, unpack_crate
from sizebook.book.crate.rules import METADATA
from sizebook.chapters.failover.balancer_log import LOG, node_states, odd_requests
from sizebook.gclog import advise, read_gc_log, summarise
from sizebook.judge import judge_results, read_results
from sizebook.judge.comparing import compare_results
from sizebook.judge.page import render_page
from sizebook.judge.summary import as_data
from sizebook.lab.inventories import read_inventory
from sizebook.load.answer import ClosedByServerError, Exchange, read_answer
from sizebook.load.control import LOCUSTFILES, GeneratorClient
from sizebook.load.protocol import ROWS_FILE
from sizebook.load.wire import ProtocolError
from sizebook.model.errors import UserError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.server import CounterSource, Told
from sizebook.probes.balancer import BalancerProbe
from sizebook.probes.base import Unavailable
from sizebook.probes.exposition import ExpositionError, refuse_other_text
from sizebook.probes.external_counters import StubStatus, told_probe
from sizebook.probes.gathering import explain, gather
from sizebook.probes.hsperfdata import PerfDataError, read_layout
from sizebook.probes.jvm import find_counters, read_counters
from sizebook.probes.native_memory import parse_summary
from sizebook.probes.series import SERIES, prepare
from sizebook.stack.balancer import Balancer
from sizebook.stats.histograms import IntervalLogError, merge_intervals, read_interval_log
from sizebook.store import Project, open_bundle
from sizebook.store.bundles import COUNTERS, REQUESTS
from sizebook.store.counter_file import make_rows, read_series
from sizebook.store.derived import derive
from sizebook.store.digest import DIGEST
from sizebook.store.left_out import LEFT_OUT, parse_left_out, write_left_out
from sizebook.store.log_columns import LogError, read_columns
from sizebook.store.packs import unpack
from sizebook.store.received import unpack_bundles
from sizebook.store.record_file import RECORD, parse_record
from sizebook.store.rounds import ROUND, open_round
from sizebook.store.tables import TableError
from sizebook.traffic.preparing import prepare as prepare_load
from sizebook.traffic.reading import parse_traffic
from sizebook.traffic.writing import write_load
from sizebook.usage.rates import busiest_hours
from sizebook.usage.reading import read_usage


@dataclass(frozen=True)
class Parser:
    """One parser of foreign input."""

    run: Callable[[bytes, Path], object]
    """Gets an input, and an empty folder to write in."""
    documented: tuple[type[BaseException], ...] = ()
    """Errors beside ``UserError`` that it says it raises, and that its callers handle."""
    cost: int = 1
    """How many times as long as the quickest ones it takes for an input, roughly."""

    def takes(self, data: bytes, folder: Path) -> None:
        """Give it an input; whatever it may not raise comes through."""
        try:
            self.run(data, folder)
        except (UserError, *self.documented):
            pass


def samples(name: str) -> list[bytes]:
    """Return the corpus of a parser, in the order of its names."""
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


ABSENT = 4
"""Counters that an answer lacks and that are looked for: each in the same way among its names."""


def _put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _answer(data: bytes, _: Path) -> None:
    """Read an answer as it comes in pieces of 7 bytes, then nothing."""
    pieces = iter([data[at : at + 7] for at in range(0, len(data), 7)])

    def more() -> bytes:
        for piece in pieces:
            return piece
        raise ClosedByServerError

    read_answer(Exchange(), b"", more, method="GET", known={}, max_body_bytes=1 << 16)


def _gc_log(data: bytes, _: Path) -> None:
    for log in read_gc_log(data).split():
        summarise(log)
        advise(log)


def _usage(name: str) -> Callable[[bytes, Path], None]:
    """Return a reader of what a system was asked, up to the hours that it was asked most."""

    def read(data: bytes, folder: Path) -> None:
        observed = read_usage(str(_put(folder, name, data)))
        with contextlib.suppress(ValueError):  # no requests in it
            busiest_hours(observed, 95)

    return read


def _exposition(data: bytes, _: Path) -> None:
    text = data.decode("utf-8", errors="replace")
    series = prepare(SERIES, 8080)
    there = [one for one in SERIES if one.name in text]
    absent = [one for one in SERIES if one not in there]
    explain(text, [*there, *absent[:ABSENT]])
    refuse_other_text(text, "text/plain")
    dict(gather(text, series))


def _bundle_zip(data: bytes, folder: Path) -> None:
    unpack_bundles(_put(folder, "sent.zip", data), folder / "into")


def _pack(data: bytes, folder: Path) -> None:
    unpack(_put(folder, "pack.tar.xz", data), folder / "into")


def _tar(data: bytes, folder: Path) -> None:
    """Read a pack whose compression and checksums are whole: what lies behind them is met."""
    _pack(lzma.compress(_with_checksums(data), preset=0), folder)


def _with_checksums(data: bytes) -> bytes:
    """Return a tar archive in which the heads of files have the checksums that they need."""
    blocks, at = bytearray(data), 0
    while at + 512 <= len(blocks) and any(blocks[at : at + 512]):
        blocks[at + 148 : at + 156] = b" " * 8
        blocks[at + 148 : at + 156] = b"%06o\0 " % sum(blocks[at : at + 512])
        digits = bytes(blocks[at + 124 : at + 135])
        size = int(digits, 8) if re.fullmatch(rb"[0-7]{1,11}", digits) else 0
        at += 512 + -(-size // 512) * 512
    return bytes(blocks)


def _crate_zip(data: bytes, folder: Path) -> None:
    archive = _put(folder, "crate.zip", data)
    is_crate_archive(archive)
    (folder / "into").mkdir()
    unpack_crate(archive, folder / "into")
    audit_crate(folder / "into")


def _crate_metadata(data: bytes, folder: Path) -> None:
    _put(folder, METADATA, data)
    audit_crate(folder)


def _record(data: bytes, _: Path) -> None:
    parse_record(data, "b-1")


@cache
def _base() -> dict[str, bytes]:
    """Return the files of a good bundle; made once a process."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        bundle = write_synthetic(Path(folder), "base")
        return {
            path.relative_to(bundle.path).as_posix(): path.read_bytes()
            for path in sorted(bundle.path.rglob("*"))
            if path.is_file()
        }


def _bundle_with(folder: Path, name: str, data: bytes) -> Path:
    """Write the good bundle with another file in it, whose size and checksum are recorded."""
    for each, content in _base().items():
        _put(folder / "b-1", each, content)
    put_file(folder / "b-1", name, data)
    return folder / "b-1"


def _requests(data: bytes, folder: Path) -> pl.DataFrame:
    return open_bundle(_bundle_with(folder, REQUESTS, data)).requests


def _counters(data: bytes, folder: Path) -> pl.DataFrame:
    return open_bundle(_bundle_with(folder, COUNTERS, data)).counters


def _balancer_log(data: bytes, folder: Path) -> None:
    bundle = open_bundle(_bundle_with(folder, LOG, data))
    node_states(bundle)
    odd_requests(bundle)


class _Told(Balancer):
    """A balancer that says what it is given."""

    def __init__(self, text: str) -> None:
        self.text = text

    def ask(self, words: str) -> str:
        return self.text


def _balancer_stats(data: bytes, _: Path) -> None:
    told = _Told(data.decode("utf-8", errors="replace"))
    BalancerProbe("balancer", told.counters).sample()


def _steps(data: bytes, _: Path) -> None:
    make_rows(read_series(data))


def _columns(data: bytes, _: Path) -> None:
    read_columns(data, 1 << 20)


def _interval_log(data: bytes, folder: Path) -> None:
    merge_intervals(read_interval_log(_put(folder, "latency.hlog", data)))


def _inventory(data: bytes, folder: Path) -> None:
    read_inventory(_put(folder, "machines.yaml", data))


def _round(data: bytes, folder: Path) -> None:
    _put(folder, ROUND, data)
    open_round(folder)


def _notebook(data: bytes, folder: Path) -> None:
    records.read_records(_put(folder, "page.ipynb", data))


def _audited_notebook(data: bytes, folder: Path) -> None:
    """Read a page as the audit does, for which ValueError means that it is none."""
    path = _put(folder, "page.ipynb", data)
    page = outputs.read_page(PageFile("page", path))
    for output in page.outputs:
        try:
            output.read()
        except ValueError:
            continue


def _perf_data(data: bytes, _: Path) -> None:
    counters = list(find_counters(read_layout(data), data))
    dict(read_counters(counters, data))


def _published(folder: Path, left_out: bytes) -> Path:
    """Write the good bundle without its requests, with this ``left-out.json``."""
    for each, content in _base().items():
        if each != REQUESTS:
            _put(folder / "b-1", each, content)
    _put(folder / "b-1", LEFT_OUT, left_out)
    return folder / "b-1"


def _left_out(data: bytes, folder: Path) -> None:
    """Read the words, whatever they leave out; then a bundle that comes with them."""
    parse_left_out(data, "b-1", parse_record(_base()[RECORD], "b-1"))
    with contextlib.suppress(UserError):
        open_bundle(_published(folder, data))


def _digest(data: bytes, folder: Path) -> None:
    """Ask a published bundle everything that its digest answers."""
    path = _published(folder, write_left_out([REQUESTS]))
    _put(path, DIGEST, data)
    bundle = open_bundle(path)
    assert bundle.columns.height >= 0
    for question in bundle.digest:
        derive(bundle, question, _never)


def _never() -> None:
    raise AssertionError("a digest's own question was not asked of it")


def _reproduction(data: bytes, folder: Path) -> None:
    project = Project(folder)
    _put(reproductions_folder(project), "sent.json", data)
    for each in count_chapters(read_reproductions(project)):
        assert sum(each.states.values()) == each.machines


def _native_memory(data: bytes, _: Path) -> None:
    for size in parse_summary(data.decode("utf-8", errors="replace")).values():
        assert float(size) >= 0


def _stub_status(data: bytes, _: Path) -> None:
    text = StubStatus()(data.decode("utf-8", errors="replace"))
    dict(gather(text, prepare(SERIES, 8080)))


class _Heard(http.client.HTTPConnection):
    """A connection on which an answer lies, whatever is asked."""

    def __init__(self, data: bytes) -> None:
        super().__init__("127.0.0.1")
        self._data = data

    def connect(self) -> None:
        self.sock = _Heard.Socket(self._data)  # type: ignore[assignment]

    class Socket:
        """As much of a socket as ``http.client`` uses."""

        def __init__(self, data: bytes) -> None:
            self._data = data

        def makefile(self, _: str) -> io.BufferedReader:
            return io.BufferedReader(io.BytesIO(self._data))  # type: ignore[arg-type]

        def sendall(self, _: bytes) -> None:
            pass

        def close(self) -> None:
            pass


def _scrape(data: bytes, _: Path) -> None:
    """Read the answer of a server that is not the reference stack's, head and body."""
    told = (Told(series="jobs_total"), Told(series="pool_size", where={"pool": "a"}))
    probe = told_probe("server/a", CounterSource(series=told), address="127.0.0.1", port=1,
                       host="local", interval_s=1.0)  # fmt: skip
    probe._scraper._connection = _Heard(data)
    probe.sample()
    probe.lacking()


class _Spoken(GeneratorClient):
    """A generator that says what it is given, then nothing, whatever it is told."""

    def __init__(self, data: bytes) -> None:
        super().__init__(None, "", Path())  # type: ignore[arg-type]
        self._data = data

    def start(self) -> None:
        for line in io.TextIOWrapper(io.BytesIO(self._data), "utf-8", errors="replace"):
            self._lines.put(line)
        self._lines.put(None)
        self._greet()

    def _say(self, *_: object) -> None:
        pass


LOAD = LoadProfile(
    locustfile=min(path.name for path in LOCUSTFILES.glob("*.py")),
    arrivals=ClosedLoop(users=1),
    phases=Phases(warmup_s=0, measured_s=1),
)


def _generator(data: bytes, folder: Path) -> None:
    _put(folder, ROWS_FILE, b"")
    generator = _Spoken(data)
    generator.start()
    generator.prepare(LOAD, {}, folder)
    generator.carry_out(start_ns=1)


def _foreign_results(data: bytes, folder: Path) -> None:
    """Judge the results of another load tool, and say so in each form."""
    judged = judge_results(read_results(_put(folder, "results", data)))
    compared = compare_results(judged, judged)
    render_page([judged, judged], compared)
    json.dumps(as_data([judged], compared))


FOREIGN = (
    *("gatling-log", "hgrm", "hlog", "jtl-csv", "jtl-xml", "k6-csv", "k6-lines", "k6-summary"),
    *("locust-history", "locust-stats", "oha", "vegeta-lines", "vegeta-report"),
)
"""Files of other load tools: one reader finds out which it has."""


def _traffic(data: bytes, _: Path) -> None:
    """Make a load of what somebody recorded or described, as far as the files of it."""
    recording = parse_traffic(data, "source")
    written = write_load(prepare_load(recording, "source"), "shop", "Shop")
    for name, text in written.files.items():
        if name.endswith(".py"):
            ast.parse(text)
        assert isinstance(text, bytes) or text.encode() is not None


TRAFFIC = ("csv", "har", "jmeter", "k6", "log", "openapi", "postman")
"""Forms of recorded or described traffic."""

PARSERS: dict[str, Parser] = {
    "balancer-log": Parser(_balancer_log, cost=6),
    "balancer-stats": Parser(_balancer_stats, (OSError, Unavailable)),
    "bundle-zip": Parser(_bundle_zip, cost=12),
    "counters-parquet": Parser(_counters, cost=12),
    "counters-steps": Parser(_steps, (TableError,), cost=2),
    "crate-metadata": Parser(_crate_metadata, cost=2),
    "crate-zip": Parser(_crate_zip, cost=4),
    "digest": Parser(_digest, cost=6),
    "exposition": Parser(_exposition, (ExpositionError,), cost=4),
    "gc-log": Parser(_gc_log, cost=60),
    "access-log": Parser(_usage("access.log"), cost=2),
    "range-answer": Parser(_usage("answer.json"), cost=2),
    "http-answer": Parser(_answer, (ProtocolError, ClosedByServerError)),
    "generator-lines": Parser(_generator, cost=4),
    "interval-log": Parser(_interval_log, (IntervalLogError,), cost=4),
    "inventory": Parser(_inventory, cost=12),
    "left-out": Parser(_left_out, cost=4),
    "log-columns": Parser(_columns, (LogError,), cost=2),
    "native-memory": Parser(_native_memory, (ValueError,)),
    "notebook": Parser(_notebook, cost=2),
    "notebook-audited": Parser(_audited_notebook, (ValueError,), cost=4),
    "pack": Parser(_pack, cost=4),
    "pack-tar": Parser(_tar, cost=6),
    "perf-data": Parser(_perf_data, (PerfDataError,)),
    "record": Parser(_record, cost=2),
    "reproductions": Parser(_reproduction, cost=2),
    "requests-parquet": Parser(_requests, cost=12),
    "round": Parser(_round, cost=2),
    "scrape": Parser(_scrape, (Unavailable,), cost=4),
    "stub-status": Parser(_stub_status, (ExpositionError,), cost=2),
    **{name: Parser(_foreign_results, cost=30) for name in FOREIGN},
    **{f"traffic-{form}": Parser(_traffic, cost=20) for form in TRAFFIC},
}
"""By name: the word on the command line and the folder of the corpus."""
