"""What other chapters measured of each mode, as frames of what is compared here."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from sizebook.lab import Trials
from sizebook.report import disks, measures
from sizebook.report import guests as hosted
from sizebook.report.counter_increase import per_rise

LENT = (("disk", "jobs"), ("database-work", "work"), ("guests", "rules"), ("guests", "memory"))
"""Chapters and the designs that they lend."""
_APP = "server/app-"


def lent_frames(lent: Mapping[tuple[str, str], Trials]) -> tuple[pl.DataFrame, ...]:
    """Return one frame a design of ``LENT``, one row a trial: rates and times that are compared."""
    disk, work, rules, memory = (lent[name] for name in LENT)
    return (
        disk.frame(
            on_disk=disks.mb_per_s("write", "sync"),
            log=disks.operations_per_s("write"),
            network=disks.network_mb_per_s,
        ),
        work.frame(
            total_ms=per_rise(_APP, "work_done_s", _APP, "work_done_total", 1e3),
            database_ms=per_rise(_APP, "work_done_database_s", _APP, "work_done_total", 1e3),
        ),
        rules.frame(
            answer_s=hosted.first_answer_s("nullserver-1"), p50_ms=measures.latency_ms(0.5)
        ),
        memory.frame(throughput_per_s=measures.throughput_per_s),
    )


def missing_chapters(lent: Mapping[tuple[str, str], Trials]) -> list[str]:
    """Return the chapters that lend no trial at all."""
    there = {chapter for (chapter, _), group in lent.items() if len(group)}
    return [chapter for chapter in dict.fromkeys(name for name, _ in lent) if chapter not in there]
