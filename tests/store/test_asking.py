"""Many questions about a bundle: answers in order, errors as if asked one after the other."""

import threading

import pytest
import synthetic_bundles as made

from sizebook.model.errors import BundleError
from sizebook.store import asking
from sizebook.store.asking import ask_all


@pytest.mark.parametrize("threads", [None, 1, 4])
def test_answers_come_in_the_order_of_the_questions(make_bundle, threads):
    """Whatever question is done first; no question, no answer."""
    bundle = make_bundle()
    questions = [lambda b, name=name: float(b.columns[name][0]) for name in ("user", "status")]
    first = made.closed_rows()
    assert ask_all(questions, bundle, threads) == [first["user"][0], first["status"][0]]
    assert ask_all([], bundle, threads) == []


@pytest.mark.parametrize("threads", [1, 4])
def test_the_first_questions_error_comes_out(make_bundle, threads):
    """Two questions fail, and the earlier one's error is what the caller sees."""
    bundle = make_bundle(with_requests=False)

    def rows(one):
        return one.columns

    def never(_):
        raise AssertionError("a later question")

    with pytest.raises(BundleError, match=r"without requests\.parquet"):
        ask_all([lambda one: one.id, rows, never], bundle, threads)


def test_only_large_bundles_are_asked_from_threads(make_bundle, monkeypatch):
    """A small one is answered here and now; with one CPU so is every one."""
    bundle, here = make_bundle(), threading.get_ident()
    questions = [lambda _: threading.get_ident()] * 8
    assert set(ask_all(questions, bundle)) == {here}
    monkeypatch.setattr(asking, "LARGE_BYTES", 1)
    monkeypatch.setattr(asking.os, "sched_getaffinity", lambda _: {0, 1})
    assert here not in ask_all(questions, bundle)
    monkeypatch.setattr(asking.os, "sched_getaffinity", lambda _: {5})
    assert set(ask_all(questions, bundle)) == {here}
