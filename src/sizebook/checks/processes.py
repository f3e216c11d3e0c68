"""Signs that each of several processes of a server counts for itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sizebook.checks.facts import why_lacking
from sizebook.model.notes import SEVERAL_PROCESSES
from sizebook.store import Bundle

_ADD_UP = (
    "add their counters up, as prometheus_client does in its multi-process mode, or serve with one "
    "worker"
)


def separate_counts(bundle: Bundle, role: str) -> str:
    """Return in words why a role's count may be one process's part alone; empty: no sign of it.

    The signs, best first: the probe saw it after the load; the count fell and rose again and again;
    a server of one's own has several processes, which proves nothing.
    """
    source = f"server/{role}-"
    why = why_lacking(bundle, source).get("requests_total", "")
    if SEVERAL_PROCESSES in why:
        return f"{why}; {_ADD_UP}"
    if any(_takes_turns(one.values) for one in bundle.readings.find(source, "requests_total")):
        return f"the count falls and rises in turn, as if {SEVERAL_PROCESSES}; {_ADD_UP}"
    own = {each.role for each in bundle.record.trial.deployment.own_roles()}
    if role not in own:  # a node of the reference stack is one process
        return ""
    found = bundle.readings.find(f"process/{role}-", "processes")
    most = max((float(one.values.max()) for one in found if one.values.size), default=0.0)
    if most > 1:
        return f"the server has {most:.0f} processes: if each counts for itself, {_ADD_UP}"
    return ""


def _takes_turns(values: NDArray[np.float64]) -> bool:
    """Return whether a count fell at least twice, and each time rose above where it had been.

    A server that was started anew begins at nothing, and need not.
    """
    falls = np.flatnonzero(np.diff(values) < 0)
    return falls.size > 1 and all(values[at + 1 :].max() >= values[at] for at in falls[:-1])
