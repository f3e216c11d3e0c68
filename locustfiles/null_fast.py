"""The load of ``null.py`` with Locust's FastHttpUser: what the generator does with that client.

Same settings, same request, same check, so that one order runs with either client; what is equal
and what cannot be is told in the README of ``sizebook.load``.
"""

from typing import ClassVar

from locust import FastHttpUser

from sizebook.load.users import Expect, Scenario, Setting, SetUp


class FastNullReader(Scenario, FastHttpUser):
    """Gets one path again and again; the answer is good if it is 200 and of the right length."""

    role = "nullserver"
    network_timeout = connection_timeout = 30.0
    settings: ClassVar = {
        "path": Setting("/"),
        "expect_bytes": Setting(1024),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> tuple[str, Expect]:
        return str(setup.settings["path"]), Expect(length=int(setup.settings["expect_bytes"]))

    def iteration(self) -> None:
        path, expected = self.shared
        with self.client.get(
            path, name="null", allow_redirects=False, catch_response=True
        ) as answer:
            expected.judge(answer)
