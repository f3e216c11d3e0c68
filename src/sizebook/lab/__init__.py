"""Floor 3: designs become trials; the only room that joins stack, load, probes and checks."""

from sizebook.lab.chapter_lab import ChapterLab
from sizebook.lab.deployments import (
    app_stack,
    binding_stack,
    business_stack,
    events_stack,
    messaging_stack,
    null_server,
    work_stack,
    xml_stack,
)
from sizebook.lab.modes import (
    MODES,
    SOFT_CPU,
    choose_modes,
    in_mode,
    limited_modes,
    memory_can_change,
    missing_mode,
    missing_of_links,
)
from sizebook.lab.placement import Placement, place
from sizebook.lab.plan_only import PlanComplete, planning_only
from sizebook.lab.planning import Setup
from sizebook.lab.systems import given_system, joined, missing_program, started_system
from sizebook.lab.trials import Trial, Trials, doubts

__all__ = [
    "MODES",
    "SOFT_CPU",
    "ChapterLab",
    "Placement",
    "PlanComplete",
    "Setup",
    "Trial",
    "Trials",
    "app_stack",
    "binding_stack",
    "business_stack",
    "choose_modes",
    "doubts",
    "events_stack",
    "given_system",
    "in_mode",
    "joined",
    "limited_modes",
    "memory_can_change",
    "messaging_stack",
    "missing_mode",
    "missing_of_links",
    "missing_program",
    "null_server",
    "place",
    "planning_only",
    "started_system",
    "work_stack",
    "xml_stack",
]
