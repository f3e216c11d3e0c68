"""What a plain locustfile may read of Locust's command line: ``environment.parsed_options``.

Many plain locustfiles declare arguments of their own (``@events.init_command_line_parser``) and
read them in their tasks. They get their defaults, or what the load profile's settings say. So do
Locust's own tags and user classes; all else of Locust's command line is the trial's, and recorded
with it. Neither variables named ``LOCUST_...`` nor Locust's configuration files of a user are
heeded.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Mapping
from typing import Any

from locust.argument_parser import get_empty_argument_parser, get_parser, setup_parser_arguments

from sizebook.model.errors import LocustfileError, UsageError
from sizebook.model.records import Scalar

OF_LOCUST = ("tags", "exclude_tags", "user_classes")
"""Arguments of Locust itself that settings may give: lists of words, by commas or blanks."""


def default_options(
    locustfile: str,
    *,
    host: str | None,
    users: int,
    settings: Mapping[str, Scalar] | None = None,
) -> Any:
    """Return the parsed options of a command line, for a locustfile by name.

    ``host`` and the number of users are the trial's; ``settings`` give values of arguments that the
    locustfile declares, and of those ``OF_LOCUST``. Raises LocustfileError if an argument that it
    declares has no default, and is not given; UsageError for a setting that is no argument, or has
    a value that its argument does not take.
    """
    given = dict(settings or {})
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            parser = get_parser(default_config_files=[])
            own = _declared(parser)
            _refuse_unknown(given, own, locustfile)
            words = [word for name, value in given.items() for word in _words(own, name, value)]
            options = parser.parse_args(words, env_vars={})
    except SystemExit as error:
        reason = (said.getvalue().strip().splitlines() or ["no reason told"])[-1]
        reason = reason.partition("error: ")[2] or reason
        if "are required" not in reason:
            raise UsageError(
                found=f"arguments of {locustfile} with other values than it takes: {reason}",
                expected="values of the type that the locustfile declares",
                next_step=f"correct the value, or the declaration in {locustfile}",
            ) from error
        raise LocustfileError(
            found=f"arguments of {locustfile} that cannot be left out: {reason}",
            expected="a default for each argument that a locustfile adds to Locust's own, or a "
            "value among the settings of the load",
            next_step=f"give them defaults in {locustfile}, or values: -p NAME=VALUE",
        ) from error
    for name in OF_LOCUST:
        if isinstance(value := given.get(name), str):
            setattr(options, name, value.replace(",", " ").split())
    options.host, options.num_users, options.locustfile = host, users, locustfile
    return options


def chosen_classes(classes: list[type[Any]], names: Iterable[str], locustfile: str) -> list[Any]:
    """Return the user classes of these names; all without a name. Raises UsageError."""
    wanted = list(names)
    known = {user.__name__: user for user in classes}
    for name in wanted:
        if name not in known:
            raise UsageError(
                found=f"user class {name!r}",
                expected=f"one of {locustfile}: {', '.join(known)}",
                next_step="correct user_classes",
            )
    return [known[name] for name in wanted] or classes


def declared_arguments() -> tuple[str, ...]:
    """Return the names of the arguments that the locustfile loaded last adds to Locust's."""
    return tuple(_declared(get_parser(default_config_files=[])))


def _declared(parser: Any) -> dict[str, Any]:
    """Return the arguments that are none of Locust's own, by name."""
    plain = get_empty_argument_parser(default_config_files=[])
    setup_parser_arguments(plain)  # type: ignore[no-untyped-call]
    theirs = {action.dest for action in plain._actions}
    return {one.dest: one for one in parser._actions if one.dest not in theirs}


def _refuse_unknown(given: Mapping[str, Scalar], own: Mapping[str, Any], locustfile: str) -> None:
    for name in given:
        if name not in own and name not in OF_LOCUST:
            known = ", ".join((*own, *OF_LOCUST))
            raise UsageError(
                found=f"setting {name!r} for {locustfile}, whose users are plain Locust",
                expected=f"an argument that it declares, or one of Locust's: {known}",
                next_step="correct the name, or declare it by @events.init_command_line_parser; a "
                "class derived from sizebook.load.users.Scenario has settings of its own",
            )


def _words(own: Mapping[str, Any], name: str, value: Scalar) -> list[str]:
    """Return how a value stands on a command line."""
    if name in OF_LOCUST:
        return []
    action = own[name]
    flag = max(action.option_strings, key=len, default="")
    if action.nargs == 0:  # a flag: present or not
        return [flag] if value is True or str(value) == str(action.const) else []
    several = action.nargs in ("*", "+") and isinstance(value, str)
    values = str(value).replace(",", " ").split() if several else [str(value)]
    return [flag, *values] if several else [f"{flag}={values[0]}" if flag else values[0]]
