"""Every counter is declared and documented."""

import pytest

from sizebook.probes.jvm import NUMBERS, SECONDS
from sizebook.probes.registry import COUNTERS, find_counter


def test_every_counter_is_documented():
    """Name, unit, kind and meaning are there, and no name is declared twice."""
    for name, info in COUNTERS.items():
        assert info.name == name and "/" not in name
        assert info.unit in ("s", "B", "1")
        assert info.kind in ("counter", "gauge")
        assert info.meaning[0].isupper() and len(info.meaning) > 3
        assert name.endswith("_s") == (info.unit == "s")
        assert name.endswith("_bytes") == (info.unit == "B")


def test_no_counter_is_declared_twice():
    """A second declaration would silently replace the first."""
    from sizebook.probes import registry

    assert len(registry._ALL) == len(COUNTERS)


def test_the_jvms_counters_are_declared():
    """What the JVM probe may emit is in the registry."""
    for metric in (*NUMBERS, *SECONDS):
        assert find_counter(metric).source == "jvm"


@pytest.mark.parametrize("metric", ["unknown", "core_user_s", "load_1min/3"])
def test_unknown_metrics_are_errors(metric):
    """An undeclared name, a missing label and a label too many are KeyErrors."""
    with pytest.raises(KeyError):
        find_counter(metric)
