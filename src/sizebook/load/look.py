"""Looks into a locustfile: ``python -m sizebook.load.look``, an order in, one JSON line out."""

from __future__ import annotations

import locust  # isort: skip  (first: it patches the standard library for gevent)

import os
import sys
from pathlib import Path
from typing import Any

from locust.user.task import filter_tasks_by_tags

from sizebook.load.classes import client_of, load_whole, pauses_of
from sizebook.load.fence import Fence, fenced
from sizebook.load.found import FoundLocustfile, FoundUser, LookOrder
from sizebook.load.options import chosen_classes, declared_arguments, default_options
from sizebook.load.protocol import Failure, encode
from sizebook.load.shape import follow
from sizebook.load.target import resolve
from sizebook.load.trialrun import quieten_locust
from sizebook.load.users import Scenario, present_place
from sizebook.model.errors import LocustfileError, UsageError, UserError

assert locust.__version__


def look(order: LookOrder) -> FoundLocustfile:
    """Return what a locustfile holds. Raises UserError for what cannot be run."""
    path = Path(order.locustfile)
    os.chdir(path.parent)
    fence = Fence([resolve(order.host)] if order.host else [])
    fence.where = lambda: present_place(path.name)
    with fenced(fence):
        try:
            classes, shapes = load_whole(path)
        finally:
            if fence.breach is not None:
                raise fence.breach if order.host else _too_early(fence.breach)
        is_scenario = any(issubclass(user, Scenario) for user in classes)
        if not is_scenario:
            options = default_options(path.name, host=None, users=1, settings=order.settings)
            classes = chosen_classes(classes, options.user_classes, path.name)
            _filter(classes, options, path.name)
        if len(shapes) > 1:
            raise _several(shapes, path.name)
        shape = follow(shapes[0], path.name, order.within_s) if shapes else None
        return FoundLocustfile(
            users=tuple(
                FoundUser(
                    name=user.__name__,
                    client=client_of([user]),
                    host=user.host or "",
                    is_scenario=issubclass(user, Scenario),
                )
                for user in classes
            ),
            shape=shape,
            arguments=declared_arguments(),
            pauses=pauses_of([user for user in classes if not issubclass(user, Scenario)]),
        )


def _filter(classes: list[Any], options: Any, name: str) -> None:
    """Take out tasks by their tags, as Locust will. Raises UsageError if a class has none left."""
    if not options.tags and not options.exclude_tags:
        return
    for user in classes:
        tags = {one for task in user.tasks for one in getattr(task, "locust_tag_set", ())}
        had_tasks = bool(user.tasks)
        filter_tasks_by_tags(
            user,
            set(options.tags) if options.tags else None,
            set(options.exclude_tags) if options.exclude_tags else None,
        )
        if had_tasks and not user.tasks:
            raise UsageError(
                found=f"no task of {user.__name__} in {name} with these tags",
                expected=f"tags of its tasks: {', '.join(sorted(tags)) or 'it has none'}",
                next_step="correct --tags or --exclude-tags, or name the classes that have them "
                "with --user-class",
            )


def _too_early(breach: UserError) -> LocustfileError:
    return LocustfileError(
        found=f"{breach.found}, while it is imported and no target is named",
        expected="a target, and a locustfile that connects to nothing else",
        next_step="name the target with --host",
    )


def _several(shapes: list[Any], name: str) -> LocustfileError:
    found = ", ".join(type(shape).__name__ for shape in shapes)
    return LocustfileError(
        found=f"several LoadTestShapes in {name}: {found}",
        expected="one shape a locustfile",
        next_step="make the others abstract (abstract = True), or import only one",
    )


def main() -> None:
    """Read an order from standard input, write what was found on standard output."""
    quieten_locust()
    sink_fd = os.dup(1)  # what a locustfile prints must not get between
    os.dup2(2, 1)
    order = LookOrder.model_validate_json(sys.stdin.read())
    try:
        line = encode("found", look(order))
    except UserError as error:
        line = encode("error", Failure.of(error))
    data = line.encode()
    while data:
        data = data[os.write(sink_fd, data) :]


if __name__ == "__main__":
    main()
    sys.stderr.flush()
    os._exit(0)  # threads and greenlets that the import has left are nobody's
