"""The rows that a reader downloads are those that the figure draws and the table shows."""

from __future__ import annotations

import csv
import io

import altair as alt
import polars as pl
import pytest
from great_tables import GT
from sample_book import HOSTILE, bar_chart, line_chart, size_table

from sizebook.book.flat_data import find_datasets, make_rows, read_cell, read_table, write_csv
from sizebook.report.chart import prepare_chart


def read_csv(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_a_chart_has_its_data() -> None:
    """One data set, rows and columns as the chart holds them."""
    spec, _ = prepare_chart(bar_chart())
    assert find_datasets(spec) == [
        [{"bytes": 846, "format": "JSON"}, {"bytes": 2600, "format": "Atom"}]
    ]
    expected = [["format", "bytes"], ["JSON", "846"], ["Atom", "2600"]]
    assert expected == make_rows(find_datasets(spec)[0])


def test_layers_with_data_of_their_own_have_one_set_each() -> None:
    """Two layers over two frames give both, in the order of the layers; one frame counts once."""
    rule = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule().encode(y="zero:Q")
    spec, _ = prepare_chart(rule + line_chart() + line_chart())
    first, second = find_datasets(spec)
    assert first == [{"zero": 0.0}]
    assert len(second) == 8


def test_a_column_called_data_is_a_column() -> None:
    """What lies inside a data set is never taken for another one."""
    spec = {"data": {"values": [{"data": {"values": [1, 2]}}]}}
    assert find_datasets(spec) == [[{"data": {"values": [1, 2]}}]]
    assert make_rows(find_datasets(spec)[0]) == [["data"], ['{"values": [1, 2]}']]


@pytest.mark.parametrize(
    "data",
    [{"url": "x.csv"}, {"sequence": {"start": 0, "stop": 3}}, {"values": "a,b"}, {"name": "gone"}],
)
def test_data_that_are_not_in_the_chart_are_left_out(data: dict[str, object]) -> None:
    """An address, a generator, unparsed text and a missing name give no rows."""
    assert find_datasets({"data": data, "mark": "bar"}) == []


def test_cells_keep_their_value() -> None:
    """Missing is empty, truth is true, numbers keep every digit, text stays as it is."""
    rows = make_rows([{"a": None, "b": True, "c": 0.1 + 0.2}, {"d": 'é,\n"x"', "c": -3}])
    assert rows == [
        ["a", "b", "c", "d"],
        ["", "true", "0.30000000000000004", ""],
        ["", "", "-3", 'é,\n"x"'],
    ]
    assert read_csv(write_csv(rows)) == rows


def test_no_rows_and_bare_values() -> None:
    """An empty data set has no columns; bare values stand in the column that Vega-Lite names."""
    assert make_rows([]) == [[]]
    assert make_rows([1, "x"]) == [["data"], ["1"], ["x"]]


def test_a_table_has_its_cells() -> None:
    """As shown, with spanner and column in one name; the stub is a column without a name."""
    assert read_table(size_table().as_raw_html()) == [
        ["", "size (bytes) / detail", "size (bytes) / list", "verdict"],
        ["odata-atom", "2,600", "1,100,000", "valid"],
        ["rest-json", "846", "111,745", "noisy"],
    ]


def test_groups_titles_and_notes() -> None:
    """Groups become a column; title, subtitle and notes are no rows; text is no markup."""
    frame = pl.DataFrame({"g": ["a", "a", "b"], "n": [HOSTILE, "y", "z"], "v": [1, None, 3]})
    table = GT(frame, rowname_col="n", groupname_col="g").tab_stubhead("name")
    table = table.tab_header("Title", "subtitle").tab_source_note(HOSTILE)
    assert read_table(table.as_raw_html()) == [
        ["group", "name", "v"],
        ["a", HOSTILE, "1"],
        ["a", "y", "None"],
        ["b", "z", "3"],
    ]


def test_an_empty_table_has_its_head() -> None:
    """No rows: the names of the columns alone. No table: nothing."""
    frame = pl.DataFrame({"a": [], "b": []}, schema={"a": pl.String, "b": pl.Int64})
    assert read_table(GT(frame).as_raw_html()) == [["a", "b"]]
    assert read_table("<p>no table</p>") == [[]]


def test_a_cell_over_several_rows_and_columns_stands_in_each() -> None:
    """Spans are spread, and a senseless span counts as one."""
    html = (
        "<table><thead><tr><th rowspan='2'>a</th><th colspan='2'>b</th></tr>"
        "<tr><th>c</th><th>d</th></tr></thead><tbody><tr><td rowspan=2>1</td><td colspan=99999999>"
        "2</td><td>3<br>4</td></tr><tr><td> 5 \n 6 </td><td>7</td></tr></tbody></table>"
    )
    assert read_table(html) == [["a", "b / c", "b / d"], ["1", "2", "3 4"], ["1", "5 6", "7"]]


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+2", "'=1+2"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("\t=1", "'\t=1"),
        ("\n=1", "'\n=1"),
        ("\uff1d1", "'\uff1d1"),
        ("'=1", "''=1"),
        ("-1.5", "-1.5"),
        ("+12 %", "+12 %"),
        ("-1,234.5e-3", "-1,234.5e-3"),
        ("it's", "it's"),
        ("a=b", "a=b"),
        ("\u2013", "\u2013"),
        ("", ""),
    ],
)
def test_no_cell_is_a_formula_and_each_is_read_back(cell: str, written: str) -> None:
    """A spreadsheet computes what begins like a formula; numbers stay numbers."""
    [[found, number]] = list(csv.reader(io.StringIO(write_csv([[cell, "1"]]), newline="")))
    assert (found, number) == (written, "1")
    assert read_cell(found) == cell
