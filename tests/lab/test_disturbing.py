"""What is done to a stack while a load runs is done in time, in order, and written down."""

import time
from types import SimpleNamespace

import pytest
from tests.waiting import wait_until

from sizebook.lab import disturbing
from sizebook.lab.disturbing import disturbed
from sizebook.model.errors import TrialError
from sizebook.model.load import Phases
from sizebook.model.trial import Disturbance, HostLimits


class Stack:
    """Notes what it is told."""

    def __init__(self, failing=False):
        self.done = []
        self.failing, self.refused = failing, False

    def kill(self, name):
        self.done.append(("kill", name))

    def suspend(self, name):
        self.done.append(("suspend", name))

    def resume(self, name):
        self.done.append(("resume", name))

    def stop(self, name):
        self.done.append(("stop", name))

    def start_again(self, name):
        if self.failing:
            self.refused = True
            raise TrialError(found="no", expected="yes", next_step="again")
        self.done.append(("start", name))


def spec(*disturbances):
    phases = Phases(ramp_s=0.01, warmup_s=0.02, measured_s=1.0, drain_s=1.0)
    return SimpleNamespace(load=SimpleNamespace(phases=phases), planned=lambda: disturbances)


def one(at_s, action="restart", node="app-1"):
    return Disturbance(at_s=at_s, action=action, node=node)


def wait_for(events, count):
    assert wait_until(lambda: len(events) >= count)


def test_events_are_done_after_their_times_and_in_order():
    """Times count from the measured phase; each event tells when it was."""
    stack, begin_ns, events = Stack(), time.monotonic_ns(), []
    with disturbed(stack, spec(one(0.0, "kill"), one(0.5)), begin_ns, events):
        wait_for(events, 2)
    assert stack.done == [("kill", "app-1"), ("kill", "app-1"), ("start", "app-1")]
    assert [(event.action, event.node) for event in events] == [
        ("kill", "app-1"),
        ("restart", "app-1"),
    ]
    since_s = [(event.begin_ns - begin_ns) / 1e9 for event in events]
    assert since_s[0] >= 0.03
    assert since_s[1] >= 0.53
    assert all(event.end_ns >= event.begin_ns for event in events)


def test_what_is_due_before_the_measured_phase_is_done_as_the_load_begins():
    """A time below 0 counts back into warm-up and ramp, and no further than the load's begin."""
    stack, begin_ns, events = Stack(), time.monotonic_ns(), []
    with disturbed(stack, spec(one(-3600.0, "kill"), one(-0.02, "kill")), begin_ns, events):
        wait_for(events, 2)
    since_s = sorted((event.begin_ns - begin_ns) / 1e9 for event in events)
    assert since_s[0] >= 0.0
    assert since_s[1] >= 0.01


class Host:
    """Notes what is started on it, and that it is stopped."""

    def __init__(self):
        self.running, self.begun = [], []

    def start(self, name, command, *, log, cpus=()):
        self.begun.append((name, command[-1], tuple(cpus)))
        self.running.append(self.begun[-1])
        return self.running[-1]

    def stop(self, process, grace_s):
        self.running.remove(process)


@pytest.mark.parametrize(("cpus", "names"), [((0, 1), ["spike-0", "spike-1"]), ((), ["spike"])])
def test_a_spike_computes_on_the_nodes_cpus_until_it_is_over(tmp_path, cpus, names):
    """One foreign process a CPU; none is left when the spike, or the load, has ended."""
    for for_s in (0.05, 3600.0):
        host = Host()
        node = SimpleNamespace(host=host, cpus=cpus)
        stack = SimpleNamespace(folder=tmp_path, node=lambda _, node=node: node)
        spike = Disturbance(at_s=0.0, action="spike", node="app-1", for_s=for_s, cpu_share=0.6)
        events = []
        with disturbed(stack, spec(spike), time.monotonic_ns(), events):
            wait_for(host.begun, len(names))
            if for_s < 1:
                wait_for(events, 1)
        assert [name for name, _, _ in host.begun] == names
        assert {share for _, share, _ in host.begun} == {"0.6"}
        assert sum((c for _, _, c in host.begun), ()) == cpus
        assert (host.running, [event.action for event in events]) == ([], ["spike"])


@pytest.mark.parametrize(
    ("action", "for_s"), [("spike", 0.0), ("page-out", 0.0), ("hang", 0.0), ("kill", 1.0)]
)
def test_only_what_lasts_has_a_length(action, for_s):
    """Nothing else lasts."""
    with pytest.raises(ValueError, match="have a length"):
        Disturbance(at_s=0.0, action=action, node="app-1", for_s=for_s)


class Balancer:
    """Notes its orders in the stack's list; a node has two requests under way when it is asked."""

    def __init__(self, done):
        self.done = done
        self.busy = [2, 1, 0]

    def drain(self, name):
        self.done.append(("drain", name))

    def take_out(self, name):
        self.done.append(("take out", name))

    def put_back(self, name):
        self.done.append(("put back", name))

    def under_way(self, name):
        return self.busy.pop(0)


def test_a_node_hangs_for_its_time_and_goes_on():
    """Also where the load is over before: nothing is left standing still."""
    for for_s in (0.05, 3600.0):
        stack, events = Stack(), []
        hang = Disturbance(at_s=0.0, action="hang", node="app-1", for_s=for_s)
        with disturbed(stack, spec(hang), time.monotonic_ns(), events):
            wait_for(stack.done, 1)
            if for_s < 1:
                wait_for(events, 1)
        assert stack.done == [("suspend", "app-1"), ("resume", "app-1")]
        assert [(one.action, one.is_end, one.is_outage) for one in events] == [
            ("hang", False, True)
        ]


@pytest.mark.parametrize("action", ["drain", "renew"])
def test_a_node_is_drained_in_good_order(action):
    """No new sessions, then nothing at all, then its answers are awaited; only then it ends."""
    stack, events = Stack(), []
    stack.balancer = Balancer(stack.done)
    drain = Disturbance(at_s=0.0, action=action, node="app-1", for_s=0.02)
    with disturbed(stack, spec(drain), time.monotonic_ns(), events):
        wait_for(events, 3 if action == "renew" else 2)
    again = [("start", "app-1"), ("put back", "app-1")] if action == "renew" else []
    orders = [("drain", "app-1"), ("take out", "app-1"), ("stop", "app-1")]
    assert (stack.done, stack.balancer.busy) == ([*orders, *again], [])
    assert [one.action for one in events] == [action, "stop", *(["start"] if again else [])]
    assert [one.is_end for one in events][:2] == [False, True]


def test_nothing_can_be_drained_without_a_balancer():
    """The trial fails with the reason."""

    class Alone(Stack):
        asked = False

        @property
        def balancer(self):
            self.asked = True

    stack = Alone()
    drain = Disturbance(at_s=0.0, action="drain", node="app-1")
    with (
        pytest.raises(TrialError, match="no balancer"),
        disturbed(stack, spec(drain), time.monotonic_ns(), []),
    ):
        wait_until(lambda: stack.asked)


def test_what_is_not_due_yet_is_left_undone():
    """A load that ends early takes its disturbances with it."""
    stack, events = Stack(), []
    with disturbed(stack, spec(one(3600.0)), time.monotonic_ns(), events):
        pass
    assert (stack.done, events) == ([], [])


def test_a_node_that_does_not_come_back_fails_the_trial():
    """The reason is the node's, raised where the trial is run."""
    refused, stack = pytest.raises(TrialError, match="no; expected yes"), Stack(failing=True)
    with refused, disturbed(stack, spec(one(0.0)), time.monotonic_ns(), []):
        wait_until(lambda: stack.refused)


def test_paging_goes_on_for_its_time(monkeypatch):
    """Pages are taken again and again, and no longer than the load runs."""
    taken = []
    monkeypatch.setattr(disturbing, "page_out", lambda pid: taken.append(pid) or 4096)
    stack, events = Stack(), []
    stack.node = lambda name: SimpleNamespace(process=SimpleNamespace(pid=7))
    paging = Disturbance(at_s=0.0, action="page-out", node="app-1", for_s=30.0)
    with disturbed(stack, spec(paging), time.monotonic_ns(), events):
        wait_for(taken, 3)
    assert set(taken) == {7} and len(taken) >= 3
    assert [event.action for event in events] == ["page-out"]


def test_a_heap_without_a_file_fails_the_trial(monkeypatch):
    """A paging trial that took nothing must not pass for one that paged."""
    asked = []
    monkeypatch.setattr(disturbing, "page_out", lambda pid: asked.append(pid) or 0)
    stack = Stack()
    stack.node = lambda name: SimpleNamespace(process=SimpleNamespace(pid=7))
    paging = Disturbance(at_s=0.0, action="page-out", node="app-1", for_s=1.0)
    with (
        pytest.raises(TrialError, match="no heap in a file"),
        disturbed(stack, spec(paging), time.monotonic_ns(), []),
    ):
        wait_until(lambda: asked)


def test_several_are_done_at_the_same_time(tmp_path):
    """Two hosts contend from the same moment: no spike waits for the end of another."""
    hosts = {"app-1": Host(), "app-2": Host()}
    stack = SimpleNamespace(
        folder=tmp_path, node=lambda name: SimpleNamespace(host=hosts[name], cpus=())
    )
    spikes = [Disturbance(at_s=0.0, action="spike", node=name, for_s=3600.0) for name in hosts]
    with disturbed(stack, spec(*spikes), time.monotonic_ns(), []):
        wait_until(lambda: all(host.running for host in hosts.values()))
        assert all(len(host.running) == 1 for host in hosts.values())
    assert not any(host.running for host in hosts.values())


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"cpu_limit": 0.5, "cpus": (0,)}, [("limits", 0.5, None, (0,))]),
        ({"memory_mib": 512}, [("memory", 512)]),
        ({"cpu_weight": 256, "memory_mib": 64}, [("limits", None, 256, ()), ("memory", 64)]),
    ],
)
def test_a_host_is_resized(limits, told):
    """Limits for the CPU go together; those that are not given stay as they were."""
    done, events = [], []
    host = SimpleNamespace(
        set_limits=lambda *words: done.append(("limits", *words)),
        set_memory=lambda mib: done.append(("memory", mib)),
    )
    stack = SimpleNamespace(node=lambda _: SimpleNamespace(host=host))
    resize = Disturbance(at_s=0.0, action="resize", node="app-1", limits=HostLimits(**limits))
    with disturbed(stack, spec(resize), time.monotonic_ns(), events):
        wait_for(events, 1)
    assert done == told
    with pytest.raises(ValueError, match="gets limits"):
        Disturbance(at_s=0.0, action="resize", node="app-1")
    with pytest.raises(ValueError, match="gets limits"):
        Disturbance(at_s=0.0, action="kill", node="app-1", limits=HostLimits(**limits))
