"""Counters of HAProxy: its table, and answers that are none."""

import pytest

from sizebook.probes.balancer import BalancerProbe
from sizebook.probes.base import Unavailable
from sizebook.stack.balancer import Balancer

HEAD = "# pxname,svname,status,scur,stot,\n"


class Told(Balancer):
    """A balancer that says what it is given."""

    def __init__(self, text):
        self.text = text

    def ask(self, words):
        return self.text


def sampled(text):
    return BalancerProbe("balancer", Told(text).counters).sample()


def test_a_table_is_read():
    """By node; what is not counted is left out."""
    found = sampled(HEAD + "nodes,app-1,UP 1/2,2,17,\nadmin,x,UP,9,9,\nclients,FRONTEND,OPEN,1,,\n")
    assert {one.metric: one.value for one in found} == {
        "balancer_current/app-1": 2, "balancer_sessions/app-1": 17, "balancer_up/app-1": 1,
        "balancer_current/clients": 1, "balancer_up/clients": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "without pxname, svname, status, scur"),
        ("Permission denied\n", "without pxname"),
        (HEAD.replace("status,", ""), "without status"),
        (HEAD + "nodes,app-1,UP,two,17,\n", "scur of app-1 is 'two'"),
        (HEAD + "nodes,app-1,UP,2,nan,\n", "stot of app-1 is 'nan'"),
        (HEAD + "nodes,app-1,UP,2,-1,\n", "stot of app-1 is '-1'"),
    ],
)
def test_another_answer_is_a_lack_with_a_reason(text, why):
    with pytest.raises(Unavailable, match=why):
        sampled(text)


def test_a_line_that_is_cut_off_is_a_node_that_is_not_up():
    """Its status did not come."""
    assert [one.value for one in sampled(HEAD + "nodes,app-1")] == [0]


def test_nobody_knows_what_an_unknown_node_has_under_way():
    told = Told(HEAD + "nodes,app-1,UP,2,17,\nnodes,app-2,UP,,,\n")
    assert told.under_way("app-1") == 2
    for node in ("app-2", "app-3"):
        with pytest.raises(OSError, match=node):
            told.under_way(node)
