"""Claims put to the test: which trials count, every verdict, every reason (synthetic numbers)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest import mock

import polars as pl
import pytest

from sizebook.checks.design_rules import SET_RULES
from sizebook.model.claim import CLAIM_VERDICTS, Claim, ClaimOutcome, own_claim
from sizebook.model.errors import UsageError
from sizebook.model.verdict import Finding, Judgement
from sizebook.report.claim_card import render_card, render_text
from sizebook.report.claims import (
    decide_claim,
    decide_event_claim,
    find_claim,
    leave_untested,
)
from sizebook.report.eligibility import LIMITS, judge_limits
from sizebook.report.evidence import hash_json
from sizebook.report.page import Page
from sizebook.report.sides import name_levels
from sizebook.stats.noise import noise_floor

SLOWER = own_claim("slower", "b takes longer than a <script>.", "gt")
LEFT, RIGHT = {"name": "b"}, {"name": "a"}
VALUES = {"a": [1.0, 1.02, 0.99, 1.01], "b": [1.5, 1.52, 1.49, 1.53], "c": [1.01, 1.0, 1.0, 1.0]}


def rows(verdict: str = "valid", **values: list[float | None]) -> pl.DataFrame:
    """Return one row a trial: a treatment for each keyword, a replicate for each of its values."""
    table = [
        {"name": name, "replicate": number, "verdict": verdict, "bundle": f"{name}-{number}",
         "total_time_s": value, "throughput_per_s": value, "ok": value == 1.0}
        for name, each in (values or VALUES).items()
        for number, value in enumerate(each)
    ]  # fmt: skip
    return pl.DataFrame(table)


def trials_of(
    frame: pl.DataFrame,
    profile: str = "quick",
    machines: int = 1,
    failing: Sequence[str] = (),
    numbers: dict[str, float] | None = None,
) -> list[Any]:
    """Return stand-ins for the trials behind a frame; ``failing`` rules made what is not valid."""
    failing = failing or ["SB602-jit"]
    return [
        SimpleNamespace(
            verdict=row["verdict"],
            judgement=Judgement(
                row["verdict"],
                tuple(
                    Finding(rule, row["verdict"] == "valid", "", numbers or {}, row["verdict"])
                    for rule in failing
                ),
            ),
            bundle=SimpleNamespace(
                id=row["bundle"],
                sha256="a" * 64,
                record=SimpleNamespace(
                    trial=SimpleNamespace(
                        profile=profile, load=SimpleNamespace(locustfile="x", arrivals=None)
                    ),
                    fingerprints=SimpleNamespace(
                        data={},
                        machine=number % machines,
                        stack="s",
                        locustfile="l",
                        capture_version=1,
                    ),
                    generator=None,
                ),
            ),
        )
        for number, row in enumerate(frame.iter_rows(named=True))
    ]


def decide(frame: pl.DataFrame, claim: Claim = SLOWER, **options: Any) -> ClaimOutcome:
    """Return the outcome of a claim about b beside a."""
    trials = trials_of(frame, options.pop("profile", "quick"), options.pop("machines", 1))
    pairs = options.pop("pairs", [(LEFT, RIGHT)])
    metric = options.pop("metric", "total_time_s")
    options = {"least": 1.1} | options
    return decide_claim(
        claim, frame, metric, pairs, chapter="alpha", trials=trials, **options
    ).outcome


def test_a_clear_effect_confirms_and_its_absence_contradicts() -> None:
    """Ratio, interval and number of replicates stand beside the verdict."""
    found = decide(rows())
    assert (found.verdict, found.n, found.chapter) == ("confirmed", 4, "alpha")
    assert found.effect == pytest.approx(1.5, abs=0.02)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.effect < found.high
    assert decide(rows(), pairs=[({"name": "c"}, RIGHT)]).verdict == "contradicted"
    assert decide(rows(), pairs=[(RIGHT, LEFT)]).verdict == "contradicted"


@pytest.mark.parametrize(
    ("relation", "metric", "left", "verdict"),
    [
        ("gt", "total_time_s", "b", "confirmed"),
        ("increases", "total_time_s", "b", "confirmed"),
        ("lt", "total_time_s", "b", "contradicted"),
        ("decreases", "total_time_s", "b", "contradicted"),
        ("approx", "total_time_s", "c", "confirmed"),
        ("level", "total_time_s", "c", "confirmed"),
        ("approx", "total_time_s", "b", "contradicted"),
        # less time and more throughput are improvements, which "stagnates" denies
        ("stagnates", "total_time_s", "c", "confirmed"),
        ("stagnates", "total_time_s", "b", "confirmed"),
        ("stagnates", "throughput_per_s", "c", "confirmed"),
        ("stagnates", "throughput_per_s", "b", "contradicted"),
    ],
)
def test_every_relation_is_read_as_the_reports_mean_it(
    relation: Any, metric: str, left: str, verdict: str
) -> None:
    """Left beside right, and the metric's own better direction for "stagnates"."""
    claim = own_claim("x", "x.", relation)
    found = decide(rows(), claim, metric=metric, pairs=[({"name": left}, RIGHT)])
    assert (found.verdict, found.relation) == (verdict, relation)


@pytest.mark.parametrize(
    ("verdict", "decided"),
    [("noisy", "confirmed"), ("no steady state", "confirmed"), ("failed", "undetermined"),
     ("stale", "undetermined")],
)  # fmt: skip
def test_bytes_count_whatever_the_times_are_worth(verdict: str, decided: str) -> None:
    """A doubt about time does not touch how many bytes were sent; a wrong account does."""
    frame = rows().with_columns(verdict=pl.lit(verdict), body_bytes=pl.col("total_time_s"))
    assert decide(frame, metric="body_bytes").verdict == decided
    assert decide(frame).verdict == "undetermined"


@pytest.mark.parametrize(
    ("metric", "rule", "verdict", "decided"),
    [
        ("switches_per_request", "SB601-steady", "noisy", "confirmed"),
        ("switches_per_request", "SB601-steady", "no steady state", "undetermined"),
        ("switches_per_request", "SB602-jit", "noisy", "undetermined"),
        ("app_cpu_ms", "SB601-steady", "noisy", "confirmed"),
        ("app_cpu_ms", "SB602-jit", "noisy", "undetermined"),
        ("first_answer_s", "SB601-steady", "no steady state", "confirmed"),
        ("first_answer_s", "SB401-steal", "noisy", "undetermined"),
        ("total_time_s", "SB601-steady", "noisy", "undetermined"),
        ("total_ms", "SB202-generator-lag", "generator-bound", "confirmed"),
        ("total_ms", "SB602-jit", "noisy", "undetermined"),
        ("dialogue_total_ms", "SB202-generator-lag", "generator-bound", "confirmed"),
        ("answer_ms", "SB202-generator-lag", "generator-bound", "undetermined"),
    ],
)
def test_a_doubt_touches_what_it_is_about(
    metric: str, rule: str, verdict: str, decided: str
) -> None:
    """Trials that count although they are doubted are counted in words."""
    frame = rows(verdict).with_columns(pl.col("total_time_s").alias(metric))
    trials = trials_of(frame, failing=[rule])
    outcome = decide_claim(
        SLOWER, frame, metric, [(LEFT, RIGHT)], chapter="alpha", trials=trials, note="Read so"
    ).outcome
    assert outcome.verdict == decided, outcome.reason
    words = "Read so; 8 of the 8 trials that count have warnings that do not matter here: "
    assert outcome.note.startswith(words if decided == "confirmed" else "Read so")
    assert (words in outcome.note) == (decided == "confirmed")


def unsure(largest: float, change: str = "latency_shift") -> dict[str, float]:
    """Return what SB601 says of a change that may be chance."""
    names = ("throughput_trend", "throughput_shift", "latency_trend", "latency_shift")
    return dict.fromkeys(names, 0.01) | {change: -largest}


def doubting(
    frame: pl.DataFrame,
    largest: float,
    failing: Sequence[str] = ("SB601-steady",),
    change: str = "latency_shift",
) -> ClaimOutcome:
    """Decide about b beside a, where doubted trials changed by so much."""
    trials = trials_of(frame, failing=failing, numbers=unsure(largest, change))
    return decide_claim(
        SLOWER, frame, "total_time_s", [(LEFT, RIGHT)], chapter="alpha", trials=trials, least=1.1
    ).outcome


def test_trials_known_within_a_factor_count_within_it() -> None:
    """Their doubt widens the interval: by the mean of it over a side's replicates, on logs."""
    a, b = VALUES["a"][:3], VALUES["b"][:3]
    sure = doubting(rows(a=a, b=b), 0.3)
    few = pl.concat([rows(a=a), rows(b=b[:1]), rows("noisy", b=b)[1:]])
    found = doubting(few, 0.3)
    assert (found.verdict, found.n, found.effect) == ("confirmed", 3, sure.effect)
    assert sure.low is not None
    assert found.low == pytest.approx(sure.low / 1.3 ** (2 / 3))
    assert found.note == (
        "2 of the 6 trials that count have means that are uncertain by 30%; the interval "
        "includes that"
    )
    trend = doubting(few, 0.6, change="throughput_trend")  # its mean is off by half from its ends
    assert (trend.low, trend.high, trend.note) == (found.low, found.high, found.note)
    assert doubting(few, 0.9).verdict == "undetermined"  # 1.5 may be 0.98
    assert doubting(few, 1.2).n == 1  # a level that is not known at all
    assert doubting(few, 0.3, ["SB601-steady", "SB602-jit"]).n == 1


def test_doubted_trials_count_however_many_are_valid() -> None:
    """Which trials count must not depend on how many others were quiet."""
    frame = rows()
    doubted = frame.with_columns(
        verdict=pl.when(pl.col("bundle") == "b-1").then(pl.lit("noisy")).otherwise("verdict")
    )
    found, sure = doubting(doubted, 0.3), doubting(frame, 0.3)
    assert (found.n, found.effect) == (sure.n, sure.effect) == (4, sure.effect)
    assert sure.low is not None and found.low == pytest.approx(sure.low / 1.3 ** (1 / 4))


def test_a_late_generator_widens_the_interval() -> None:
    """By its lateness beside the mean latency; one that is not known leaves the trial out."""
    few = pl.concat([rows(a=VALUES["a"]), rows("generator-bound", b=VALUES["b"])])
    late = {"lag_p99_ms": 1.0, "lag_max_ms": 1.0, "mean_ms": 5.0}

    def decided(numbers: dict[str, float]) -> ClaimOutcome:
        trials = trials_of(few, failing=["SB202-generator-lag"], numbers=numbers)
        return decide_claim(
            SLOWER, few, "total_time_s", [(LEFT, RIGHT)], chapter="alpha", trials=trials, least=1.1
        ).outcome

    sure, found = doubting(rows(), 0.3), decided(late)
    assert sure.low is not None and found.low == pytest.approx(sure.low / 1.2)
    assert "uncertain by 20%" in found.note
    assert decided(late | {"lag_max_ms": 600.0}).n == 0  # 1.4 times the mean
    assert decided({}).n == 0


def test_what_is_left_out_must_not_decide() -> None:
    """A verdict that every completed trial does not give is none, and the reason names both."""
    blocks = {"a": [1.0, 1.02, 0.99, 1.0, 1.01], "b": [1.5, 1.52, 1.49, 0.4, 0.5]}
    frame = rows(**blocks).with_columns(
        verdict=pl.when(pl.col("bundle").is_in(["b-3", "b-4"]))
        .then(pl.lit("no steady state"))
        .otherwise("verdict")
    )
    found = decide(frame)
    assert (found.verdict, found.n, found.p) == ("undetermined", 3, None)
    assert found.effect == pytest.approx(1.5, abs=0.01)
    assert found.reason.startswith("confirmed by the trials that count (")
    assert "; undetermined with every completed trial (" in found.reason
    for verdict in ("failed", "stale"):  # those say nothing, whoever counts them
        gone = frame.with_columns(verdict=pl.col("verdict").replace("no steady state", verdict))
        assert decide(gone).verdict == "confirmed"
    like_them = rows(**{**blocks, "b": [1.5, 1.52, 1.49, 1.4, 1.6]}).with_columns(frame["verdict"])
    assert decide(like_them).verdict == "confirmed"


def test_an_event_that_was_left_out_must_not_decide_either() -> None:
    """Five valid blocks show it, a doubted sixth does not."""
    frame = pl.concat([rows(a=[1.0] * 5), rows("noisy", a=[1.0] * 5 + [0.0])[5:]])
    trials = trials_of(frame, failing=["SB602-jit"])
    claim = own_claim("kept", "It is kept.", "level")

    def decided(frame: pl.DataFrame) -> ClaimOutcome:
        side = [{"name": "a"}]
        return decide_event_claim(claim, frame, "ok", side, chapter="alpha", trials=trials).outcome

    assert decided(frame).verdict == "undetermined"
    assert "neither in all nor in none" in decided(frame).reason
    assert decided(frame.with_columns(ok=pl.lit(value=True))).verdict == "confirmed"


def test_events_say_which_trials_are_doubted_too() -> None:
    """A valid trial needs no words, one that is doubted otherwise does."""
    frame = pl.concat([rows(a=[1.0] * 3), rows("noisy", b=[1.0, 1.0])]).rename({"ok": "limit_kept"})
    frame = frame.with_columns(name=pl.lit("a"), replicate=pl.Series(range(5)))
    claim = own_claim("kept", "It is kept.", "level")
    trials = trials_of(frame, failing=["SB501-samples"])
    found = decide_event_claim(
        claim, frame, "limit_kept", [{"name": "a"}], chapter="alpha", trials=trials
    ).outcome
    assert (found.verdict, found.n, found.p) == ("confirmed", 5, 1 / 32)
    words = "2 of the 5 trials that count have warnings that do not matter here"
    assert found.note.startswith(words)


def judged(frame: pl.DataFrame, limit: float) -> list[bool | None]:
    """Return whether trials, the doubted ones unsure by 0.3, keep a limit of their total time."""
    trials = trials_of(frame, failing=["SB601-steady"], numbers=unsure(0.3))
    limits = {"total_time_s": limit, "throughput_per_s": 2.0}
    return judge_limits(frame, limits, trials)["within_limits"].to_list()


def test_a_limit_is_kept_where_it_is_kept_at_the_far_end_of_a_doubt() -> None:
    """And broken where it is at the near end; between them, or for other doubts, it is open."""
    frame = pl.concat([rows(a=[1.0, None]), rows("noisy", b=[1.0])])
    assert judged(frame, 1.4) == [True, None, True]
    assert judged(frame, 1.2) == [True, None, None]
    assert judged(frame, 0.9) == [False, None, None]
    assert judged(frame, 0.7) == [False, None, False]
    other = trials_of(frame, failing=["SB602-jit"], numbers=unsure(0.3))
    assert judge_limits(frame, {"total_time_s": 9.0}, other)[LIMITS].to_list() == [True, None, None]


def test_a_claim_of_limits_counts_doubted_trials_that_keep_them() -> None:
    """Four valid and one doubted trial far below the limit decide, one that is near does not."""
    frame = pl.concat([rows(a=[1.0] * 4), rows("noisy", a=[1.0] * 5)[4:]])
    trials = trials_of(frame, failing=["SB601-steady"], numbers=unsure(0.3))
    claim = own_claim("served", "They are served.", "level")

    def decided(limit: float) -> tuple[str, int]:
        told = judge_limits(frame, {"total_time_s": limit}, trials)
        found = decide_event_claim(
            claim, told, LIMITS, [{"name": "a"}], chapter="alpha", trials=trials
        ).outcome
        return found.verdict, found.n

    assert decided(9.0) == ("confirmed", 5)
    assert decided(1.2) == ("undetermined", 4)
    assert decided(0.5) == ("contradicted", 5)


@pytest.mark.parametrize(
    ("failing", "decided"),
    [
        (["SB105-stored"], "contradicted"),
        (["SB105-stored", "SB100-completed"], "undetermined"),
        (["SB101-accounting"], "undetermined"),
    ],
)
def test_a_loss_is_not_left_out_of_the_claim_that_there_is_none(
    failing: list[str], decided: str
) -> None:
    """A trial that failed because rows were lost contradicts; one that went wrong says nothing."""
    closes = own_claim("closes", "Nothing is lost.", "level")
    frame = rows("failed", a=[0.0] * 5).rename({"ok": "account_closes"})
    trials = trials_of(frame, failing=failing)
    outcome = decide_event_claim(
        closes, frame, "account_closes", [{"name": "a"}], chapter="alpha", trials=trials
    ).outcome
    assert outcome.verdict == decided, outcome.reason


@pytest.mark.parametrize("verdict", ["noisy", "generator-bound", "no steady state", "stale"])
def test_only_valid_trials_count(verdict: str) -> None:
    """Without a valid trial on one side nothing is decided, and the verdicts are counted."""
    good, bad = rows(a=[1.0, 1.0, 1.0]), rows(verdict, b=[1.5, 1.5, 1.5])
    found = decide(pl.concat([good, bad]))
    assert (found.verdict, found.effect, found.n) == ("undetermined", None, 0)
    assert f"no valid trial of name b: 3 {verdict}" in found.reason
    one = pl.concat([good, bad.head(2), rows(b=[None, None, 1.5])])
    mixed = decide(one.filter(pl.col("total_time_s").is_not_null()))
    assert (mixed.verdict, mixed.n) == ("undetermined", 1)


def test_a_replicate_with_a_doubtful_part_does_not_count() -> None:
    """Where several trials make one value of a block, all of them must be valid."""
    frame = rows().with_columns(
        verdict=pl.when(pl.col("bundle") == "b-1").then(pl.lit("noisy")).otherwise("verdict")
    )
    twice = pl.concat([frame, frame.with_columns(bundle=pl.col("bundle") + "x",
                                                 verdict=pl.lit("valid"))])  # fmt: skip
    assert decide(twice).n == 3


@pytest.mark.parametrize(
    ("frame", "profile", "why"),
    [
        (rows(a=[1.0, 1.0]), "quick", "no trial of name b"),
        (rows().head(0), "quick", "no trial of name b"),
        (rows(), "smoke", "the smoke profile proves that it works, not how fast"),
    ],
)
def test_what_was_not_run_says_so(frame: pl.DataFrame, profile: str, why: str) -> None:
    """No trial, or a smoke run: not run, with the reason."""
    found = decide(frame, profile=profile)
    assert (found.verdict, found.reason, found.effect) == ("not run", why, None)


def test_one_replicate_decides_nothing() -> None:
    """The ratio is shown without an interval."""
    found = decide(rows(a=[1.0], b=[1.5]))
    assert (found.verdict, found.low, found.n) == ("undetermined", None, 1)
    assert found.effect == pytest.approx(1.5)
    assert "one replicate" in found.reason


def test_two_times_of_one_trial_can_be_compared() -> None:
    """The first of something beside the later ones: two rows a trial, told apart by a column."""
    first = rows(a=[3.0, 3.1, 2.9]).with_columns(when=pl.lit("first"))
    later = rows(a=[1.0, 1.1, 0.9]).with_columns(when=pl.lit("later"))
    pairs = [({"name": "a", "when": "first"}, {"name": "a", "when": "later"})]
    found = decide(pl.concat([first, later]), pairs=pairs)
    assert found.n == 3
    assert found.effect == pytest.approx(3.0, rel=0.1)
    alike = pl.concat([later.with_columns(when=pl.lit("first")), later])
    assert decide(alike, pairs=pairs).verdict == "not run"


def test_a_treatment_is_not_compared_with_itself() -> None:
    """Parameters that make both sides one treatment put nothing to the test."""
    found = decide(rows(), pairs=[(RIGHT, RIGHT)])
    assert (found.verdict, "same trials" in found.reason) == ("not run", True)


def test_trials_of_two_machines_are_not_compared() -> None:
    """The rule over sets of trials forbids it; a rule with that id exists."""
    assert "SB703-comparable" in {rule.id for rule in SET_RULES}
    found = decide(rows(), machines=2)
    assert (found.verdict, found.n) == ("undetermined", 0)
    assert "2 machines" in found.reason


def test_blocks_are_paired_that_both_sides_have() -> None:
    """A disturbance of a whole block does not hide the effect, if enough blocks are whole."""
    shaken = {"a": [1.0, 2.0, 4.0, 8.0], "b": [1.5, 3.1, 5.9, 12.2]}
    assert decide(rows(**shaken)).verdict == "confirmed"
    without_one = rows(**shaken).filter(pl.col("bundle") != "b-3")
    assert (decide(without_one).verdict, decide(without_one).n) == ("confirmed", 3)
    without_two = without_one.filter(pl.col("bundle") != "a-2")
    assert decide(without_two).verdict == "undetermined"


def test_the_least_effect_comes_from_the_noise_floor() -> None:
    """Without one of the chapter's: what the floor can see, and 1.05 at least."""
    quiet = noise_floor([[1.0, 1.001, 0.999]] * 4)
    loud = noise_floor([[1.0, 1.3, 0.8]] * 4)
    assert decide(rows(), least=None).least == 1.05
    assert decide(rows(), least=None, floor=quiet).least == 1.05
    found = decide(rows(), least=None, floor=loud)
    assert found.least == pytest.approx(loud.least_ratio(4, 4))
    assert "noise floor" in found.least_basis
    assert decide(rows(), least=1.02, floor=loud).least == 1.02


def test_all_pairs_must_show_it() -> None:
    """One that was not run leaves it open, unless another one is against it."""
    both = decide(rows(), pairs=[(LEFT, RIGHT), (LEFT, {"name": "c"})])
    assert (both.verdict, len(both.comparisons)) == ("confirmed", 2)
    gone = (LEFT, {"name": "gone"})
    open_one = decide(rows(), pairs=[(LEFT, RIGHT), gone])
    assert (open_one.verdict, open_one.effect) == ("undetermined", None)
    assert "1 of 2 comparisons: no trial of name gone" in open_one.reason
    assert [one.verdict for one in open_one.comparisons] == ["confirmed", "not run"]
    against = decide(rows(), pairs=[(RIGHT, LEFT), gone])
    assert against.verdict == "contradicted"
    assert against.effect == pytest.approx(0.66, abs=0.02)
    assert decide(rows(), pairs=[gone, gone]).verdict == "not run"


def decide_event(frame: pl.DataFrame, *levels: dict[str, str]) -> ClaimOutcome:
    claim = own_claim("x", "It works.", "recovers")
    trials = trials_of(frame)
    return decide_event_claim(claim, frame, "ok", levels, chapter="a", trials=trials).outcome


def test_an_event_must_happen_in_every_replicate() -> None:
    """All of five, none, some, nothing, too few."""
    frame = rows(a=[1.0] * 5, b=[2.0] * 6, c=[1.0, 2.0], few=[1.0] * 3)
    assert decide_event(frame, {"name": "a"}).verdict == "confirmed"
    assert decide_event(frame, {"name": "b"}).verdict == "contradicted"
    assert decide_event(frame, {"name": "c"}).verdict == "undetermined"
    assert decide_event(frame, {"name": "d"}).verdict == "not run"
    assert decide_event(frame, {"name": "a"}, {"name": "b"}).verdict == "contradicted"
    assert decide_event(frame, {"name": "a"}, {"name": "d"}).verdict == "undetermined"
    assert decide_event(frame, {"name": "a"}).comparisons[0].right == {}
    few = decide_event(frame, {"name": "few"})
    assert (few.verdict, few.p) == ("undetermined", None)
    assert few.reason == "seen in 3 of 3 blocks; 5 of 5 are needed"
    assert decide_event(frame, {"name": "a"}, {"name": "few"}).verdict == "undetermined"


def test_n_is_that_of_the_interval_beside_it() -> None:
    """Of several comparisons the effect shown has its own number of blocks, not the smallest."""
    frame = rows(a=[1.0, 1.01, 1.02, 1.0], b=[1.5, 1.52, 1.53, 1.51], c=[3.0, 3.1])
    found = decide(frame, pairs=[(LEFT, RIGHT), ({"name": "c"}, RIGHT), (RIGHT, LEFT)])
    shown = [pair for pair in found.comparisons if pair.low == found.low]
    assert (found.verdict, found.n) == ("contradicted", 4)
    assert [pair.n for pair in shown] == [4]
    assert min(pair.n for pair in found.comparisons) == 2


def test_a_verdict_carries_its_p_value_and_older_records_are_read_without() -> None:
    """In the record, too; a result that was published before has none."""
    found = decide(rows())
    assert found.p is not None
    assert 0 < found.p <= 0.025
    assert ClaimOutcome.from_record(json.loads(json.dumps(found.as_record()))) == found
    older = {name: value for name, value in found.as_record().items() if name != "p"}
    assert ClaimOutcome.from_record(older) == replace(found, p=None)
    open_one = decide(rows(a=[1.0, 1.02], b=[1.5, 1.52]))
    assert (open_one.verdict, open_one.p) == ("undetermined", None)
    assert leave_untested(SLOWER, "alpha", "no disk").outcome.p is None
    with pytest.raises(ValueError, match=r"p = 1\.5"):
        replace(found, p=1.5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"claim": own_claim("x", "x.", "fails")}, "event"),
        ({"claim": own_claim("x", "x.", "stagnates"), "metric": "ok"}, "more or less is better"),
        ({"metric": "nothing"}, "nothing"),
        ({"pairs": [({"users": 1}, RIGHT)]}, "users"),
        ({"relation": "lt"}, "a note"),
    ],
)
def test_a_claim_that_cannot_be_read_is_refused(options: dict[str, Any], words: str) -> None:
    """An event as comparison, a metric or level that is not there, another relation unexplained."""
    with pytest.raises(UsageError, match=words):
        decide(rows(), **options)


def test_trials_must_be_those_of_the_frame() -> None:
    """Evidence that misses a trial of the comparison is refused."""
    with pytest.raises(UsageError, match="not among 'trials'"):
        decide_claim(SLOWER, rows(), "total_time_s", [(LEFT, RIGHT)], chapter="a",
                     trials=trials_of(rows().head(3)))  # fmt: skip


def test_another_relation_is_tested_with_a_note() -> None:
    """The record has the relation as tested, and why."""
    found = decide(rows(), relation="lt", note="read the other way")
    assert (found.relation, found.note, found.verdict) == ("lt", "read the other way",
                                                           "contradicted")  # fmt: skip


def test_claims_of_the_reports_are_found_by_id() -> None:
    """Unknown ones and those that are not transferable are refused with a next step."""
    claim = find_claim("gw-threads-1")
    assert (claim.source, claim.relation) == ("gateway-2012", "decreases")
    assert claim.reported_ratio == pytest.approx(10 / 35, abs=1e-4)
    with pytest.raises(UsageError, match="no claim 'gw-nothing'"):
        find_claim("gw-nothing")
    with pytest.raises(UsageError, match="not transferable"):
        find_claim("gw-odata-1")


def test_an_outcome_survives_its_record() -> None:
    """What is written as JSON is read back as it was; anything else is refused."""
    for outcome in (decide(rows()), leave_untested(SLOWER, "a", "no disk").outcome):
        record = json.loads(json.dumps(outcome.as_record(), allow_nan=False))
        assert ClaimOutcome.from_record(record) == outcome
    for broken in ({}, record | {"verdict": "true"}, record | {"more": 1}):
        with pytest.raises(ValueError, match="claim"):
            ClaimOutcome.from_record(broken)


def test_a_card_says_all_and_escapes_text() -> None:
    """Statement, test, measured ratio with interval, verdict and why; no markup from data."""
    outcome = decide(rows(), pairs=[(LEFT, RIGHT), (LEFT, {"name": "c"})])
    html = render_card(outcome, SLOWER)
    assert "<script>" not in html
    assert "b takes longer than a &lt;script&gt;." in html
    for words in (
        "own-slower",
        "confirmed",
        "Total time: greater",
        "n = 4",
        "name b beside name a",
    ):
        assert words in html
    assert "Measured: 1.5" in render_text(outcome)
    assert "Its size" not in html


def test_a_card_says_how_large_a_confirmed_effect_is_beside_the_reports() -> None:
    """Of 1.5 (1.4 to 1.6): not where the report prints no ratio, nor where nothing is confirmed."""
    outcome = decide(rows())
    for reported, words in ((3.0, "a smaller effect than reported"), (1.5, "is possible"),
                            (1.1, "a larger effect than reported")):  # fmt: skip
        html = render_card(replace(outcome, reported_ratio=reported), SLOWER)
        assert words in html.split("<dt>Its size</dt>")[1].split("</dd>")[0]
    refuted = replace(outcome, reported_ratio=3.0, verdict="contradicted")
    assert "Its size" not in render_card(refuted, SLOWER)


@pytest.fixture
def shown() -> Iterator[list[tuple[dict[str, Any], dict[str, Any]]]]:
    """Give the outputs that a page displays, as bundle and record."""
    outputs: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def store(bundle: dict[str, Any], raw: bool, metadata: dict[str, Any]) -> None:
        assert raw
        outputs.append((bundle, metadata["sizebook"]))

    with mock.patch("IPython.display.display", store):
        yield outputs


def publish(page: Page, frame: pl.DataFrame, **options: Any) -> ClaimOutcome:
    """Decide the claim on a page, with stand-ins for trials."""
    trials = trials_of(frame)
    with mock.patch("sizebook.report.page.claims.gather", return_value=trials):
        return page.claim(SLOWER, frame, "total_time_s", LEFT, RIGHT, trials=[], **options)


def test_a_page_shows_a_claim_with_the_evidence_of_its_treatments(shown: list[Any]) -> None:
    """The sources are the trials compared, the checksum is that of the claim."""
    page = Page("alpha", {}, command="sizebook run alpha")
    outcome = publish(page, rows())
    bundle, record = shown[0]
    assert (record["kind"], record["key"]) == ("claim", "own-slower")
    assert record["claim"] == outcome.as_record()
    assert record["evidence"]["sha256"] == hash_json(record["claim"])
    sources = [source["bundle"] for source in record["evidence"]["sources"]]
    assert sources == [f"{name}-{n}" for name in "ba" for n in range(4)]
    assert set(bundle) == {"text/html", "text/plain"}
    with pytest.raises(ValueError, match="before"):
        publish(page, rows())
    with pytest.raises(ValueError, match="left with right"):
        page.claim(SLOWER, rows(), "total_time_s", LEFT, trials=[])


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (rows(), "Slower, 1.50 times by 3."),
        (rows(a=[1.0] * 3, b=[1.0] * 3), "Not slower."),
        (rows(a=[1.0], b=[1.5]), "Undetermined: one replicate"),
        (rows(a=[1.0]), "Not tested in this run: no trial of name b."),
    ],
)
def test_prose_follows_the_verdict(frame: pl.DataFrame, words: str, shown: list[Any]) -> None:
    """The text of the verdict is shown, with its numbers, and the record names the claim."""
    page = Page("alpha", {}, command="sizebook run alpha")
    publish(page, frame)
    page.says("own-slower", confirmed="Slower, {effect:.2f} times by {x}.",
              contradicted="Not slower.", x=3)  # fmt: skip
    bundle, record = shown[1]
    assert bundle["text/plain"].startswith(words)
    assert (record["kind"], record["claims"]) == ("prose", ["own-slower"])
    assert all(number["key"].startswith("own-slower-") for number in record["numbers"])


def test_prose_is_checked_for_every_verdict(shown: list[Any]) -> None:
    """A mistake in a text that is not shown today is found today."""
    page = Page("alpha", {}, command="sizebook run alpha")
    with pytest.raises(ValueError, match="not decided"):
        page.says("own-slower", confirmed="x", contradicted="y")
    publish(page, rows())
    with pytest.raises(ValueError, match="nothing"):
        page.says("own-slower", confirmed="x", contradicted="{nothing}")
    with pytest.raises(ValueError, match="values without place"):
        page.says("own-slower", confirmed="x", contradicted="y", unused=1)
    assert len(shown) == 1


def test_a_claim_left_untested_has_a_reason(shown: list[Any]) -> None:
    """No reason, no record."""
    page = Page("alpha", {}, command="sizebook run alpha")
    with pytest.raises(UsageError, match="reason"):
        page.claim_untested(SLOWER, " ")
    assert page.claim_untested(SLOWER, "no second disk").verdict == "not run"
    assert shown[0][1]["claim"]["reason"] == "no second disk"
    assert set(CLAIM_VERDICTS) == {"confirmed", "contradicted", "undetermined", "not run"}


def test_a_treatment_reads_the_same_whatever_the_order_of_its_levels():
    """A notebook keeps records with sorted names: a card made from one must not differ."""
    assert name_levels({"way": "rpc", "nodes": 1}) == name_levels({"nodes": 1, "way": "rpc"})
    assert name_levels({"way": "rpc", "nodes": 1}) == "nodes 1, way rpc"
    assert name_levels({}) == "all treatments"
