"""Recorded logs of each collector, Java 17 and 25: what is read is what the JVM counted."""

import pytest
import witness


@pytest.mark.parametrize("name", witness.NAMES)
def test_the_log_tells_what_the_jvm_counted(name):
    """Counts are equal, times within the rounding, heap after a collection the same."""
    assert witness.check(witness.recorded(name)) >= 5
