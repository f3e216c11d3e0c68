"""The sampler with a clock and a wait of the test's own: nothing here sleeps."""

import threading

import polars as pl
import pytest

from sizebook.model.bundle import COUNTER_COLUMNS
from sizebook.model.notes import NOTES, ProbeNotes
from sizebook.probes.base import CounterSample, QuietProbe, Unavailable
from sizebook.probes.sampler import LATE_NS, Sampler

S = 1_000_000_000


class Clock:
    """Time that passes only when somebody waits or works."""

    def __init__(self, stop_s):
        self.now_ns, self.stop_ns, self.cpu_ns = 0, int(stop_s * S), 0

    def read(self):
        return self.now_ns

    def cpu(self):
        return self.cpu_ns

    def wait(self, seconds):
        self.now_ns += round(seconds * S)
        return self.now_ns > self.stop_ns

    def work(self, seconds):
        self.now_ns += round(seconds * S)
        self.cpu_ns += round(seconds * S)


class Fake(QuietProbe):
    """A probe that takes the given time, fails when told to, and counts its moments."""

    def __init__(self, name, clock, interval_s=1.0, takes_s=0.0, fails=lambda _: None):
        self.name, self.host, self.interval_s = name, "local", interval_s
        self._clock, self._takes_s, self._fails = clock, takes_s, fails
        self.calls, self.moments = 0, []

    def attach(self):
        self.moments.append("attach")

    def sample(self):
        self.calls += 1
        self._clock.work(self._takes_s(self.calls) if callable(self._takes_s) else self._takes_s)
        if error := self._fails(self.calls):
            raise error
        return [CounterSample("fake", "calls", self.calls), CounterSample("fake", "lacking", None)]

    def detach(self):
        self.moments.append("detach")


def sampler(clock, *probes):
    return Sampler(probes, clock_ns=clock.read, thread_cpu_ns=clock.cpu, wait=clock.wait)


def values(frame, metric):
    return frame.filter(pl.col("metric").cast(pl.String) == metric)["value"].to_list()


def times(frame, metric):
    return frame.filter(pl.col("metric").cast(pl.String) == metric)["time_ns"].to_list()


def test_deadlines_are_absolute():
    """Probes of 1 and 4 Hz are read at their own multiples, however long a reading takes."""
    clock = Clock(3)
    slow, fast = Fake("slow", clock, 1.0, 0.01), Fake("fast", clock, 0.25, 0.001)
    run = sampler(clock, slow, fast)
    run.run()
    assert (slow.calls, fast.calls) == (3, 12)
    assert values(run.frame(), "missed_ticks/fast")[-1] == 0
    assert max(t % (S // 4) for t in times(run.frame(), "calls")) <= 0.012 * S


def test_probes_are_spread_over_their_interval():
    """Four probes of 1 Hz are read a quarter of a second apart, not in one burst."""
    clock = Clock(2)
    run = sampler(clock, *(Fake(f"probe{n}", clock) for n in range(4)))
    run.run()
    assert times(run.frame(), "calls") == [n * S // 4 for n in range(1, 9)]


def test_late_readings_are_counted_not_filled_in():
    """A reading that takes 3.5 s costs three ticks, which are counted and stay missing."""
    clock = Clock(9)
    probe = Fake("slow", clock, 1.0, lambda call: 3.5 if call == 2 else 0.0)
    run = sampler(clock, probe)
    run.run()
    frame = run.frame()
    assert values(frame, "missed_ticks/slow")[-1] == 3
    assert [round(t / S, 2) for t in times(frame, "calls")] == [1, 3.75, 6, 7, 8, 9]


def test_a_failing_probe_stops_nobody():
    """What raises is missing with its reason; the others, and later readings, go on."""
    clock = Clock(4)
    bad = Fake("bad", clock, fails=lambda call: Unavailable("gone") if call in (2, 3) else None)
    worse = Fake("worse", clock, fails=lambda call: ZeroDivisionError("oh"))
    good = Fake("good", clock)
    run = sampler(clock, worse, bad, good)
    run.run()
    assert (bad.calls, worse.calls, good.calls) == (4, 4, 4)
    assert values(run.frame(), "failed_reads/bad")[-1] == 2
    told = {(one.probe, one.reason, one.times) for one in run.missing()}
    assert told == {("bad", "Unavailable: gone", 2), ("worse", "ZeroDivisionError: oh", 4)}
    assert values(run.frame(), "calls").count(2) == 1


def test_missing_values_stay_missing():
    """A metric that the probe asked for and did not get is null, not zero."""
    clock = Clock(1)
    run = sampler(clock, Fake("probe", clock))
    run.snapshot()
    assert values(run.frame(), "lacking") == [None]


def test_snapshots_bracket_the_run():
    """As a context manager it attaches, reads once, samples, reads once, detaches."""
    clock = Clock(0)
    probe = Fake("probe", clock)
    run = sampler(clock, probe)
    with run:
        pass
    assert probe.moments == ["attach", "detach"]
    assert values(run.frame(), "calls") == [1, 2]


def test_snapshot_comes_after_a_failed_body():
    """The last snapshot is taken even if the trial fails."""
    clock = Clock(0)
    probe = Fake("probe", clock)
    run = sampler(clock, probe)
    with pytest.raises(KeyboardInterrupt), run:
        raise KeyboardInterrupt
    assert probe.moments == ["attach", "detach"] and probe.calls == 2


def test_a_probe_that_cannot_attach_is_asked_again():
    """A failing attach is a missing reading with reason; sampling still tries."""
    clock = Clock(0)
    probe = Fake("probe", clock)
    probe.attach = lambda: 1 / 0
    run = sampler(clock, probe)
    with run:
        pass
    assert probe.calls == 2 and "ZeroDivisionError" in run.missing()[0].reason


def test_frame_has_the_columns_of_a_bundle():
    """Columns and types are those of counters.parquet, with and without readings."""
    clock = Clock(1)
    run = sampler(clock, Fake("probe", clock))
    for _ in range(2):
        frame = run.frame()
        assert {n: str(t) for n, t in frame.schema.items()} == COUNTER_COLUMNS
        run.snapshot()


def test_own_cost_is_recorded():
    """CPU seconds of the sampling thread, and of each probe in it, are counters of their own."""
    clock = Clock(3)
    run = sampler(clock, Fake("probe", clock, takes_s=0.01))
    run.run()
    assert values(run.frame(), "sampler_cpu_s") == pytest.approx([0.01, 0.02, 0.03])
    assert values(run.frame(), "probe_cpu_s/probe") == pytest.approx([0.01, 0.02, 0.03])


def test_names_are_unique():
    """Two probes of one name would share their counters."""
    clock = Clock(1)
    with pytest.raises(ValueError, match="share a name"):
        sampler(clock, Fake("same", clock), Fake("same", clock))


def test_reasons_are_stored(tmp_path):
    """Why readings are missing is a file of the bundle, only if any are."""
    clock = Clock(1)
    bad = Fake("postgres:database", clock, fails=lambda _: Unavailable("no such database"))
    run = sampler(clock, bad)
    run.store(tmp_path)
    assert list(tmp_path.iterdir()) == []
    run.snapshot()
    bad.lacking = lambda: {"cgroup_memory_peak_bytes": "memory.peak: No such file"}
    run.store(tmp_path)
    notes = ProbeNotes.model_validate_json((tmp_path / NOTES).read_text())
    (missing,) = notes.why_missing("database")
    assert (missing.reason, missing.times) == ("Unavailable: no such database", 1)
    assert notes.why_missing("host") == ()
    assert notes.lacking[0].reasons["cgroup_memory_peak_bytes"].startswith("memory.peak")


def test_a_failing_source_leaves_nulls():
    """Each metric of the last good reading is null where the source failed, never 0 or repeated."""
    clock = Clock(4)
    bad = Fake("bad", clock, fails=lambda call: Unavailable("gone") if call in (2, 3) else None)
    run = sampler(clock, bad)
    run.run()
    assert values(run.frame(), "calls") == [1, None, None, 4]
    assert times(run.frame(), "calls") == [S, 2 * S, 3 * S, 4 * S]
    never = sampler(clock, Fake("never", clock, fails=lambda _: Unavailable("gone")))
    never.snapshot()
    assert values(never.frame(), "calls") == []
    assert values(never.frame(), "failed_reads/never") == [1]


@pytest.mark.parametrize("takes_s", [0.001, 0.03, 0.25, 1.7])
def test_every_deadline_is_accounted_for(takes_s):
    """Readings, failures and missed ticks are the deadlines that came: at 10 Hz, however slow."""
    clock = Clock(20)
    probes = [
        Fake("a", clock, 0.1, takes_s),
        Fake("b", clock, 0.1, 0.0, lambda call: Unavailable("gone") if call % 3 == 0 else None),
        Fake("c", clock, 1.0, 0.002),
    ]
    run = sampler(clock, *probes)
    run.run()
    run.snapshot()
    frame = run.frame()
    for probe in probes:
        due, missed = (
            values(frame, f"{name}/{probe.name}")[-1] for name in ("due_ticks", "missed_ticks")
        )
        assert due == probe.calls - 1 + missed
        assert due >= 19 / probe.interval_s


@pytest.mark.parametrize("takes_s", [0.0, 0.02, LATE_NS / S, LATE_NS / S + 0.001, 2.5])
def test_what_is_read_at_given_times_is_over_soon_after_them_or_missing(takes_s):
    """Readings bear the given times; how late they were is told; a late answer is nobody's."""
    clock = Clock(9)
    probe = Fake("probe", clock, takes_s=lambda call: takes_s if call in (2, 3) else 0.01)
    run = sampler(clock, probe)
    run.start((S, 2 * S, 3 * S, 4 * S))
    run.stop()
    frame = run.frame()
    missed, late_s = (values(frame, f"{name}/probe")[-1] for name in ("missed_ticks", "late_s"))
    in_time = takes_s * S <= LATE_NS
    known = [value for value in values(frame, "calls") if value is not None]
    assert missed == 4 - len(known)
    assert missed == (0 if in_time else 3 if takes_s > 1 else 2)
    assert set(times(frame, "calls")) <= {S, 2 * S, 3 * S, 4 * S}
    assert late_s == pytest.approx(0.02 + 2 * takes_s if in_time else 0.01 * len(known))
    assert values(frame, "due_ticks/probe")[-1] == 4


def test_real_thread_starts_and_stops():
    """With the real clock the thread ends at once when told to."""
    clock = Clock(0)
    probe = Fake("probe", clock, interval_s=3600)
    run = Sampler([probe])
    with run, pytest.raises(RuntimeError, match="is running"):
        run.start()
    run.stop()
    assert probe.calls == 2


class Asking(QuietProbe):
    """A probe whose every reading waits for a word from elsewhere."""

    host, interval_s = "local", 0.001

    def __init__(self, name, asks, word):
        self.name, self.asks, self._word = name, asks, word
        self.threads, self.seen = set(), threading.Event()

    def sample(self):
        if threading.current_thread() is not threading.main_thread():
            self.threads.add(threading.current_thread().name)
            assert self._word.wait(20)
            self.seen.set()
        return [CounterSample(self.asks or "fake", "calls", 1)]


def test_who_answers_late_costs_only_its_own_readings():
    """While one node says nothing, the machine and another node are read; threads end after it."""
    said, late = threading.Event(), threading.Event()
    said.set()
    own, prompt = Asking("own", "", said), Asking("a", "app-1", said)
    busy, also = Asking("b", "app-2", late), Asking("c", "app-2", late)
    run = Sampler([own, prompt, busy, also])
    assert run.asked == ("", "app-1", "app-2")
    with run:
        assert own.seen.wait(20) and prompt.seen.wait(20)
        assert not busy.seen.is_set() and not also.seen.is_set()
        late.set()
        assert busy.seen.wait(20) and also.seen.wait(20)
    assert busy.threads == also.threads == {"probes app-2"}
    assert len(own.threads | prompt.threads | busy.threads) == 3
    assert not any(thread.name.startswith("probes") for thread in threading.enumerate())


def test_what_a_trial_lacked_outlives_the_next_ones_beginning(tmp_path):
    """Probes serve one trial after the other; the notes are written when the next is attached."""
    probe = Fake("fake:server/shop-1", Clock(1))
    probe.lacking = lambda: {"x": "not there"}
    run = Sampler([probe])
    run.attach()
    run.detach()
    probe.lacking = dict
    run.store(tmp_path)
    notes = ProbeNotes.model_validate_json((tmp_path / NOTES).read_text())
    assert notes.why_lacking("server/shop") == {"x": "not there"}
