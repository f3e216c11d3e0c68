"""Candidates in words: one row each, as the page and a terminal show it, best first."""

from __future__ import annotations

import math
from typing import Any

from sizebook.model.memory import NATIVE_MIB
from sizebook.report.shown_number import shown
from sizebook.stats.sizing import Candidate, Demanded, Offer, SizingModel, prepare
from sizebook.stats.sizing import candidates as find_candidates

COLUMNS = {
    "size": "Nodes × CPUs",
    "memory": "Memory each",
    "use": "CPU use",
    "response": "Mean / p95",
    "carries": "Carries",
    "limit": "First limit",
    "price": "Price",
    "verdict": "Verdict",
}
"""Columns of the table of candidates, in order; ``price`` only where the offer has prices."""
TEXTS = {
    "size": "{nodes} × {cpus}",
    "memory": "{memory} GiB",
    "use": "{use} %",
    "response": "{mean} / {p95} ms",
    "none": "–",
    "fits": "fits",
    "fits-estimate": "fits by the estimate, not at the unfavourable end of the band",
    "fits-counted": "; only the measured {counted} CPU count",
    "rejected-response": "rejected: misses the response time",
    "rejected-utilization": "rejected: CPU use above {ceiling} %",
    "rejected-measured": "rejected: the load is more than was measured",
    "rejected-memory": "rejected: needs {needed} GiB of memory",
    "rejected-nodes": "not known: measured were up to {most} nodes",
    "rejected-cores": "not known: measured were {least} CPUs or more",
}
"""What a row is said with; the names in braces are its numbers."""
LIMITS = {
    "response": "response time",
    "utilization": "CPU use",
    "measured": "measured range",
}
"""What limits the load of a candidate first."""
TITLE = "Candidates, best first. All nodes that may fail have failed."


def as_data() -> dict[str, Any]:
    """Return the texts, as the page's script wants them."""
    return {
        "columns": COLUMNS,
        "texts": TEXTS,
        "limits": LIMITS,
        "title": TITLE,
        "beside_heap_mib": NATIVE_MIB,
    }


def usual_sizes(model: SizingModel) -> tuple[float, ...]:
    """Return CPUs of a node to begin with: powers of two within what was measured."""
    low, high = (math.floor(math.log2(one)) for one in model.domain.cores)
    return tuple(2.0**power for power in range(low, high + 1)) or (model.domain.cores[1],)


def candidate_rows(
    model: SizingModel, question: Demanded, offer: Offer
) -> tuple[dict[str, str], ...]:
    """Return one row a candidate: its words by column."""
    prepared, asked = prepare(model, question)
    return tuple(
        candidate_row(prepared, asked, offer, one)
        for one in find_candidates(prepared, asked, offer)
    )


def candidate_row(
    model: SizingModel, asked: Demanded, offer: Offer, one: Candidate
) -> dict[str, str]:
    """Return the words of one candidate by column; model and question are prepared."""
    row = {"size": _fill("size", nodes=one.nodes, cpus=shown(one.cpus))}
    if one.rejected in ("nodes", "cores"):
        row |= dict.fromkeys(("memory", "use", "response", "carries", "limit"), _fill("none"))
    else:
        row |= {
            "memory": _fill("none")
            if one.memory_gib is None
            else _fill("memory", memory=shown(one.memory_gib)),
            "use": _fill("use", use=shown(100 * one.utilization)),
            "response": _response(one),
            "carries": shown(math.floor(one.carries) if asked.users else one.carries),
            "limit": LIMITS[one.limit],
        }
    if offer.is_priced:
        known = one.price is not None and one.rejected is None
        row["price"] = shown(one.price or 0.0) if known else _fill("none")
    return row | {"verdict": _verdict(model, asked, offer, one)}


def _response(one: Candidate) -> str:
    if not math.isfinite(one.predicted.mean_s):
        return _fill("none")
    mean, p95 = (shown(1e3 * s) for s in (one.predicted.mean_s, one.predicted.p95_s))
    return _fill("response", mean=mean, p95=p95)


def _verdict(model: SizingModel, asked: Demanded, offer: Offer, one: Candidate) -> str:
    if one.rejected is not None:
        return _fill(
            f"rejected-{one.rejected}",
            ceiling=shown(100 * (asked.ceiling or 0.0)),
            needed=shown(((one.heap_mib or 0.0) + offer.beside_heap_mib) / 1024),
            most=max(model.domain.nodes),
            least=shown(model.domain.cores[0]),
        )
    left = (one.nodes - asked.spare_nodes) * one.cpus
    counted = (
        _fill("fits-counted", counted=shown(one.counted_cpus)) if left > one.counted_cpus else ""
    )
    return _fill("fits" if one.robust else "fits-estimate") + counted


def _fill(key: str, **numbers: object) -> str:
    return TEXTS[key].format(**numbers)
