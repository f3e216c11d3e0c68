"""Clerks at their desks work through 17 business transactions: the load of part IV.

A clerk signs on when joining, and keeps session and connection. A clerk draws a piece of business
by weight (sell, ship, buy, book, collect, report), goes through its transactions one after the
other, and draws the next. Each transaction is one request and one pass; between two of them a clerk
thinks, as long as the load profile says. After some dozens of transactions a clerk signs off, and
signs on again. The load is a closed loop, as it is with people: who has no answer does nothing.

Clerks who all began with the first transaction of a piece would do little else for minutes. So each
joins in the middle of one, drawn as if work had gone on for long: of what comes before, only what
session or database have to know is done, in one go with signing on.

Each page is checked: its status, the transaction's name, whose session it is, how many transactions
that session has seen, and what was asked for. Writes carry an id of the clerk's own; one whose
answer did not come is sent again with the same id, so that it is done once. Where the server does
not know the session any more, the clerk signs on again and begins another piece of business.

``limits`` are those that the node gets before anything is counted, such as ``threads=20&pool=8``;
those not named stay as they are.
"""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode

from sizebook.load.answer import Exchange
from sizebook.load.users import Check, Expect, Headers, LeanHttpUser, Setting, SetUp

FORM: Headers = (("Content-Type", "application/x-www-form-urlencoded"),)
MATERIALS = ("Brass", "Copper", "Nylon", "Oak", "Rubber", "Steel", "Tin", "Zinc")
THINGS = ("Bo", "Cl", "Ge", "Hi", "Le", "Nu", "Pi", "Va")
NAMES = ("Adler", "Brandt", "Costa", "Dupont", "Eriksen", "Fontana", "Garcia", "Horvat", "Ivanov")
FORMS = ("and", "Com", "Lim", "Par", "Tra")
ACCOUNTS = 20
"""Accounts of a branch."""
NO_SESSION = 401
UNHEARD = (0, 502, 503, 504)
"""Status of an answer that leaves open whether a write was done."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
REPEATS = 5
"""Times that a write without an answer is sent again."""
KEPT_ORDERS = 5
"""Own orders, not shipped yet, that a clerk remembers."""

OPEN_ORDERS = 4
"""Each order of the generated ones whose number is a multiple of this is open."""
LENGTHS = {"sell": 12, "ship": 3, "buy": 3, "book": 3, "collect": 3, "report": 1}
"""Transactions of a piece of business."""
NEEDED = frozenset(("draft-start", "draft-line", "place-order", "order"))
"""What later transactions of a piece build on."""

Steps = Iterator[None]
"""A piece of business: each step sends one request."""


class Clerk(LeanHttpUser):
    """A clerk who works through pieces of business, and thinks between their transactions."""

    role = "app"
    settings: ClassVar[dict[str, Setting]] = {
        "sell": Setting(28),
        "ship": Setting(22),
        "buy": Setting(18),
        "book": Setting(14),
        "collect": Setting(12),
        "report": Setting(6),
        "session_transactions": Setting(60),
        "limits": Setting(""),
    }
    """Weights of the pieces of business, transactions of a session, on average, and the node's
    limits."""

    @classmethod
    def set_up(cls, setup: SetUp) -> dict[str, int]:
        """Set the node's limits; return how many users, branches, items and customers there are."""
        limits = str(setup.settings["limits"])
        if limits:
            setup.post(f"/business/limits?{limits}", check=told(limits))
        answer = setup.get("/business/size", check=Expect(contains=b'"users":'))
        return dict(json.loads(answer.body))

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self.random = random.Random(f"{self.course.load.seed} {self.number}")
        self.user = self.number % self.shared["users"] + 1
        self.signed_on = False
        self.seen: int | None = None
        """Transactions that the session has seen; None: not known after a failure."""
        self.left = 0
        """Transactions until this clerk signs off, at the end of a piece of business."""
        self.branch = 1
        self.steps: Steps = iter(())
        self.answer = Exchange()
        self.repeating = False
        """Whether the last request was a write without an answer, to be sent again."""
        self.catching_up = False
        """Whether what is not ``NEEDED`` is passed over."""
        first = self.user * OPEN_ORDERS
        own = [first] if first <= 2 * self.shared["users"] else []
        self.orders: deque[int] = deque(own, maxlen=KEPT_ORDERS)
        self.writes = 0

    def join(self) -> None:
        """Sign on, and come to the middle of a piece of business."""
        self.sign_on()
        if self.error:
            return
        pieces = list(LENGTHS)
        name = self.draw(pieces, [self.weight_of(piece) * LENGTHS[piece] for piece in pieces])
        self.steps = getattr(self, name)()
        self.catching_up = True
        for _ in range(self.random.randrange(LENGTHS[name])):
            next(self.steps)
            if self.error:
                self.steps = self.steps if self.repeating else iter(())
                break
        self.catching_up = False

    def iteration(self) -> None:
        """Do the next transaction, of this piece of business or of the one that is drawn now."""
        if not self.signed_on:
            self.steps = iter(())
            self.sign_on()
            return
        while next(self.steps, self) is self:
            self.steps = self.begin()
        self.left -= 1
        if self.error and not self.repeating:
            self.steps = iter(())

    def begin(self) -> Steps:
        """Return a piece of business by weight, or the end of the session when it is time."""
        if self.left <= 0:
            return self.leave()
        pieces = list(LENGTHS)
        steps: Steps = getattr(self, self.draw(pieces, [self.weight_of(one) for one in pieces]))()
        return steps

    def draw(self, pieces: list[str], weights: list[float]) -> str:
        """Return the name of a piece of business."""
        return self.random.choices(pieces, weights)[0]

    def weight_of(self, piece: str) -> float:
        """Return how often a piece of business is drawn, beside the others."""
        return float(self.setting(piece))

    def sign_on(self) -> None:
        """Begin a session."""
        self.seen = -1
        self.ask("POST", "/business/sign-on", "sign-on", {"user": self.user})
        if not self.error:
            self.signed_on = True
            self.branch = self.number_in("branch")
            mean = float(self.setting("session_transactions"))
            self.left = 1 + int(self.random.expovariate(1 / mean))

    def leave(self) -> Steps:
        """Sign off; the next transaction is to sign on."""
        self.ask("POST", "/business/sign-off", "sign-off")
        self.signed_on = False
        yield

    def sell(self) -> Steps:
        """Take an order of three lines: search, look, fill a draft, place it, see it."""
        customer = self.some("customers")
        yield from self.find_customer(customer)
        self.ask(
            "POST", "/business/draft", "draft-start", {"customer": customer}, customer=customer
        )
        yield
        first, second, third = self.random.sample(range(1, self.shared["items"] + 1), 3)
        yield from self.find_items()
        self.ask("GET", f"/business/items/{first}", "item", item=first)
        yield
        yield from self.add_line(1, first)
        yield from self.see_availability(second)
        yield from self.add_line(2, second)
        yield from self.add_line(3, third)
        self.ask("GET", "/business/draft", "draft", customer=customer, lines=3)
        yield
        yield from self.write("/business/orders", "place-order", lines=3)
        order = self.number_in("order")
        self.orders.append(order)
        self.ask("GET", f"/business/orders/{order}", "order", order=order, customer=customer)
        yield

    def ship(self) -> Steps:
        """Look at the open orders and ship one of the clerk's own; sell where there is none."""
        if not self.orders:
            yield from self.sell()
            return
        order = self.orders.popleft()
        self.ask("GET", "/business/orders", "orders")
        yield
        self.ask("GET", f"/business/orders/{order}", "order", order=order)
        yield
        if b'<output id="state">shipped</output>' in self.answer.body:
            return
        yield from self.write("/business/shipments", "ship", {"order": order}, order=order)

    def buy(self) -> Steps:
        """Search for an item, see what there is of it, receive some."""
        item = self.some("items")
        yield from self.find_items()
        yield from self.see_availability(item)
        parts = {"item": item, "quantity": self.random.randint(5, 20)}
        yield from self.write("/business/receipts", "receive", parts, item=item)

    def book(self) -> Steps:
        """Post an entry of the ledger, and look at both of its accounts."""
        source, target = (
            self.branch * 100 + n for n in self.random.sample(range(1, ACCOUNTS + 1), 2)
        )
        self.ask("GET", f"/business/accounts/{source}", "account", account=source)
        yield
        parts = {"from": source, "to": target, "cents": self.random.randint(100, 99_999)}
        yield from self.write("/business/journal", "journal", parts)
        self.ask("GET", f"/business/accounts/{target}", "account", account=target)
        yield

    def collect(self) -> Steps:
        """Find a customer and enter a payment."""
        customer = self.some("customers")
        yield from self.find_customer(customer)
        parts = {"customer": customer, "cents": self.random.randint(100, 99_999)}
        yield from self.write("/business/payments", "pay", parts, customer=customer)

    def report(self) -> Steps:
        """Read the sales report of the branch."""
        self.ask("GET", "/business/report", "sales-report", branch=self.branch)
        yield

    def find_customer(self, customer: int) -> Steps:
        """Search among the customers, and look at this one."""
        words = f"{self.random.choice(NAMES)} {self.random.choice(FORMS)}"
        self.ask("GET", "/business/customers?" + urlencode({"find": words}), "customer-search")
        yield
        self.ask("GET", f"/business/customers/{customer}", "customer", customer=customer)
        yield

    def find_items(self) -> Steps:
        """Search among the items."""
        words = f"{self.random.choice(MATERIALS)} {self.random.choice(THINGS)}"
        self.ask("GET", "/business/items?" + urlencode({"find": words}), "item-search")
        yield

    def see_availability(self, item: int) -> Steps:
        """See where there is how much of an item."""
        self.ask("GET", f"/business/items/{item}/availability", "availability", item=item)
        yield

    def add_line(self, line: int, item: int) -> Steps:
        """Put some of an item into the draft, which then has so many lines."""
        wanted = {"item": item, "quantity": self.random.randint(1, 5)}
        self.ask("POST", "/business/draft/lines", "draft-line", wanted, **wanted, lines=line)
        yield

    def write(
        self, path: str, name: str, parts: Mapping[str, int] = NOTHING, **marks: int
    ) -> Steps:
        """Send a write, and again with the same id as long as no answer comes."""
        self.writes += 1
        request = f"{self.course.start_ns:x}-{self.number}-{self.writes}"
        for number in range(REPEATS + 1):
            self.ask("POST", path, name, {**parts, "request": request}, **marks)
            unheard = bool(self.error) and self.answer.status in UNHEARD
            self.repeating = unheard and number < REPEATS
            yield
            if not unheard:
                return

    def ask(
        self,
        method: str,
        path: str,
        name: str,
        parts: Mapping[str, int | str] = NOTHING,
        **marks: int,
    ) -> None:
        """Send a request and check that its page is this transaction's, of this session."""
        if self.catching_up and name not in NEEDED:
            return
        marks["user"] = self.user
        if self.seen is not None:
            marks["step"] = self.seen + 1
        self.answer = self.request(
            method,
            path,
            name=name,
            check=page_with(page=name, **marks),
            headers=FORM if parts else (),
            body=urlencode(parts).encode(),
        )
        self.seen = None if self.error else self.number_in("step")
        if self.answer.status == NO_SESSION:
            self.signed_on = False

    def number_in(self, mark: str) -> int:
        """Return a number that the last page shows under this id."""
        _, _, rest = self.answer.body.partition(b'<output id="%s">' % mark.encode())
        return int(rest.partition(b"<")[0])

    def some(self, what: str) -> int:
        """Return the number of one of the items or customers that there are."""
        return self.random.randint(1, self.shared[what])


def told(limits: str) -> Check:
    """Return what judges an answer that tells limits: status 200, and those that were set."""
    wanted = {name: int(value) for name, value in parse_qsl(limits)}

    def check(exchange: Exchange) -> str:
        if exchange.status != 200:
            return "status"
        known = json.loads(exchange.body)
        return "" if wanted == {name: known.get(name) for name in wanted} else "body"

    return check


def page_with(**marks: int | str) -> Check:
    """Return what judges a page: status 200, and each of these values under its id."""
    wanted = [f'<output id="{key}">{value}</output>'.encode() for key, value in marks.items()]

    def check(exchange: Exchange) -> str:
        if exchange.status != 200:
            return "status"
        body = exchange.body
        return "" if all(mark in body for mark in wanted) else "body"

    return check
