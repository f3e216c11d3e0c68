"""What Locust's command line would tell a locustfile: the defaults, since there is none here.

Many plain locustfiles declare arguments of their own (``@events.init_command_line_parser``) and
read them from ``environment.parsed_options``. They get their defaults, so that a trial depends on
nothing but its record: neither variables named ``LOCUST_...`` nor Locust's configuration files of a
user are heeded.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any

from locust.argument_parser import get_parser

from sizebook.model.errors import LocustfileError


def default_options(locustfile: str, *, host: str | None, users: int) -> Any:
    """Return the parsed options of a command line without arguments, for a locustfile by name.

    ``host`` and the number of users are the trial's. Raises LocustfileError if an argument that the
    locustfile declares has no default, and must be given.
    """
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            options = get_parser(default_config_files=[]).parse_args([], env_vars={})
    except SystemExit as error:
        reason = (said.getvalue().strip().splitlines() or ["no reason told"])[-1]
        raise LocustfileError(
            found=f"arguments of {locustfile} that cannot be left out: {reason}",
            expected="a default for each argument that a locustfile adds to Locust's own",
            next_step=f"give them defaults in {locustfile}; there is no command line in a trial",
        ) from error
    options.host, options.num_users, options.locustfile = host, users, locustfile
    return options
