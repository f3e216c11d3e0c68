"""From a load to CPUs, nodes and heap, and back: the arithmetic of the calculator.

``model`` is what trials fitted, ``questions`` what is asked of it, ``answers`` the fewest CPUs,
``carried`` the largest load, ``candidates`` what can be bought, ``course`` the response over load.
"""

from sizebook.stats.sizing.answers import Outside, Predicted, Size, predict, size
from sizebook.stats.sizing.candidates import Candidate, Offer, candidates
from sizebook.stats.sizing.carried import Carried, carried, most_load
from sizebook.stats.sizing.course import CoursePoint, course, shown_cpus
from sizebook.stats.sizing.model import (
    MIB,
    Domain,
    Heap,
    Response,
    SizingModel,
    Statistic,
)
from sizebook.stats.sizing.questions import Demanded, prepare

__all__ = [
    "MIB",
    "Candidate",
    "Carried",
    "CoursePoint",
    "Demanded",
    "Domain",
    "Heap",
    "Offer",
    "Outside",
    "Predicted",
    "Response",
    "Size",
    "SizingModel",
    "Statistic",
    "candidates",
    "carried",
    "course",
    "most_load",
    "predict",
    "prepare",
    "shown_cpus",
    "size",
]
