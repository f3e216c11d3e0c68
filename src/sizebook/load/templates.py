"""Users whose requests are templates: with the values of a CSV file, and with what answers gave.

    class Shopper(SessionUser):
        \"\"\"Logs in and looks at the basket.\"\"\"

        role = "system"
        folder = "shop"  # beside the locustfile: users.csv, and the bodies of requests

        def session(self):
            form = "user={{username}}&password={{password}}"
            self.step("POST", "/login", body=form, keep={"token": JsonField("token")})
            self.pause(2.0)
            self.step("GET", "/basket", headers=(("Authorization", "Bearer {{token}}"),))

Each user has a row of ``users.csv``. ``{{user}}`` is its number, ``{{pass}}`` that of its pass, and
``{{target}}`` the base URL of the system.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from time import monotonic_ns
from typing import Any, ClassVar

from sizebook.load.answer import Exchange
from sizebook.load.csv_rows import read_rows
from sizebook.load.expect import Check, Expect
from sizebook.load.kept import Kept
from sizebook.load.placeholders import MissingValueError, encoder_of, fill, in_path
from sizebook.load.settings import Setting
from sizebook.load.target import Headers
from sizebook.load.users import LeanHttpUser, SetUp
from sizebook.model.errors import TrialError
from sizebook.model.load import ReplayedArrivals

USERS, REQUESTS, ARRIVALS = "users.csv", "requests.csv", "arrivals.csv"
GOOD = Expect()
SPREAD = 0.5
"""By which share of itself a pause is shorter or longer at most, evenly distributed."""
BODY_OF_FILE = "@"
"""Begins a body that stands in a file of the folder."""


class SessionOverError(Exception):
    """The rest of the pass needs a value that an answer did not give."""


@dataclass(frozen=True)
class RequestTemplate:
    """A request of a table: what is sent, and what a good answer is."""

    method: str
    path: str
    name: str
    headers: Headers = ()
    body: str = ""
    check: Check = GOOD
    weight: float = 1.0


@dataclass
class LoadData:
    """What all users of a template share, read before anything is counted."""

    folder: Path
    users: list[dict[str, str]] = field(default_factory=list)
    requests: list[RequestTemplate] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    """Sums of the requests' weights."""
    order: list[int] = field(default_factory=list)
    """Numbers of the requests in the order in which they were recorded."""
    bodies: dict[str, str | bytes] = field(default_factory=dict)

    def body(self, given: str) -> str | bytes:
        """Return a body, out of its file if it names one."""
        if not given.startswith(BODY_OF_FILE):
            return given
        if given not in self.bodies:
            data = (self.folder / given.removeprefix(BODY_OF_FILE)).read_bytes()
            try:
                self.bodies[given] = data.decode("utf-8") if b"{{" in data else data
            except UnicodeDecodeError:
                self.bodies[given] = data
        return self.bodies[given]


class TemplateUser(LeanHttpUser):
    """A user whose paths, headers and bodies have placeholders."""

    abstract = True
    folder: ClassVar[str] = ""
    """Folder of its data, beside the locustfile."""

    @classmethod
    def set_up(cls, setup: SetUp) -> LoadData:  # noqa: ARG003
        """Return the rows of ``users.csv``, if there is one."""
        data = LoadData(Path(cls.folder))
        users = data.folder / USERS
        data.users = read_rows(users) if users.exists() else []
        return data

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self.random = random.Random(f"{self.course.load.seed} {self.number}")
        self.values: dict[str, str] = {}

    def begin_pass(self) -> None:
        """Forget what answers gave; take this user's row."""
        rows = self.shared.users
        self.values = dict(rows[self.number % len(rows)]) if rows else {}
        self.values["user"] = str(self.number + 1)
        self.values["pass"] = str(self.iteration_number + 1)
        self.values["target"] = self.course.targets[self.role].url.rstrip("/")

    def send(self, request: RequestTemplate, keep: Mapping[str, Kept] | None = None) -> Exchange:
        """Send a request of a template; keep values of its answer under their names.

        An answer without such a value is no good one (error class ``body``).
        """
        check = request.check if not keep else self._keeping(request.check, keep)
        kind = next((v for n, v in request.headers if n.lower() == "content-type"), "")
        try:
            path = fill(request.path, self.values, in_path)
            headers = tuple((name, fill(text, self.values)) for name, text in request.headers)
            body = self.shared.body(request.body)
            if isinstance(body, str):
                body = fill(body, self.values, encoder_of(kind)).encode()
        except MissingValueError as error:
            raise TrialError(
                found=f"{{{{{error.name}}}}} in {request.method} {request.path}, without a value",
                expected=f"a column of {self.folder}/{USERS}, or what an earlier answer gave",
                next_step=f"add the column {error.name}, or keep the value: keep={{...}}",
            ) from error
        return self.request(
            request.method, path, name=request.name, check=check, headers=headers, body=body
        )

    def _keeping(self, check: Check, keep: Mapping[str, Kept]) -> Check:
        def judge(exchange: Exchange) -> str:
            if error := check(exchange):
                return error
            for name, place in keep.items():
                value = place.find(exchange, self.client)
                if value is None:
                    return "body"
                self.values[name] = value
            return ""

        return judge


class SessionUser(TemplateUser):
    """A visitor who does one step after the other; each pass is another visit.

    A visit begins without cookies and with a connection of its own.
    """

    abstract = True
    settings: ClassVar[dict[str, Setting]] = {"think_share": Setting(1.0)}
    cookies: ClassVar[Mapping[str, str]] = {}
    """Cookies that a visitor brings along; they may have placeholders."""

    def session(self) -> None:
        """Do the steps of one visit."""
        raise NotImplementedError

    def iteration(self) -> None:
        """Be a new visitor, and do what visitors do."""
        self.begin_pass()
        self.client.start_anew({k: fill(v, self.values) for k, v in self.cookies.items()})
        try:
            self.session()
        except SessionOverError:
            return

    def step(
        self,
        method: str,
        path: str,
        *,
        name: str = "",
        check: Check = GOOD,
        headers: Headers = (),
        body: str = "",
        keep: Mapping[str, Kept] | None = None,
    ) -> Exchange:
        """Send one request. The visit is over if its answer lacks what is to be kept."""
        request = RequestTemplate(method, path, name or f"{method} {path}", headers, body, check)
        exchange = self.send(request, keep)
        if keep and self.error:
            raise SessionOverError
        return exchange

    def pause(self, think_s: float) -> None:
        """Wait for this time, or up to half of it less or more, times setting ``think_share``.

        A visit that the end of the measured phase finds in a pause is over.
        """
        share = float(self.setting("think_share")) * self.random.uniform(1 - SPREAD, 1 + SPREAD)
        if share <= 0:
            return
        due_ns = monotonic_ns() + round(think_s * share * 1e9)
        self.course.clock.sleep_until(min(due_ns, self.course.end_ns))
        if due_ns >= self.course.end_ns:
            raise SessionOverError


class MixUser(TemplateUser):
    """A user who sends one of many requests in each pass, by their weights.

    With replayed arrivals it sends what was recorded: arrival k is line k of ``arrivals.csv``.
    """

    abstract = True

    @classmethod
    def set_up(cls, setup: SetUp) -> LoadData:
        """Return the table of requests, and in which order they came."""
        data = super().set_up(setup)
        data.requests = [_template(row) for row in read_rows(data.folder / REQUESTS)]
        data.weights = list(accumulate(request.weight for request in data.requests))
        arrivals = data.folder / ARRIVALS
        if arrivals.exists():
            data.order = [int(row["request"]) for row in read_rows(arrivals)]
        if not data.weights or data.weights[-1] <= 0:
            raise TrialError(
                found=f"no request with a weight above 0 in {cls.folder}/{REQUESTS}",
                expected="at least one",
                next_step="correct its column weight",
            )
        return data

    def iteration(self) -> None:
        """Send the next request."""
        self.begin_pass()
        self.send(self.next_request())

    def next_request(self) -> RequestTemplate:
        """Return what was recorded at this arrival, or one drawn by weight."""
        data: LoadData = self.shared
        arrivals = self.course.load.arrivals
        if isinstance(arrivals, ReplayedArrivals) and data.order:
            number = arrivals.first + self.arrival_number
            return data.requests[data.order[number % len(data.order)]]
        return self.random.choices(data.requests, cum_weights=data.weights)[0]


def _template(row: Mapping[str, str]) -> RequestTemplate:
    """Return the request of a row of the table; a wrong number is named."""
    try:
        weight, status = float(row.get("weight") or 1), int(row.get("status") or 200)
    except ValueError as error:
        raise TrialError(
            found=f"{error} in {REQUESTS}",
            expected="numbers in the columns weight and status",
            next_step=f"correct the row of {row.get('name') or row.get('path')}",
        ) from error
    lines = (line.partition(":") for line in row.get("headers", "").splitlines() if line.strip())
    headers = tuple((name.strip(), text.strip()) for name, _, text in lines)
    method, path = row.get("method") or "GET", row.get("path") or "/"
    check = Expect(
        status=status,
        content_type=row.get("answer_type", "").lower().encode(),
        contains=row.get("contains", "").encode(),
    )
    name = row.get("name") or f"{method} {path.partition('?')[0]}"
    return RequestTemplate(method, path, name, headers, row.get("body", ""), check, weight)
