"""Systems of a chapter's own: what makes a measurement of one stale, what a chapter may miss."""

from types import SimpleNamespace

import pytest

from sizebook.lab import missing_program
from sizebook.lab.trials import compare_fingerprints
from sizebook.model.bundle import Fingerprints
from sizebook.store import Project


def fingerprints(**servers):
    return Fingerprints(stack="", jvm="", locustfile="a", machine="b", servers=servers)


@pytest.mark.parametrize(
    ("now", "changed"),
    [
        (fingerprints(web="1"), ()),
        (fingerprints(web="2"), ("server web",)),
        (fingerprints(), ()),  # the program is not here, so nobody knows
    ],
)
def test_another_version_makes_a_measurement_stale(now, changed):
    """It is named; without servers the JSON does not mention them."""
    assert compare_fingerprints(fingerprints(web="1"), now) == changed
    assert "servers" not in fingerprints().canonical_json()


def test_a_missing_program_has_a_reason_where_it_is_needed(tmp_path):
    """Bundles that are only shown need none; what set-up unpacked is found."""
    lab = SimpleNamespace(measures=True, project=Project(tmp_path))
    assert "no program nowhere" in missing_program(lab, "nowhere")
    assert missing_program(lab, "sh") == ""
    assert missing_program(SimpleNamespace(measures=False), "nowhere") == ""
    unpacked = tmp_path / ".sizebook" / "programs" / "it" / "usr" / "sbin" / "nowhere"
    unpacked.parent.mkdir(parents=True)
    unpacked.touch()
    assert missing_program(lab, "nowhere") == ""
