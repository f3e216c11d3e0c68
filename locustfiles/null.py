"""Nobody in particular asks a server that does nothing: shows what the load generator can do.

Closed or open, as the load profile says. The server answers every GET at once with a body of known
length, so the rate reached in a closed loop without think time is the generator's ceiling, and the
latency is the generator's own.
"""

from typing import ClassVar

from sizebook.load.users import Expect, LeanHttpUser, Setting, SetUp


class NullReader(LeanHttpUser):
    """Gets one path again and again; the answer is good if it is 200 and of the right length."""

    role = "nullserver"
    settings: ClassVar = {
        "path": Setting("/"),
        "expect_bytes": Setting(1024),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> tuple[str, Expect]:
        return str(setup.settings["path"]), Expect(length=int(setup.settings["expect_bytes"]))

    def iteration(self) -> None:
        path, expected = self.shared
        self.get(path, name="null", check=expected)
