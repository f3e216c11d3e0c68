"""Fixtures of all tests."""

from __future__ import annotations

import itertools
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from synthetic_bundles import MakeBundle, write_synthetic

from sizebook.store import Bundle
from sizebook.store.lock import NOT_ALONE

pytest_plugins = ["tests.needs", "tests.lanes"]

# What a shell without job control starts in the background ignores Ctrl-C, and so would all that
# the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A make that a test runs is nobody's part, whatever started the tests.
for given_by_make in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
    os.environ.pop(given_by_make, None)

# Nothing that tests measure is to be believed, so that they need not wait for each other.
os.environ[NOT_ALONE] = "1"

# The same inputs at each run, on whatever machine, and no memory of those that failed: what is red
# is red for everybody. Looking longer: HYPOTHESIS_MAX_EXAMPLES=5000.
settings.register_profile(
    "same",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=int(os.environ.get("HYPOTHESIS_MAX_EXAMPLES", "60")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("same")


@pytest.fixture
def make_bundle(tmp_path: Path) -> MakeBundle:
    """Return a function that writes a synthetic bundle, good unless told otherwise."""
    numbers = itertools.count(1)

    def make(**given: Any) -> Bundle:
        return write_synthetic(tmp_path, f"synthetic-{next(numbers)}", **given)

    return make
