"""Records of results in a page that somebody else made."""

import json

import pytest

from sizebook.book.records import read_records
from sizebook.model.errors import UserError
from sizebook.report.showing import METADATA_KEY

GOOD = {"kind": "value", "key": "rate", "value": 7}


def write_page(folder, fields, **cell):
    """Write a page with one result."""
    output = {"output_type": "display_data", "data": {}, "metadata": {METADATA_KEY: fields}}
    cells = [{"cell_type": "code", "id": "a", "source": "", "outputs": [output], **cell}]
    path = folder / "page.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    return path


def test_a_result_is_read(tmp_path):
    assert read_records(write_page(tmp_path, GOOD))["rate"].fields == GOOD


@pytest.mark.parametrize(
    ("fields", "cell"),
    [
        ({"key": "rate"}, {}),
        ({"kind": "value"}, {}),
        ({"kind": "prose"}, {}),
        ({"kind": "prose", "numbers": [7], "evidence": {}}, {}),
        ({"kind": "value", "key": ["rate"]}, {}),
        ("rate", {}),
        (GOOD, {"source": 7}),
        (GOOD, {"outputs": [7]}),
        (GOOD, {"outputs": 7}),
    ],
)
def test_a_page_of_another_form_is_refused(tmp_path, fields, cell):
    """In one line that names the page."""
    with pytest.raises(UserError, match=r"page.ipynb is not a readable notebook"):
        read_records(write_page(tmp_path, fields, **cell))
