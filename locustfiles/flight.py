"""A clerk looks up one flight at a time, in any order: single requests, for open arrivals.

Open or closed as the order says. At a rate, a look-up starts when it is due, whether or not earlier
ones have been answered; shows how long an answer takes at that rate.
"""

from __future__ import annotations

import json
import random
from typing import ClassVar

from sizebook.load.users import Expect, LeanHttpUser, Setting, SetUp

JSON = (("Accept", "application/json"),)


class FlightClerk(LeanHttpUser):
    """Asks for the detail of a random flight as JSON and checks that it is the one."""

    role = "app"
    settings: ClassVar[dict[str, Setting]] = {"flights": Setting(400)}

    @classmethod
    def set_up(cls, setup: SetUp) -> list[tuple[str, Expect]]:
        """Return path and expectation of every flight, from the list itself."""
        listed = Expect(count=(b'"carrid":', int(setup.settings["flights"])))
        answer = setup.get("/rest/flights", check=listed, headers=JSON)
        return [
            (
                f"/rest/flights/{one['carrid']}/{one['connid']}/{one['fldate']}",
                Expect(contains=f'"connid":"{one["connid"]}"'.encode()),
            )
            for one in json.loads(answer.body)
        ]

    def iteration(self) -> None:
        """Look up one flight."""
        path, expected = random.choice(self.shared)
        self.get(path, name="detail", check=expected, headers=JSON)
