"""The load of 17 business transactions, against a server that keeps sessions as the stack does."""

from __future__ import annotations

import itertools
import re
import threading
from collections import Counter
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl

import polars as pl
import pytest
from answering import Answering, served

from sizebook.model.errors import TrialError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases

TRANSACTIONS = {
    *("customer-search", "customer", "draft-start", "item-search", "item", "availability"),
    *("draft-line", "draft", "place-order", "order", "orders", "ship", "receive", "account"),
    *("journal", "pay", "sales-report"),
}
NEEDED = {"draft-start", "draft-line", "place-order", "order"}
PAGES = (  # method, pattern of the path, page, what its groups are
    ("POST", r"/business/sign-on", "sign-on", ()),
    ("POST", r"/business/sign-off", "sign-off", ()),
    ("GET", r"/business/customers", "customer-search", ()),
    ("GET", r"/business/customers/(\d+)", "customer", ("customer",)),
    ("POST", r"/business/draft", "draft-start", ()),
    ("GET", r"/business/items", "item-search", ()),
    ("GET", r"/business/items/(\d+)", "item", ("item",)),
    ("GET", r"/business/items/(\d+)/availability", "availability", ("item",)),
    ("POST", r"/business/draft/lines", "draft-line", ()),
    ("GET", r"/business/draft", "draft", ()),
    ("POST", r"/business/orders", "place-order", ()),
    ("GET", r"/business/orders/(\d+)", "order", ("order",)),
    ("GET", r"/business/orders", "orders", ()),
    ("POST", r"/business/shipments", "ship", ()),
    ("POST", r"/business/receipts", "receive", ()),
    ("GET", r"/business/accounts/(\d+)", "account", ("account",)),
    ("POST", r"/business/journal", "journal", ()),
    ("POST", r"/business/payments", "pay", ()),
    ("GET", r"/business/report", "sales-report", ()),
)


class Office:
    """What the server keeps: sessions, orders, request ids; and what it is told to do wrong."""

    def __init__(self) -> None:
        self.sessions: dict[str, dict[str, int]] = {}
        self.orders: dict[int, int] = {}
        self.written: dict[str, int] = {}
        self.repeated = 0
        self.seen: list[tuple[int, str]] = []
        """User and page of each good answer, in order."""
        self.dropped: set[str] = set()
        self.drop_first = False
        """Do each write when it comes first, and close the connection instead of answering."""
        self.forget_after = 0
        """Transactions after which a session is forgotten."""
        self.wrong_step = False
        self.limits = {"threads": 50, "pool": 20}
        self.deaf = False
        """Answer with limits as they are, whatever was asked for."""
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()

    def answer(self, method: str, path: str, parts: dict[str, str], cookie: str):
        """Return status, outputs and the session's name, or None for a lost connection."""
        page, ids = next(
            (page, dict(zip(names, found.groups(), strict=True)))
            for verb, pattern, page, names in PAGES
            if verb == method and (found := re.fullmatch(pattern, path))
        )
        if page == "sign-on":
            cookie = f"s{next(self.numbers)}"
            self.sessions[cookie] = {"user": int(parts["user"]), "step": -1}
        session = self.sessions.get(cookie)
        if session is not None and self.forget_after and session["step"] >= self.forget_after:
            session = self.sessions.pop(cookie) and None
        if session is None:
            return 401, {"problem": "lost-session"}, ""
        if (request := parts.pop("request", "")) and not self.write(request, session):
            return None
        if page == "draft-start":
            session |= {"customer": int(parts["customer"]), "lines": 0}
        elif page == "draft-line":
            session["lines"] += 1
        elif page == "order":
            ids |= {"customer": self.orders.get(int(ids["order"]), 0), "state": "open"}
        session["step"] += 1
        self.seen.append((session["user"], page))
        if page == "sign-off":
            del self.sessions[cookie]
        outputs = {"page": page, "branch": 3, **session, **ids, **parts}
        outputs["step"] += self.wrong_step
        if request:
            outputs["order"] = parts.get("order", self.written[request])
        return 200, outputs, cookie

    def write(self, request: str, session: dict[str, int]) -> bool:
        """Do a write once; return whether it is answered."""
        if request in self.written:
            self.repeated += 1
            return True
        self.written[request] = next(self.numbers)
        self.orders[self.written[request]] = session.get("customer", 0)
        return not self.drop_first


@pytest.fixture
def office():
    """Give what the server keeps, with its URL."""
    kept = Office()

    class Handler(Answering):
        def answer(self):
            path, query = self.asked()
            body = self.sent().decode()
            if path == "/business/size":
                self.tell({"users": 5, "branches": 4, "items": 60, "customers": 40})
                return
            if path == "/business/limits":
                asked = {name: int(value) for name, value in query.items()}
                kept.limits |= {} if kept.deaf else asked
                self.tell(kept.limits)
                return
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get("DESK")
            parts = query | dict(parse_qsl(body))
            with kept.lock:
                told = kept.answer(self.command, path, parts, cookie.value if cookie else "")
            if told is None:
                self.close_connection = True
                return
            status, outputs, session = told
            page = "".join(f'<output id="{k}">{v}</output>' for k, v in outputs.items())
            cookie = {"set_cookie": f"DESK={session}; Path=/; HttpOnly"} if session else {}
            self.tell(page.encode(), status, content_type="text/html;charset=utf-8", **cookie)

    with served(Handler) as kept.url:
        yield kept


def work(own, office, tmp_path, users=5, measured_s=0.6, until=None, **settings):
    """Have clerks work for a time, or, however long it takes, until something holds."""
    load = LoadProfile(
        locustfile="business.py",
        arrivals=ClosedLoop(users=users, think_s=0.001, think_random=True),
        phases=Phases(warmup_s=0.0, measured_s=600.0 if until else measured_s, drain_s=60.0),
        settings=settings,
    )
    own.prepare(load, {"app": office.url}, tmp_path)
    return own.run(lambda _: until is not None and until() and own.stop_trial())


def failures(collected):
    rows = collected.requests.filter(pl.col("error").cast(pl.String) != "")
    return Counter(rows.select(pl.col("name", "error").cast(pl.String)).iter_rows())


def test_all_transactions_are_done_and_none_fails(own, office, tmp_path):
    """Clerks sign on once, do all 17 transactions, and every page is that of their session."""

    def all_done():
        return {page for _, page in [*office.seen]} >= TRANSACTIONS

    collected = work(own, office, tmp_path, until=all_done)
    assert collected.facts.failed == 0
    names = set(collected.requests["name"].cast(str))
    assert names >= TRANSACTIONS and names - TRANSACTIONS <= {"sign-on", "sign-off"}
    assert Counter(page for _, page in office.seen) == Counter(collected.requests["name"].cast(str))


def test_clerks_begin_where_others_are_at_work(own, office, tmp_path):
    """Of a piece of business only what later transactions need is done before the first pause."""
    collected = work(own, office, tmp_path, users=40, measured_s=4.0, session_transactions=100_000)
    assert collected.facts.failed == 0
    rows = collected.requests.sort("start_ns").with_columns(pl.col("name").cast(pl.String))
    first = rows.group_by("user").agg(pl.col("iteration").first(), pl.col("name"))
    joined = rows.join(first.select("user", "iteration"), on=["user", "iteration"])
    assert set(joined["name"]) - NEEDED == {"sign-on"}
    seconds = {names[joined.filter(pl.col("user") == user).height]
               for user, names in first.select("user", "name").iter_rows()
               if len(names) > joined.filter(pl.col("user") == user).height}  # fmt: skip
    assert len(seconds) > 5


def test_each_user_has_a_session_of_its_own(own, office, tmp_path):
    """Five users are five; what they do in a session begins with signing on."""

    def counts():
        return Counter(user for user, page in [*office.seen] if page.startswith("sign"))

    def signed():
        return all(counts()[user] > 2 for user in range(1, 6))

    work(own, office, tmp_path, session_transactions=3, until=signed)
    by_user: dict[int, list[str]] = {}
    for user, page in office.seen:
        by_user.setdefault(user, []).append(page)
    assert set(by_user) == {1, 2, 3, 4, 5}
    for pages in by_user.values():
        signs = [page for page in pages if page.startswith("sign")]
        assert signs == [("sign-on", "sign-off")[n % 2] for n in range(len(signs))]
        assert pages[0] == "sign-on" and len(signs) > 2


def test_weights_choose_the_business(own, office, tmp_path):
    """Only what has a weight is drawn; a clerk ships orders of its own."""
    none = dict.fromkeys(("sell", "ship", "buy", "book", "collect"), 0)
    work(own, office, tmp_path, measured_s=0.3, **none, report=1)
    assert {page for _, page in office.seen} <= {"sign-on", "sign-off", "sales-report"}


def test_a_write_without_an_answer_is_sent_again_and_done_once(own, office, tmp_path):
    """The same id again; each id is written once, and the failed attempts are on record."""
    office.drop_first = True
    collected = work(own, office, tmp_path)
    lost = failures(collected)
    assert {error for _, error in lost} == {"reset"}
    # What was under way at the end may not have come to its second attempt.
    assert 0 < office.repeated <= sum(lost.values()) <= office.repeated + 5
    assert len(office.written) == sum(lost.values())


def test_a_lost_session_is_told_and_begun_anew(own, office, tmp_path):
    """A 401 is a failed request; the next transaction is to sign on, and work goes on."""
    office.forget_after = 4
    collected = work(own, office, tmp_path, session_transactions=100_000)
    lost = failures(collected)
    assert {error for _, error in lost} == {"status"}
    signed = sum(page == "sign-on" for _, page in office.seen)
    assert sum(lost.values()) <= signed <= sum(lost.values()) + 5
    assert collected.facts.completed > 5 * sum(lost.values()) / 2


def test_a_page_of_another_session_fails(own, office, tmp_path):
    """A page is not good if the session has not seen as many transactions as its user."""
    office.wrong_step = True
    collected = work(own, office, tmp_path, measured_s=0.2)
    assert failures(collected)["sign-on", "body"] == collected.facts.failed > 0
    assert collected.facts.completed == 0


def test_the_node_gets_its_limits_before_the_load(own, office, tmp_path):
    """Those that are named; the others stay."""
    collected = work(own, office, tmp_path, measured_s=0.1, limits="pool=8")
    assert collected.facts.failed == 0
    assert office.limits == {"threads": 50, "pool": 8}


def test_a_node_that_does_not_take_its_limits_gets_no_load(own, office, tmp_path):
    """It would be measured with limits that are not those of the trial."""
    office.deaf = True
    with pytest.raises(TrialError, match="business/limits"):
        work(own, office, tmp_path, limits="pool=8")
    assert not office.seen
