"""What stood between client and nodes counted the same requests."""

from __future__ import annotations

import numpy as np

from sizebook.checks.facts import counter_change, last_reading_ns
from sizebook.checks.rules import Answer, DoesNotApply, rule
from sizebook.store import Bundle

_CLASSES = (2, 3, 4, 5)
_SOURCE = "balancer"


@rule(
    "SB107-balancer-count",
    title="The balancer counted what the client counted",
    verdict="failed",
    meaning="Answers by class of status (2xx to 5xx) that the balancer gave, between the readings "
    "before and after the trial, equal those that the client got, exactly, also where nodes were "
    "killed or hung: what the balancer says for a lost node is in both counts. Requests without an "
    "answer may have had one on its way, and leave that much room; so does what a client no longer "
    "waited for.",
    remedy="See logs/balancer-1.log; look for traffic that is not the load's.",
)
def balancer_count(bundle: Bundle) -> Answer:
    """Judge the balancer's count of answers against the client's."""
    if bundle.record.trial.deployment.balancer() is None:
        raise DoesNotApply("no balancer")
    rows = bundle.columns
    if rows.height == 0:
        raise DoesNotApply("no requests")
    begin_ns = int(rows["start_ns"].min())
    end_ns = int((rows["start_ns"] + rows["service_ns"]).max())
    end_ns = max(end_ns, last_reading_ns(bundle, _SOURCE, "balancer_answers_2xx/clients"))
    status = rows["status"]
    unanswered = int(np.count_nonzero(status == 0))
    numbers: dict[str, float] = {"unanswered": float(unanswered)}
    texts, room = [], 0
    for kind in _CLASSES:
        metric = f"balancer_answers_{kind}xx/clients"
        said = counter_change(bundle, _SOURCE, metric, begin_ns, end_ns).total
        got = int(np.count_nonzero(status // 100 == kind))
        numbers |= {f"balancer_{kind}xx": said, f"client_{kind}xx": float(got)}
        if said or got:
            texts.append(f"{kind}xx: balancer {said:.0f}, client {got}")
        if said < got:
            return Answer(False, "; ".join(texts), numbers)
        room += round(said) - got
    texts.append(f"{unanswered} unanswered")
    return Answer(room <= unanswered, "; ".join(texts), numbers)
