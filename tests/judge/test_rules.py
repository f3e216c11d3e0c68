"""What each rule says at and beyond its bounds, in files made for it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from bench.queueing import Server, SimulatedRun, closed, open_load

from bench import foreignfiles as files
from sizebook.judge import ForeignFinding, Judged, judge_results, read_results
from sizebook.judge.judging import RULES, shared_warning

DATA = Path(__file__).parent / "data"
HEAD = "timeStamp,elapsed,label,threadName,success,allThreads\n"
BEGIN_MS = 1_700_000_000_000


def say(judged: Judged, number: str) -> ForeignFinding:
    return next(each for each in judged.findings if each.rule.startswith(number))


def evenly(n: int, step_ms: float, latency_ms, **columns) -> bytes:
    """Return a JTL of requests at even steps of time, of four threads in turn."""
    latency = np.broadcast_to(latency_ms, n)
    failed, threads = columns.get("failed", np.zeros(n, bool)), columns.get("threads", 4)
    rows = [
        f"{BEGIN_MS + int(i * step_ms)},{int(latency[i])},a,t {i % 4},{not failed[i]},{threads}"
        for i in range(n)
    ]
    return (HEAD + "\n".join(rows) + "\n").encode()


def test_every_rule_answers_for_every_file() -> None:
    """Whatever the file holds; ids, titles and remedies are there, and ids are unique."""
    paths = [path for path in sorted(DATA.iterdir()) if path.suffix != ".bin"]
    assert len(paths) > 12
    for path in paths:
        judged = judge_results(read_results(path))
        assert [each.rule for each in judged.findings] == [rule.id for rule, _ in RULES]
        for each in judged.findings:
            assert each.words
            assert each.words.startswith("cannot be known: ") == (each.weight == "unknown")
            assert all(np.isfinite(value) for value in each.numbers.values())
    assert len({rule.id for rule, _ in RULES}) == len(RULES) == 16
    assert all(rule.title and rule.remedy.endswith(".") for rule, _ in RULES)


def test_a_few_unreadable_rows_are_a_caution_and_many_are_wrong(judge) -> None:
    """One in a thousand is the bound."""
    data = evenly(4000, 10, 20)
    broken = b"x,y,z,t,true,4\n"
    assert say(judge(data), "FR101").weight == "fine"
    assert say(judge(data + broken), "FR101").weight == "caution"
    assert say(judge(data + 10 * broken), "FR101").weight == "wrong"
    assert say(judge(data[:-3]), "FR101").weight == "wrong"


def test_rows_that_come_late_are_no_clock_that_was_set(judge) -> None:
    """Generators that write in batches are put in order; the figures stay."""
    lines = evenly(6000, 10, 20).decode().splitlines()
    late = lines[1000:1200]
    mixed = [lines[0], *lines[1:1000], *lines[1200:3000]]
    for at, line in enumerate(late):
        mixed.insert(1400 + 5 * at, line)
    mixed += lines[3000:]
    found = say(judge(("\n".join(mixed) + "\n").encode()), "FR102")
    assert found.weight == "caution"
    assert "200 of 6,000 rows come up to" in found.words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"http_req_duration": {"p(95)": 900.0}}, "above p100"),
        ({"http_req_duration": {"med": 30.0}}, "above p90"),
        ({"http_req_duration": {"avg": 99.0}}, "the mean is 99 ms"),
        ({"http_reqs": {"count": 9_000}, "http_req_failed": {"passes": 0}}, "are counted"),
        ({"http_req_failed": {"passes": 10_000}}, "failed"),
    ],
)
def test_sums_that_cannot_all_be_true(judge, change, words) -> None:
    """Each by itself, in a summary that is otherwise in order."""
    duration = {"avg": 9.0, "min": 1.0, "med": 8.0, "max": 40.0, "p(90)": 15.0, "p(95)": 20.0}
    metrics = {
        "http_req_duration": duration,
        "http_reqs": {"count": 6000, "rate": 100.0},
        "http_req_failed": {"passes": 0, "fails": 6000, "value": 0},
    }
    document = {"metrics": metrics, "state": {"testRunDurationMs": 60_000}}
    assert say(judge(json.dumps(document).encode()), "FR103").weight == "fine"
    for name, values in change.items():
        metrics[name] = metrics[name] | values
    found = say(judge(json.dumps(document).encode()), "FR103")
    assert found.weight == "wrong"
    assert words in found.words


def test_percentiles_of_all_may_lie_where_the_rows_allow(judge) -> None:
    """Locust's own row passes, also with rows of very different speed; a plain mean does not."""
    parts = [
        closed(Server(service_s=s), users=5, think_s=0.02, length_s=20, seed=i)
        for i, s in enumerate((0.003, 0.060))
    ]
    joined = {
        key: np.concatenate([getattr(part, key) for part in parts])
        for key in ("start_s", "latency_s", "failed", "user", "users")
    }
    names = np.repeat([0, 1], [part.size for part in parts])
    run = SimulatedRun(**joined, name=names, length_s=20.0)
    assert say(judge(files.locust_stats(run)), "FR502").weight == "fine"
    found = say(judge(files.locust_stats(run, averaged=True)), "FR502")
    assert found.weight == "wrong"
    assert "mean of the rows'" in found.words


def test_percentiles_of_windows_cannot_be_put_together() -> None:
    """Locust's full history has those of ten seconds each."""
    found = judge_results(read_results(DATA / "locust-2_full_history.csv"))
    assert say(found, "FR502").weight == "caution"


def test_several_sums_are_warned_of() -> None:
    """Their percentiles cannot be put together; requests can."""
    sums = [judge_results(read_results(DATA / f"k6-1.8.1-{f}.json")) for f in ("export", "handled")]
    assert "2 files" in shared_warning(sums)
    assert shared_warning(sums[:1]) == ""
    tables = [judge_results(read_results(DATA / "vegeta-12.13.ndjson"))] * 2
    assert shared_warning(tables) == ""


def test_closed_and_open_are_told_by_who_sends(judge) -> None:
    """Few threads with many requests each; many that send one; users who come one by one."""
    run = closed(Server(), users=5, think_s=0.05, length_s=12, seed=1)
    assert "closed load: 5 threads" in say(judge(files.jtl_csv(run, 5)), "FR201").words
    arrivals = open_load(Server(), rate_per_s=50, length_s=12, seed=2)
    assert "open load" in say(judge(files.jtl_csv(arrivals, 9)), "FR201").words
    assert "open load" in say(judge(files.gatling_log(arrivals, users=False)), "FR201").words
    assert "closed load" in say(judge(files.gatling_log(run, users=True)), "FR201").words
    full = closed(Server(servers=2), users=5, think_s=0, length_s=12, seed=3)
    assert "closed load" in say(judge(files.k6_lines(full, 5)), "FR201").words
    assert say(judge(files.k6_lines(run, 5)), "FR201").weight == "unknown"


def test_the_omission_is_as_large_as_the_stall(judge) -> None:
    """An open load that went on tells the truth, which the corrected percentile comes near to."""
    server = Server(freezes=((30, 3),))
    waiting = closed(server, users=20, think_s=0, length_s=60, seed=4)
    found = say(judge(files.jtl_csv(waiting, 20)), "FR202")
    truth = open_load(server, rate_per_s=700, length_s=60, seed=5)
    p99_ns = float(np.quantile(truth.latency_s, 0.99)) * 1e9
    assert found.numbers["recorded_ns"] < 0.05 * p99_ns
    assert found.numbers["corrected_ns"] == pytest.approx(p99_ns, rel=0.2)
    ok = say(judge(files.vegeta_lines(truth)), "FR202")
    assert ok.weight == "fine"


def test_what_a_tool_says_of_its_correction_counts(judge) -> None:
    """wrk2 corrects, and says where it does not."""
    run = open_load(Server(), rate_per_s=100, length_s=40, seed=6)
    data = files.wrk2(run, 8, 100.0)
    assert say(judge(data), "FR202").weight == "fine"
    raw = data.replace(b"HdrHistogram - Recorded Latency", b"HdrHistogram - Uncorrected Latency")
    assert say(judge(raw), "FR202").weight == "wrong"


def test_a_generator_that_paused_is_not_taken_for_a_server_that_did(judge) -> None:
    """Nothing was under way meanwhile."""
    first, second = evenly(3000, 10, 5), evenly(3000, 10, 5)
    later = second.decode().splitlines()[1:]
    moved = [f"{int(x[:13]) + 34_000}{x[13:]}" for x in later]
    judged = judge(first + ("\n".join(moved) + "\n").encode())
    assert say(judged, "FR204").weight == "wrong"
    assert "the generator itself paused" in say(judged, "FR204").words
    assert say(judged, "FR202").weight != "wrong"


def test_users_of_one_generator_and_requests_of_several(judge) -> None:
    """More under way than there are threads, by Little's law."""
    assert say(judge(evenly(4000, 10, 35, threads=4)), "FR205").weight == "fine"
    found = say(judge(evenly(4000, 10, 35, threads=2)), "FR205")
    assert found.weight == "wrong"
    assert found.numbers["under_way"] == pytest.approx(3.5, rel=0.01)


def test_a_ramp_is_named_with_what_it_changes(judge) -> None:
    """Users who begin over a third of the run lower its rate."""
    run = closed(Server(), users=20, think_s=0.1, length_s=60, ramp_s=20, seed=7)
    found = say(judge(files.jtl_csv(run, 20)), "FR302")
    assert found.weight == "wrong"
    assert "ramp and warm-up last 1" in found.words or "ramp and warm-up last 2" in found.words
    assert found.numbers["rate"] < -0.05


def test_a_load_that_changes_by_design_has_no_level(judge) -> None:
    """Neither warm-up nor steady state can be told of it."""
    low = closed(Server(), users=4, think_s=0.1, length_s=30, seed=8)
    high = closed(Server(), users=20, think_s=0.1, length_s=30, seed=9)
    joined = {
        key: np.concatenate([getattr(x, key) for x in (high, low, high)])
        for key in ("latency_s", "failed", "user", "name")
    }
    starts = np.concatenate([high.start_s, low.start_s + 30, high.start_s + 60])
    users = np.repeat([20.0, 4.0, 20.0], [high.size, low.size, high.size])
    run = SimulatedRun(start_s=starts, users=users, length_s=90.0, **joined)
    judged = judge(files.jtl_csv(run, 20))
    assert say(judged, "FR303").weight == "unknown"
    assert "number of users changes" in say(judged, "FR302").words


def test_short_runs(judge) -> None:
    """Ten seconds and half a minute are the bounds; one long answer counts, too."""
    for seconds, weight in ((8, "wrong"), (20, "caution"), (40, "fine")):
        assert say(judge(evenly(seconds * 100, 10, 20)), "FR301").weight == weight
    latency = np.full(4000, 20)
    latency[100] = 30_000
    assert say(judge(evenly(4000, 10, latency)), "FR301").weight == "wrong"


def test_errors_count_by_share_and_by_what_they_change(judge) -> None:
    """Few slow ones are wrong where they move a percentile; few quick ones are a caution."""
    n = 4000
    random = np.random.default_rng(1)
    latency = random.integers(15, 25, n)
    failed = np.zeros(n, bool)
    assert say(judge(evenly(n, 10, latency, failed=failed)), "FR401").weight == "fine"
    failed[::500] = True
    assert say(judge(evenly(n, 10, latency, failed=failed)), "FR401").weight == "caution"
    failed[::50] = True
    found = say(judge(evenly(n, 10, latency, failed=failed)), "FR401")
    assert (found.weight, found.numbers["share"]) == ("wrong", 0.02)
    few = np.arange(n) % 120 == 0
    slow = np.where(few, 400, latency)
    assert say(judge(evenly(n, 10, slow, failed=few)), "FR401").weight == "caution"
    many = np.arange(n) % 101 == 0
    found = say(judge(evenly(n, 10, np.where(many, 5000, latency), failed=many)), "FR401")
    assert found.weight == "caution" or "p99" in found.words


def test_a_tail_that_ends_at_a_time_out(judge) -> None:
    """Many at one value far above; a tail that thins out is none."""
    random = np.random.default_rng(2)
    tail = np.minimum(random.lognormal(3, 1, 6000), 400)
    cut = tail.copy()
    cut[::300] = 2000
    assert say(judge(evenly(6000, 10, cut)), "FR402").weight == "wrong"
    free = random.exponential(20, 6000) + 1
    assert say(judge(evenly(6000, 10, free)), "FR402").weight == "fine"


def test_percentiles_that_are_printed_need_their_samples(judge) -> None:
    """JMeter prints p99: 1,000 requests."""
    assert say(judge(evenly(999, 40, 20)), "FR501").weight == "wrong"
    assert say(judge(evenly(1000, 40, 20)), "FR501").weight == "fine"


def test_coarse_steps(judge) -> None:
    """Two steps of the recorder in the median, and ten, are the bounds."""
    for latency, weight in ((2, "wrong"), (3, "caution"), (9, "caution"), (10, "fine")):
        assert say(judge(evenly(4000, 10, latency)), "FR503").weight == weight
    run = open_load(Server(service_s=0.0005), rate_per_s=100, length_s=12, seed=3)
    assert say(judge(files.vegeta_lines(run)), "FR503").weight == "fine"
