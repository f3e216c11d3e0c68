"""Laws of records and addresses, for inputs that a search makes up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sizebook.model.records import Record, Scalars
from sizebook.model.urls import UrlError, parse_url

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=9),
)
LABEL = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
PORTS = st.integers(1, 65535)


class Made(Record):
    levels: Scalars
    name: str
    share: float | None = None


@given(
    st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=9), SCALARS, max_size=5),
    st.text(st.characters(codec="utf-8"), max_size=20),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
)
def test_a_record_comes_back_from_its_text(levels, name, share):
    """Equal records have one text, whatever the order in which they were told."""
    made = Made(levels=levels, name=name, share=share)
    text = made.canonical_json()
    read = Made.model_validate_json(text)
    assert read == made
    assert {key: type(one) for key, one in read.levels.items()} == {
        key: type(one) for key, one in levels.items()
    }
    turned = Made(levels=dict(reversed(levels.items())), name=name, share=share)
    assert turned.canonical_json() == text


@given(st.lists(LABEL, min_size=1, max_size=4), PORTS, st.lists(LABEL, max_size=3))
def test_the_parts_of_an_address_make_it_again(labels, port, path):
    host, place = ".".join(labels), "".join(f"/{part}" for part in path)
    found = parse_url(f"http://{host.upper()}:{port}{place}/")
    assert (found.host, found.port, found.path) == (host, port, place)
    assert parse_url(f"http://{found.authority}{found.path}") == found


@given(st.text(max_size=30).map("http://".__add__) | st.text(max_size=30))
def test_any_text_is_an_address_or_is_refused(text):
    """And what is taken has a host, a port that there is, and no blank."""
    try:
        found = parse_url(text)
    except UrlError:
        return
    assert found.host
    assert 0 < found.port < 65536
    assert not any(letter.isspace() for letter in text)
