"""JSON that two readers could understand differently is refused, for bundles and crates alike."""

import json

import pytest

from sizebook.book.crate.audit import parse_metadata
from sizebook.store.strict_json import parse_json

WRONG = {
    "a key twice": '{"a": 1, "a": 2}',
    "no number": '{"a": NaN}',
    "infinite": '{"a": -Infinity}',
    "beyond a double": '{"a": 1e999}',
    "beyond 64 bits": '{"a": 9223372036854775808}',
    "cut": '{"a": ',
    "nested": "[" * 100_000,
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_it_is_refused_in_words(text):
    """As text, and as the metadata of a crate."""
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        parse_json(text)
    graph = [{"@id": "./"}, {"@id": "ro-crate-metadata.json"}]
    whole = json.dumps({"@graph": graph})[:-1] + f', "more": {text}}}'
    with pytest.raises(ValueError) as crate:
        parse_metadata(whole.encode())
    assert "version" not in str(crate.value)  # refused for its form, before it is read


def test_what_everybody_reads_alike_is_read():
    """Numbers to the last bit."""
    text = '{"a": [1, 9223372036854775807, -0.1, 1e308], "b": {"a": null}}'
    assert parse_json(text) == json.loads(text)
