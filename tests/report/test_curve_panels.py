"""Several metrics over one factor have a panel each, under their titles."""

import polars as pl

from sizebook.report.curve_panels import curve_panels


def test_a_panel_a_metric():
    """Titled and labelled by its name for people; those asked for on a logarithmic axis."""
    rows = [("a", n, r, "valid", float(n + r), 1.0) for n in (1, 2) for r in (0, 1)]
    names = ["way", "users", "replicate", "verdict", "ms", "rate"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    titles = {"ms": "latency (ms)", "rate": "rate (1/s)"}
    axes = {"x": "users", "series": "way", "x_title": "users", "series_title": "Way"}
    found = curve_panels(frame, titles, **axes, log=["ms"]).to_dict()
    assert [one["title"]["text"] for one in found["concat"]] == list(titles.values())
    scales = [one["layer"][-1]["encoding"]["y"]["scale"] for one in found["concat"]]
    assert scales[0] == {"type": "log"} and scales[1] == {"zero": True}
