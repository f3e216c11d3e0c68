"""The business over real nodes: 17 transactions, lost answers, killed nodes, books that agree."""

import http.cookiejar
import json
import re
import threading
import urllib.error
import urllib.parse
import urllib.request

import pytest
from tests.stack.part_stack import ask, counters, started

from sizebook.lab.deployments import business_stack
from sizebook.lab.placement import place
from sizebook.model.errors import UsageError

USERS = 40
UNBALANCED = """select count(*) from (select document from business_posting
    group by document having sum(cents) <> 0) d"""
WRONGLY_RESERVED = """select count(*) from (
    select l.item, l.branch, sum(quantity) as wanted
    from business_order_line l join business_order o using (document)
    where o.state = 'open' group by l.item, l.branch) l
    full join business_stock s using (item, branch)
    where coalesce(wanted, 0) <> coalesce(reserved, 0)"""


class Browser:
    """A user with cookies, who checks every page."""

    def __init__(self, stack, user):
        self.url = stack.url("app")
        self.user = user
        self.step = -1
        jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        self.good("sign-on", "sign-on", user=user)

    def ask(self, path, **form):
        """Return status and outputs of a page; with fields of a form it is posted."""
        body = urllib.parse.urlencode(form).encode() if form else None
        try:
            with self.opener.open(f"{self.url}/business/{path}", body, timeout=20) as answer:
                status, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        return status, dict(re.findall(r'<output id="([a-z-]+)">([^<]*)</output>', text)), text

    def good(self, page, path, **form):
        """Return the outputs of a transaction that was done, for this user and in this session."""
        status, found, text = self.ask(path, **form)
        assert status == 200, text
        self.step += 1
        assert (found["page"], found["user"], found["step"]) == (
            page,
            str(self.user),
            str(self.step),
        )
        return found

    def fill(self, *items):
        """Begin an order with these items."""
        self.good("draft-start", "draft", customer=5)
        for item in items:
            self.good("draft-line", "draft/lines", item=item, quantity=2)


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """Two nodes that share their sessions by the database, behind a balancer, started once."""
    deployment = business_stack(
        place(), users=USERS, nodes=2, heap_mib=160, sessions="database", pool=4
    )
    with started(deployment, tmp_path_factory.mktemp("business")) as running:
        yield running


def test_only_who_asks_for_a_business_gets_one():
    """A deployment without one is specified as before there were any; sessions have two places."""
    role = business_stack(place(), users=7).database()
    assert '"business_users":7' in role.model_dump_json()
    assert "business" not in role.model_copy(update={"business_users": 0}).model_dump_json()
    with pytest.raises(UsageError, match="sessions 'disk'"):
        business_stack(place(), users=7, sessions="disk")


def test_the_template_holds_the_business_at_rest(stack):
    """Made to size; frozen, so that the server has no reason to vacuum it."""
    with urllib.request.urlopen(f"{stack.url('app')}/business/size", timeout=20) as answer:
        size = json.load(answer)
    assert size == {"users": USERS, "branches": 4, "items": 500, "customers": 400, "accounts": 20}
    tables = "relname like 'business_%' and relname not like 'business_session%'"
    changed = "select max(n_ins_since_vacuum + n_mod_since_analyze) from pg_stat_user_tables"
    assert ask(stack, f"{changed} where {tables}") == [(0,)]


def test_all_seventeen_transactions(stack):
    """Each is done by a node, counted once under its name, and the books agree after all."""
    before = counters(stack)
    user = Browser(stack, 1)
    assert int(user.good("customer-search", "customers?find=Costa")["count"]) > 0
    assert user.good("customer", "customers/5")["customer"] == "5"
    user.good("draft-start", "draft", customer=5)
    assert int(user.good("item-search", "items?find=Brass+Bo")["count"]) > 0
    price = user.good("item", "items/9")["price"]
    assert int(user.good("availability", "items/9/availability")["available"]) > 0
    assert user.good("draft-line", "draft/lines", item=9, quantity=1)["total"] == price
    assert user.good("draft", "draft")["lines"] == "1"
    placed = user.good("place-order", "orders", request="all-1")
    assert (placed["repeated"], placed["total"]) == ("false", price)
    order = placed["order"]
    assert user.good("order", f"orders/{order}")["state"] == "open"
    assert int(user.good("orders", "orders")["count"]) > 0
    assert user.good("ship", "shipments", order=order, request="all-2")["order"] == order
    user.good("receive", "receipts", item=9, quantity=3, request="all-3")
    account = 101
    assert user.good("account", f"accounts/{account}")["account"] == str(account)
    user.good("journal", "journal", **{"from": 109, "to": 110, "cents": 5, "request": "all-4"})
    user.good("pay", "payments", customer=5, cents=100, request="all-5")
    assert int(user.good("sales-report", "report")["count"]) > 0
    after = counters(stack)
    rise = {k: v - before[k] for k, v in after.items() if k.startswith("business_done_total/")}
    done = {name.partition("/")[2]: count for name, count in rise.items() if count}
    assert len(done) == 18 and set(done.values()) == {1} and done["sign-on"] == 1
    assert after["business_session_events_total/created"] == (
        before["business_session_events_total/created"] + 1
    )
    kinds = ask(stack, "select kind from business_document where request like 'all-%' order by 1")
    assert [kind for (kind,) in kinds] == ["journal", "order", "payment", "receipt", "shipment"]
    assert ask(stack, UNBALANCED) == ask(stack, WRONGLY_RESERVED) == [(0,)]


def test_a_write_whose_answer_was_lost_is_sent_again_and_not_done_again(stack):
    """Whichever node gets the second one: it answers with the number of the first."""
    user = Browser(stack, 2)
    user.fill(11, 12)
    first = user.good("place-order", "orders", request="twice")
    again = Browser(stack, 3)
    second = again.good("place-order", "orders", request="twice")
    assert second["order"] == first["order"]
    assert (first["repeated"], second["repeated"]) == ("false", "true")
    assert ask(stack, "select count(*) from business_document where request = 'twice'") == [(1,)]
    assert again.ask("payments", customer=5, cents=1, request="twice")[:1] == (409,)


def test_a_session_survives_its_node_and_what_it_was_told_is_there(stack):
    """The node of a user is killed: the other one goes on with the order in progress."""
    user = Browser(stack, 4)
    user.fill(21, 22, 23)
    before = user.good("draft", "draft")
    placed = user.good("place-order", "orders", request="before-the-kill")
    user.fill(24, 25)
    draft = user.good("draft", "draft")
    stack.kill(before["node"])
    status, after, text = user.ask("draft")
    assert status == 200, text
    assert after["node"] != before["node"]
    assert (after["total"], after["workspace"]) == (draft["total"], before["workspace"])
    assert int(after["step"]) >= user.step + 1
    status, moved, _ = user.ask("orders", request="after-the-kill")
    assert (status, moved["lines"]) == (200, "2")
    stack.start_again(before["node"])
    known = ask(
        stack,
        "select document from business_document where request like '%-the-kill' order by document",
    )
    assert [str(document) for (document,) in known] == [placed["order"], moved["order"]]
    assert ask(stack, WRONGLY_RESERVED) == [(0,)]


def test_concurrent_orders_of_the_same_items(stack):
    """Orders that want the same stock at once neither deadlock nor lose a reservation."""
    failures = []

    def shop(number):
        try:
            user = Browser(stack, number)
            for turn in range(5):
                items = (31, 32, 33) if (turn + number) % 2 else (33, 32, 31)
                user.fill(*items)
                order = user.good("place-order", "orders", request=f"at-once-{number}-{turn}")
                user.good("ship", "shipments", order=order["order"], request=f"go-{number}-{turn}")
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=shop, args=(number,)) for number in range(10, 16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    rows = "select count(*) from business_document where request like 'at-once-%'"
    assert ask(stack, rows) == [(30,)]
    assert ask(stack, UNBALANCED) == ask(stack, WRONGLY_RESERVED) == [(0,)]


def test_a_session_in_memory_dies_with_its_node_and_its_user_is_told(tmp_path_factory):
    """After the kill the cookie is of no use: 401, and what to do; a new session goes on."""
    deployment = business_stack(place(), users=USERS, nodes=2, heap_mib=160, pool=4)
    with started(deployment, tmp_path_factory.mktemp("memory")) as stack:
        user = Browser(stack, 5)
        user.fill(41)
        node = user.good("draft", "draft")["node"]
        stack.kill(node)
        status, found, text = user.ask("draft")
        assert (status, found["problem"]) == (401, "lost-session")
        assert "sign on again" in text
        user.step = -1
        assert user.good("sign-on", "sign-on", user=5)["node"] != node
        assert user.ask("draft")[0] == 409
        stack.start_again(node)
        assert counters(stack)["business_session_events_total/missed"] == 1
