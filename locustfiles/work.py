"""A user asks for one piece of work again and again: the load of chapter 12.

The user waits for each answer before it asks anew. The time of the work itself, and the part of it
in the database, are in the counters of the node (``work_done_s`` and ``work_done_database_s`` over
``work_done_total``, by work).

``work="every"`` asks for each piece of work in turn, the longest last: the load that conditions a
fresh stack. ``group`` is the group of accounts that the last stage of the report is about: 0 is the
whole ledger. What the other pieces are about changes from request to request, among ``groups`` of
accounts, the same in each trial.

A piece of work is a pass of the scenario, and passes make the results: a trial has thousands of the
short ones, and one or a few of the long ones.

An answer is checked against what the ledger holds; a pair's two variants must agree, and so must
a variant with itself.
"""

from __future__ import annotations

from typing import ClassVar

from sizebook.load.answer import Exchange
from sizebook.load.users import Check, Expect, LeanHttpUser, Setting, SetUp

PAIRS = ("aggregates", "view", "subqueries", "tables", "context")
VARIANTS = ("naive", "better")
QUERIES = ("count", "summary", "items", "all")
JOBS = ("statistics", "closing", "generation")
WORKS = (*QUERIES, *(f"{pair}-{variant}" for pair in PAIRS for variant in VARIANTS), *JOBS)
EVERY = "every"
LONG = ("statistics", "all", "closing", "generation")
IN_TURN = (*(work for work in WORKS if work not in LONG), *LONG)
"""Short work first: a slow host gets through most of it in its conditioning load."""
PERIODS = 12


class Worker(LeanHttpUser):
    """Asks for the next piece of work and checks what came of it."""

    role = "app"
    results = "passes"
    settings: ClassVar[dict[str, Setting]] = {
        "work": Setting("count", (*WORKS, EVERY)),
        "rows": Setting(259_480),
        "group": Setting(0),
        "groups": Setting(19),
        "programs": Setting(10),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> dict[tuple[str, int], bytes]:  # noqa: ARG003
        """Return where the results of pairs are kept, by pair and key."""
        return {}

    def iteration(self) -> None:
        """Ask once."""
        number, work = self.iteration_number, str(self.setting("work"))
        if work == EVERY:
            number, turn = divmod(number, len(IN_TURN))
            work = IN_TURN[turn]
        if work in QUERIES:
            path, good = self.query(work, number)
            self.get(path, name=work, check=good)
        elif work in JOBS:
            path, good = self.job(work, number)
            self.post(path, b"", name=work, check=good)
        else:
            pair, variant = work.rsplit("-", 1)
            path = f"/ledger/pairs/{pair}/{variant}?key={number}"
            self.get(path, name=work, check=lambda found: self.agrees(pair, number, found))

    def query(self, work: str, number: int) -> tuple[str, Check]:
        """Return path and check of a query or a stage of the report."""
        rows, group = int(self.setting("rows")), int(self.setting("group"))
        some, period = 1 + number % int(self.setting("groups")), 1 + number % PERIODS
        if work == "count":
            return "/ledger/count", Expect(contains=f'{{"count":{rows}}}'.encode())
        if work == "summary":
            begin = f'{{"group":{some},"items":'
            return f"/ledger/report/summary?group={some}", Expect(contains=begin.encode())
        if work == "items":
            begin = f'{{"group":{some},"period":{period},"page":1,"count":'
            path = f"/ledger/report/items?group={some}&period={period}"
            return path, Expect(contains=begin.encode())
        whole = f'{{"group":0,"count":{rows},"total":0.00,'
        begin = f'{{"group":{group},"count":' if group else whole
        return f"/ledger/report/all?group={group}", Expect(contains=begin.encode())

    def job(self, work: str, number: int) -> tuple[str, Check]:
        """Return path and check of a job."""
        if work == "statistics":
            return "/ledger/jobs/statistics", Expect(contains=b'"ledger_item":')
        if work == "closing":
            closed = f'"items":{self.setting("rows")},'
            return "/ledger/jobs/closing", Expect(contains=closed.encode())
        many = self.setting("programs")
        made = Expect(contains=f'{{"programs":{many},"seed":{number},'.encode())
        return f"/ledger/jobs/generation?programs={many}&seed={number}", made

    def agrees(self, pair: str, key: int, found: Exchange) -> str:
        """Return the error class, empty if the result is that of the other variant, too."""
        body = found.body
        wrong = Expect(contains=f'{{"pair":"{pair}",'.encode())(found)
        begin = body.find(b'"result":"')
        end = body.find(b'",', begin + 10)
        if wrong or begin < 0 or end < 0:
            return wrong or "body"
        result = bytes(body[begin:end])
        return "" if self.shared.setdefault((pair, key), result) == result else "body"
