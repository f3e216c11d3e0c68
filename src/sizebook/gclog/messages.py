"""What the messages of a GC log say, a table for each kind of message, as queries of its lines.

Formats of Java 9 to 25, from the JDK's sources: ``gcTraceTime.inline.hpp`` (pauses and phases),
``genCollectedHeap.cpp`` and ``psPrintHeap`` lines of the generations, ``zStat.cpp`` (ZGC's tables),
``shenandoahControlThread.cpp`` (triggers), ``safepoint.cpp``.
"""

from __future__ import annotations

import polars as pl

from sizebook.gclog.lines import Lines

_SIZE = r"([0-9]{1,15})([BKMGT])"
_STEP = (
    r"^GC\((?P<id>[0-9]{1,9})\) (?:[yYoO]: )?"
    r"(?P<verb>Pause|Concurrent|Garbage Collection|(?:Minor|Major) (?:Garbage )?Collection) ?"
    r"(?P<name>.*?)"
    r"(?: (?P<before>[0-9]{1,15})(?P<before_unit>[BKMGT])(?:\([0-9]+%\))?"
    r"->(?P<after>[0-9]{1,15})(?P<after_unit>[BKMGT])"
    r"\((?P<all>[0-9]{1,15})(?P<all_unit>[BKMGT%])\))?"
    r"(?: (?P<took>[0-9]{1,12}[.,][0-9]{1,9})(?P<took_unit>ms|s))?$"
)
# GC(3) DefNew: 14598K(19648K)->0K(19648K) Eden: ...
_GENERATION = (
    r"^GC\((?P<id>[0-9]{1,9})\) "
    r"(?P<generation>DefNew|Tenured|PSYoungGen|ParOldGen|PSOldGen|ParNew|CMS): "
    r"(?P<before>[0-9]{1,15})K(?:\([0-9]+K\))?->(?P<after>[0-9]{1,15})K\((?P<all>[0-9]{1,15})K\)"
)
_CELL = r" +(?:-|(?P<{0}>[0-9]{{1,12}})M(?: \([0-9]+%\))?)"
# GC(0) Y:      Used:        8M (12%)          10M (16%)          10M (16%)           8M (12%) ...
_ZTABLE = (
    r"^GC\((?P<id>[0-9]{1,9})\) (?:(?P<generation>[yYoO]): )? *"
    r"(?P<table>Capacity|Used|Live|Allocated):"
    + "".join(
        _CELL.format(name) for name in ("mark_start", "mark_end", "relocate_start", "relocate_end")
    )
    + r"(?: +(?:-|(?P<high>[0-9]{1,12})M))?"
)
# Java 9 to 12 (``runtimeService.cpp``, record_safepoint_end)
_STOPPED = (
    r"^Total time for which application threads were stopped: (?P<total>[0-9]{1,9}[.,][0-9]{1,9}) "
    r"seconds, Stopping threads took: (?P<reaching>[0-9]{1,9}[.,][0-9]{1,9}) seconds"
)
_SAFEPOINT = (
    r"^Safepoint \"(?P<reason>[^\"]{1,80})\", Time since last: [0-9]+ ns, "
    r"Reaching safepoint: (?P<reaching>[0-9]{1,18}) ns,.* Total: (?P<total>[0-9]{1,18}) ns"
)
_STALL = (
    r"^(?:GC\([0-9]{1,9}\) )?(?:[yYoO]: )?(?P<kind>Allocation Stall|Relocation Stall) "
    r"\((?P<thread>.*)\) (?P<took>[0-9]{1,12}[.,][0-9]{1,9})ms$"
)
# GC(3) Using 1 workers of 2 for evacuation
_WORKERS = (
    r"^GC\((?P<id>[0-9]{1,9})\) Using (?P<used>[0-9]{1,6}) workers of (?P<most>[0-9]{1,6}) "
    r"for (?P<task>.{1,40})$"
)
# Java 14 on with the kind: Failed to allocate Shared, 683K
_REQUEST = rf"^Failed to allocate (?:[^,]*, )?{_SIZE}$"
_ABSURD = 1 << 50
"""No heap is so large: numbers above it come from a damaged log."""
_UNITS = {"B": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def steps(lines: Lines) -> pl.LazyFrame:
    """Return the steps of collections, a row a message about a pause, a phase or a collection.

    ``verb`` and ``name`` as they are written; sizes in bytes and ``took_ns``, null where the
    message has none, as at a step's begin.
    """
    # ZGC's phases are in its tables; of its lines "Concurrent Reset" of CMS would keep this one
    which = pl.col("message").str.starts_with("GC(")
    which &= ~pl.col("message").str.contains("Concurrent Reset Relocation", literal=True)
    found = _matching(lines, which, _STEP, "verb")
    return found.select(
        "row", "at_s", "at_ns", "run", pl.col("id").cast(pl.Int64),
        pl.col("verb").str.replace(" Garbage", "", literal=True),
        pl.col("name").str.strip_chars(),
        before_bytes=_bytes("before", "before_unit"),
        after_bytes=_bytes("after", "after_unit"),
        total_bytes=_bytes("all", "all_unit"),
        took_ns=(
            _decimal("took")
            * pl.when(pl.col("took_unit") == "s").then(1e9).otherwise(1e6)
        ).round().cast(pl.Int64),
    )  # fmt: skip


def generations(lines: Lines) -> pl.LazyFrame:
    """Return heap sizes in bytes by collection where the log has both generations to the KiB."""
    found = _matching(
        lines, pl.col("message").str.contains_any(_GENERATION_NAMES), _GENERATION, "before"
    )
    both = pl.col("generation").n_unique() == 2
    return found.group_by("run", pl.col("id").cast(pl.Int64)).agg(
        pl.when(both).then((pl.col(old).cast(pl.Int64) * 1024).sum()).alias(new)
        for old, new in (
            ("before", "fine_before"),
            ("after", "fine_after"),
            ("all", "fine_total"),
        )
    )


def z_tables(lines: Lines) -> pl.LazyFrame:
    """Return what ZGC's tables tell of a collection, in bytes: total, peak, live, allocated.

    ``live_bytes`` only where the whole heap was marked: of two generations both.
    """
    found = _matching(lines, pl.col("message").str.contains_any(_ROWS), _ZTABLE, "table")
    names = ("mark_start", "mark_end", "relocate_start", "relocate_end", "high")
    numbers = found.with_columns(
        pl.col("id").cast(pl.Int64), *((pl.col(name).cast(pl.Int64) * (1 << 20)) for name in names)
    )
    old = pl.col("generation").is_in(["o", "O"])
    live = (pl.col("table") == "Live") & pl.col("mark_end").is_not_null()
    young_live = pl.col("mark_end").filter(live & ~old).last()
    return numbers.group_by("run", "id", maintain_order=True).agg(
        z_total=pl.col("relocate_end").filter(pl.col("table") == "Capacity").last(),
        peak_bytes=pl.col("high").filter(pl.col("table") == "Used").max(),
        z_live=pl.when(pl.col("generation").is_null().all())
        .then(pl.col("mark_end").filter(live).last())
        .otherwise(young_live + pl.col("mark_end").filter(live & old).last()),
        allocated_bytes=pl.when((pl.col("table") == "Allocated").any()).then(
            pl.col("relocate_end")
            .filter((pl.col("table") == "Allocated") & ~old.fill_null(False))
            .sum()
        ),
    )


def safepoints(lines: Lines) -> pl.LazyFrame:
    """Return each stop of the application: end, reason, ns until all threads stood, ns in all."""
    message = pl.col("message")
    columns = ["run", "at_s", "at_ns", "reason"]
    found = _matching(lines, message.str.starts_with("Safepoint "), _SAFEPOINT, "reason")
    now = found.select(
        "row", *columns,
        reaching_ns=pl.col("reaching").cast(pl.Int64),
        total_ns=pl.col("total").cast(pl.Int64),
    )  # fmt: skip
    entered = lines.frame.lazy().select(
        "run", pl.int_range(pl.len(), dtype=pl.UInt32).alias("row"),
        reason=message.str.extract(r"^Entering safepoint region: (.{1,80})$"),
    ).filter(pl.col("reason").is_not_null())  # fmt: skip
    ended = _matching(lines, message.str.starts_with("Total time for which"), _STOPPED, "total")
    before = ended.join_asof(entered, on="row", by="run", check_sortedness=False).select(
        "row", "run", "at_s", "at_ns", pl.col("reason").fill_null(""),
        reaching_ns=(_decimal("reaching") * 1e9).round().cast(pl.Int64),
        total_ns=(_decimal("total") * 1e9).round().cast(pl.Int64),
    )  # fmt: skip
    return pl.concat([now, before]).sort("row").drop("row")


def stalls(lines: Lines) -> pl.LazyFrame:
    """Return each thread that had to wait for a collection: end, kind, thread, ns."""
    found = _matching(
        lines, pl.col("message").str.contains(" Stall (", literal=True), _STALL, "kind"
    )
    return found.select("row", "run", "at_s", "at_ns", "kind", "thread",
        stalled_ns=(_decimal("took") * 1e6).round().cast(pl.Int64))  # fmt: skip


def workers(lines: Lines) -> pl.LazyFrame:
    """Return how many threads of how many did a task of a collection, and which (G1 says it)."""
    which = pl.col("message").str.contains(" workers of ", literal=True)
    found = _matching(lines, which, _WORKERS, "task")
    return found.select(
        "run", "at_s", "at_ns", "task",
        id=pl.col("id").cast(pl.Int64),
        used=pl.col("used").cast(pl.Int64),
        most=pl.col("most").cast(pl.Int64),
    )  # fmt: skip


def requests(lines: Lines) -> pl.LazyFrame:
    """Return each allocation that failed at first, with its size in bytes (Shenandoah says it)."""
    message = pl.col("message")
    found = lines.frame.lazy().filter(message.str.starts_with("Failed to allocate "))
    return found.select(
        "run", "at_s", "at_ns",
        requested_bytes=_bytes_of(
            message.str.extract(_REQUEST, 1), message.str.extract(_REQUEST, 2)
        ),
    ).filter(pl.col("requested_bytes").is_not_null())  # fmt: skip


_GENERATION_NAMES = [
    "DefNew:",
    "Tenured:",
    "PSYoungGen:",
    "ParOldGen:",
    "PSOldGen:",
    "ParNew:",
    "CMS:",
]
_ROWS = ["Capacity:", "Used:", "Live:", "Allocated:"]


def _matching(lines: Lines, which: pl.Expr, pattern: str, must: str) -> pl.LazyFrame:
    """Return the messages that match, taken apart into the named groups, with their times."""
    rows = lines.frame.lazy().with_row_index("row").filter(which)
    parts = rows.with_columns(pl.col("message").str.extract_groups(pattern).alias("parts"))
    return parts.unnest("parts").filter(pl.col(must).is_not_null())


def _decimal(name: str) -> pl.Expr:
    return pl.col(name).str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)


def _bytes(number: str, unit: str) -> pl.Expr:
    return _bytes_of(pl.col(number), pl.col(unit))


def _bytes_of(number: pl.Expr, unit: pl.Expr) -> pl.Expr:
    factor = unit.replace_strict({key: 1 << bits for key, bits in _UNITS.items()}, default=None,
                                 return_dtype=pl.Int64)  # fmt: skip
    size = number.cast(pl.Float64, strict=False) * factor
    return pl.when(size < _ABSURD).then(size.cast(pl.Int64, strict=False))
