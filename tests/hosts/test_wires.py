"""The words that shape a wire, and what the programs say of it."""

from sizebook.hosts import LinkUse
from sizebook.hosts.interfaces import parse_table
from sizebook.hosts.wires import _shapers, read_offloads, refused, shaping_words
from sizebook.model.errors import HostLacksError
from sizebook.model.network import Wire

TABLE = """\
Inter-|   Receive                            |  Transmit
 face |bytes    packets errs drop fifo frame |bytes    packets errs drop fifo colls
    lo:       0   0 0 0 0 0 0 0        0   0 0 0 0 0 0 0
  eth0: 9000123  61 1 2 0 0 0 0     1206   7 0 4 0 0 0 0
"""
FEATURES = """\
Features for eth0:
rx-checksumming: on
tx-checksumming: off
\ttx-checksum-ip-generic: off
tcp-segmentation-offload: on
generic-segmentation-offload: off [requested on]
generic-receive-offload: off
large-receive-offload: off [fixed]
"""


def test_the_kernels_table_is_read():
    assert parse_table(TABLE)["eth0"] == LinkUse(
        sent_bytes=1206, received_bytes=9000123, sent_frames=7, received_frames=61, lost_frames=7
    )
    assert parse_table("") == {}


def test_offloads_that_are_on():
    assert read_offloads(FEATURES) == ["rx", "tso"]


def test_a_plain_wire_needs_no_shaping():
    assert list(shaping_words(Wire())) == []


def test_a_rate_has_a_burst_of_a_millisecond_or_two_frames():
    [fast] = shaping_words(Wire(rate_mbit_per_s=1000))
    assert " ".join(fast) == "root handle 2: tbf rate 1000000000bit burst 125000 latency 50ms"
    [slow] = shaping_words(Wire(rate_mbit_per_s=1, frame_bytes=8996))
    assert slow[slow.index("burst") + 1] == str(2 * 8996)


def test_delay_comes_before_rate():
    delay, rate = shaping_words(Wire(delay_ms=1.5, rate_mbit_per_s=10))
    assert delay[:6] == ["root", "handle", "1:", "netem", "delay", "1.5ms"]
    assert rate[:2] == ["parent", "1:"]


def test_shapers_are_told_and_the_usual_queue_is_not():
    said = "qdisc tbf 2: root refcnt 3 rate 1Mbit burst 4Kb lat 50ms\nqdisc noqueue 0: root\n"
    assert list(_shapers(said)) == ["tbf 2: root refcnt 3 rate 1Mbit burst 4Kb lat 50ms"]


def test_what_a_machine_lacks_is_told_with_its_reason():
    unknown = "Specified qdisc kind is unknown."

    def run(*words):
        if "netem" in words or "-K" in words:
            raise HostLacksError(
                found=f"{words[0]}: Error: Specified qdisc kind is unknown.",
                expected="",
                next_step="",
            )
        assert "sb-x" in words
        return ""

    assert dict(refused("sb-x", run, run)) == {"delay": unknown, "offloads": unknown}
