"""Floor 3: designs become trials; the only room that joins stack, load, probes and checks."""

from sizebook.lab.chapter_lab import ChapterLab, PlanComplete, planning_only
from sizebook.lab.deployments import app_stack, null_server
from sizebook.lab.placement import Placement, place
from sizebook.lab.planning import Setup
from sizebook.lab.trials import Trial, Trials, doubts

__all__ = [
    "ChapterLab",
    "Placement",
    "PlanComplete",
    "Setup",
    "Trial",
    "Trials",
    "app_stack",
    "doubts",
    "null_server",
    "place",
    "planning_only",
]
