"""A quantity is said once: its measure fills the frame, its label and decimals make the table."""

import polars as pl
import synthetic_bundles as made

from sizebook.report import summaries
from sizebook.report.quantities import Quantity, frame_of, means_of, table_of
from sizebook.report.stated_claims import stated_claims_table

WAY = Quantity("way", "Way")
USERS = Quantity("users", "Users", 0, measure=lambda bundle: 4.0)
P50 = Quantity("p50", "median", 1, under="Latency (ms)")
P95 = Quantity("p95", "p95", 2, under="Latency (ms)")


def test_a_frame_has_what_is_measured(make_bundle):
    """Quantities without a measure are factors, or are computed later."""
    trials = made.make_trials(make_bundle, "way", {"plain": {}})
    frame = frame_of(trials, WAY, USERS, P50)
    assert frame.columns == ["level", "replicate", "verdict", "bundle", "users"]
    assert frame["users"].to_list() == [4.0]


def test_means_are_of_usable_trials_in_order():
    """A failed trial has no part; treatments keep the order in which they appear."""
    frame = pl.DataFrame(
        [("b", 1.0, "valid"), ("a", 5.0, "noisy"), ("b", 3.0, "valid"), ("b", 99.0, "failed")],
        schema=["way", "users", "verdict"],
        orient="row",
    )
    assert means_of(frame, ["way"], USERS).rows() == [("b", 2.0), ("a", 5.0)]
    assert summaries.means(frame.clear(), ["way"], "users").is_empty()


def test_a_table_has_labels_decimals_and_headings():
    """Columns come in the order of the quantities; those that the frame lacks are left out."""
    frame = pl.DataFrame({"p95": [12.345], "way": ["plain"], "more": [1], "p50": [1.25]})
    html = table_of(frame, WAY, USERS, P50, P95, note="means").as_raw_html()
    for word in ("Way", "median", "p95", "Latency (ms)", "12.35", "means"):
        assert word in html
    assert html.index("plain") < html.index("12.35")
    assert "Users" not in html and ">1<" not in html


def test_claims_of_scenarios_are_stated():
    """Claims of the scenarios and those named besides, with what carries over if asked for."""
    html = stated_claims_table("websphere-cloning", also=["ow-jvm-2"]).as_raw_html()
    assert "ow-clones-1" in html and "ow-jvm-2" in html and "ow-tiers-1" not in html
    assert "Carries over" in html
    plain = stated_claims_table("websphere-cloning", carries_over=False).as_raw_html()
    assert "Carries over" not in plain and "Where it shows it" in plain
