"""Words between lab and generator, and settings of locustfiles."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sizebook.load.protocol import Failure, Order, decode, encode
from sizebook.load.settings import Setting, resolve_settings
from sizebook.model.errors import TrialError, UsageError
from sizebook.model.load import LoadProfile, OpenArrivals, Phases

DECLARED = {"size": Setting(10), "mode": Setting("a", choices=("a", "b"))}


def test_an_order_survives_the_pipe():
    """What the lab orders is what the generator reads."""
    load = LoadProfile(
        locustfile="x.py",
        arrivals=OpenArrivals(kind="poisson", rate_per_s=5),
        phases=Phases(warmup_s=1, measured_s=2),
        settings={"size": 3},
        cpus=(0, 1),
    )
    order = Order(load=load, locustfile="/x.py", targets={"app": "http://h"}, out="o")
    word, content = decode(encode("order", order))
    assert (word, Order.model_validate_json(content)) == ("order", order)


@pytest.mark.parametrize("line", ["", "x", "[]", "{}", '{"a":1}', '{"a":{},"b":{}}'])
def test_other_lines_are_refused(line):
    """Only one word with its content is a line of the protocol."""
    with pytest.raises(ValueError):
        decode(line)


def test_errors_keep_their_kind():
    """A mistake of the user stays one on the other side of the pipe."""
    for kind in (UsageError, TrialError):
        error = kind(found="a", expected="b", next_step="c")
        again = Failure.of(error).error()
        assert type(again) is kind
        assert str(again) == str(error)


def test_settings_are_checked():
    """Unknown names, wrong types and other values than the choices are errors."""
    assert resolve_settings(DECLARED, {"size": 5}, "f.py") == {"size": 5, "mode": "a"}
    for given, text in (
        ({"sise": 5}, "one of mode, size"),
        ({"size": "5"}, "type int"),
        ({"size": True}, "type int"),
        ({"mode": "c"}, "one of a, b"),
    ):
        with pytest.raises(UsageError, match=text):
            resolve_settings(DECLARED, given, "f.py")


def test_the_lab_side_stays_unpatched():
    """Neither Locust nor gevent is imported with the control, nor with the package."""
    code = (
        "import sys, sizebook.load, sizebook.load.workers, sizebook.load.schedule;"
        "sys.exit(bool({'locust', 'gevent'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
