"""Floor 1: logs of HotSpot's garbage collectors as data, summed up, with advice on the heap."""

from sizebook.gclog.advice import Advice, GcFinding, advise
from sizebook.gclog.errors import GcLogError
from sizebook.gclog.log import Cut, GcLog, Run
from sizebook.gclog.reading import read_gc_log, read_gc_logs
from sizebook.gclog.summary import GcSummary, summarise

__all__ = [
    "Advice",
    "Cut",
    "GcFinding",
    "GcLog",
    "GcLogError",
    "GcSummary",
    "Run",
    "advise",
    "read_gc_log",
    "read_gc_logs",
    "summarise",
]
