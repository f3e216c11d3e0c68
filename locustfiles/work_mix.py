"""Users in dialogues while jobs run in the background: the mixed load of chapter 12.

A user of a group named ``dialogue`` begins a step when it is due, by turns: the summary of a group
of accounts, the items of one of its periods, another page of them, and the items of one account.
A user of a group named ``background`` runs jobs: closing of the periods of some accounts, and
statistics. Steps have due times that are fixed by the seed, whatever the server does.

The node counts the time of each kind of work, and the part of it in the database (``work_s`` and
``work_database_s`` over ``work_requests_total``, by kind).
"""

from __future__ import annotations

import random
from typing import Any, ClassVar

from sizebook.load.users import Expect, LeanHttpUser, Setting

DIALOGUE, BACKGROUND = "dialogue", "background"
PERIODS = 12
ACCOUNTS_OF_GROUP, FIRST_ACCOUNT, STEP = 25, 100_000, 10


class MixedWorker(LeanHttpUser):
    """A user in a dialogue, or the stream of jobs."""

    role = "app"
    groups = (DIALOGUE, BACKGROUND)
    settings: ClassVar[dict[str, Setting]] = {
        "accounts": Setting(50),
        "groups": Setting(19),
    }

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self.random = random.Random(f"{self.course.load.seed} {self.number}")
        self.turn = 0
        self.about = self.period = 1

    def iteration(self) -> None:
        """Take the next step of a dialogue, or run the next job."""
        if self.group_name == BACKGROUND:
            self.run_job()
        else:
            self.take_step()
        self.turn += 1

    def run_job(self) -> None:
        if self.turn % 2:
            made = Expect(contains=b'"ledger_item":')
            self.post("/ledger/jobs/statistics", b"", name="statistics", check=made)
            return
        many = self.setting("accounts")
        path = f"/ledger/jobs/closing?accounts={many}"
        closed = Expect(contains=f'{{"accounts":{many},"items":'.encode())
        self.post(path, b"", name="closing", check=closed)

    def take_step(self) -> None:
        """Go one step on; a new dialogue is about another group and period."""
        step = self.turn % 4
        if step == 0:
            self.about = self.random.randrange(1, int(self.setting("groups")) + 1)
            self.period = self.random.randrange(1, PERIODS + 1)
            path = f"/ledger/report/summary?group={self.about}"
            name, begin = "summary", f'{{"group":{self.about},"items":'
        elif step < 3:
            path = f"/ledger/report/items?group={self.about}&period={self.period}&page={step}"
            name = "items"
            begin = f'{{"group":{self.about},"period":{self.period},"page":{step},"count":'
        else:
            number = (self.about - 1) * ACCOUNTS_OF_GROUP + self.random.randrange(ACCOUNTS_OF_GROUP)
            account = FIRST_ACCOUNT + STEP * number
            path = f"/ledger/selection?account={account}&from={self.period}"
            name, begin = "selection", f'{{"account":{account},"from":{self.period},'
        self.get(path, name=name, check=Expect(contains=begin.encode()))
