"""A reader gets one file from a web server again and again: shows what an answer of its size costs.

Closed or open as the load profile says. The file must be there and as long as expected; where the
reader takes compressed answers, the one that it got at set-up was unpacked, and every further one
must be as long as that.
"""

from __future__ import annotations

import gzip
from typing import ClassVar

from sizebook.load.users import Expect, LeanHttpUser, Setting, SetUp
from sizebook.model.errors import TrialError

PACKED = b"\x1f\x8b"
"""First bytes of a body in gzip."""


class FileReader(LeanHttpUser):
    """Gets one path; the answer is good if it is 200 and of the right length."""

    role = "web"
    settings: ClassVar[dict[str, Setting]] = {
        "path": Setting("/1.txt"),
        "expect_bytes": Setting(1024),
        "takes": Setting("identity", ("identity", "gzip")),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> tuple[str, Expect, tuple[tuple[str, str], ...]]:
        """Return path, expectation and headers; the file is fetched once and looked at."""
        path, wanted = str(setup.settings["path"]), int(setup.settings["expect_bytes"])
        headers = (("Accept-Encoding", str(setup.settings["takes"])),)
        body = setup.get(path, check=Expect(), headers=headers).body
        length = len(gzip.decompress(body)) if body.startswith(PACKED) else len(body)
        if length != wanted:
            raise TrialError(
                found=f"{length} bytes of {path}",
                expected=f"{wanted} bytes, as the load profile says",
                next_step="correct the deployment's files, or 'expect_bytes'",
            )
        return path, Expect(length=len(body)), headers

    def iteration(self) -> None:
        """Get the file."""
        path, expected, headers = self.shared
        self.get(path, name="file", check=expected, headers=headers)
