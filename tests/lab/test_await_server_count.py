"""Counts of servers that come a moment after the answers: how long they are waited for."""

from types import SimpleNamespace

import polars as pl
import pytest

from sizebook.lab.await_server_count import await_counted, requests_counted
from sizebook.probes.base import CounterSample, QuietProbe
from sizebook.probes.sampler import Sampler


class Counting(QuietProbe):
    """A node whose count follows a list; the last value stays."""

    def __init__(self, name, told):
        self.name, self.host, self.interval_s = name, "local", 1.0
        self._told = list(told)

    def attach(self):
        """Nothing to open."""

    def sample(self):
        value = self._told.pop(0) if len(self._told) > 1 else self._told[0]
        return [CounterSample(self.name, "requests_total", value)]

    def detach(self):
        """Nothing to close."""


def collected(*statuses):
    return SimpleNamespace(requests=pl.DataFrame({"status": list(statuses)}))


def waits(sampler, *statuses):
    """Return how often was waited until the count was good or given up."""
    sampler.snapshot()
    before, slept = requests_counted(sampler), []
    await_counted(sampler, before, collected(*statuses), sleep=slept.append)
    return len(slept)


def test_waits_until_the_nodes_together_have_counted_every_answer():
    """Three answers, the third counted late by the second node; one request had no answer."""
    one = Counting("server/app-1", [5.0, 6.0])
    two = Counting("server/app-2", [1.0, 2.0, 2.0, 3.0])
    other = Counting("server/backend-1", [0.0])
    assert waits(Sampler([one, two, other]), 200, 200, 503, 0) == 2


def test_a_count_that_is_high_enough_is_not_waited_for():
    """Neither an exact one nor one that is too high."""
    assert waits(Sampler([Counting("server/app-1", [0.0, 2.0])]), 200, 200) == 0
    assert waits(Sampler([Counting("server/app-1", [0.0, 9.0])]), 200, 200) == 0


@pytest.mark.parametrize("told", [[0.0, 1.0], [7.0, 1.0], [0.0, None]])
def test_what_is_never_counted_is_given_up(told):
    """Lost, begun anew, or not read: the reading stays as it is, for the checks to judge."""
    sampler = Sampler([Counting("server/app-1", told)])
    assert waits(sampler, 200, 200) > 1
    assert requests_counted(sampler) == (told[-1] or 0.0)


def test_a_deployment_without_app_node_waits_for_nothing():
    assert waits(Sampler([Counting("server/null-1", [0.0])]), 200) == 0
