"""Floor 2: results of other load tools, read, judged by the rules that apply, and compared."""

from sizebook.judge.detecting import read_results
from sizebook.judge.findings import ForeignFinding
from sizebook.judge.judging import Judged, judge_results
from sizebook.judge.results import ForeignResults

__all__ = [
    "ForeignFinding",
    "ForeignResults",
    "Judged",
    "judge_results",
    "read_results",
]
