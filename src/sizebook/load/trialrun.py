"""One trial from order to facts: load the locustfile, spawn its users, let them go, count.

Locust is used as a library: its loader, environment, local runner and statistics. Its ramp is not:
it spawns users in a burst once a second, so here all users are spawned before the start and wait
for their turn, spread evenly.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import resource
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from time import monotonic_ns
from typing import Any

import gevent
import locust
import numpy as np
from gevent.hub import get_hub
from locust.env import Environment

from sizebook.load.classes import (
    base_url,
    client_of,
    gated,
    load_user_classes,
    number_of,
    own_events,
    pauses_of,
    refuse_unknown_groups,
    refuse_what_foreign_users_cannot,
)
from sizebook.load.clock import Clock
from sizebook.load.course import TrialSchedule
from sizebook.load.fence import Fence, fenced
from sizebook.load.http import HttpClient, TimeoutSweep
from sizebook.load.plain import PlainFile, say_goodbye
from sizebook.load.protocol import (
    NO_LATER_NS,
    ROWS_FILE,
    SCHEDULE_FILE,
    Done,
    Order,
    Prepared,
)
from sizebook.load.recorder import Recorder, end_what_users_spawned
from sizebook.load.rows import LATE_NS
from sizebook.load.settings import resolve_settings
from sizebook.load.target import Target, resolve
from sizebook.load.users import (
    LeanHttpUser,
    Scenario,
    SetUp,
    SharedBatch,
    place_of,
    present_place,
)
from sizebook.load.vitals import OnSecond, Vitals, cpu_seconds
from sizebook.model.bundle import JOINED_LATE, GeneratorFacts
from sizebook.model.errors import LocustfileError, TrialError, UsageError

LEAST_LEAD_NS = 20_000_000
LEAD_NS_PER_USER = 50_000
"""Time given to the users to wake up and wait for their turn before the trial starts."""
LAST_ANSWERS_S = 1.0
"""End of the drain in which nothing more is sent: a request that is cut off reaches the server all
the same, and would be counted there in the next trial. At most half of the drain."""
EARLY_DRAIN_S = 2.0
"""Longest drain of a trial that was ended early."""
OTHER_FILES = 64
"""Files that a worker opens beside its users' connections."""
UNFINISHED_NAME = "(unfinished)"


def versions() -> dict[str, str]:
    """Return the versions of what makes the load."""
    packages = {name: version(name) for name in ("locust", "gevent", "sizebook")}
    return {**packages, "python": python_version()}


class TrialRun:
    """A trial that was ordered. Building it does everything that need not be measured."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self._clock = Clock()
        self._sweep = TimeoutSweep(order.load.request_timeout_s)
        self._recorder = Recorder()
        self._plain = PlainFile(order)
        self._stopped_early = False
        self._killed = 0
        self._environment: Any = None
        self._guarding = contextlib.ExitStack()
        try:
            targets = {role: resolve(url) for role, url in order.targets.items()}
            self._reach(targets)
            beside = [resolve(url) for url in order.neighbours.values()]
            fence = Fence([*targets.values(), *beside])
            fence.where = lambda: present_place(Path(order.locustfile).name)
            self._guarding.enter_context(fenced(fence))
            staged = bool(getattr(order.load.arrivals, "stages", ()))
            classes = load_user_classes(Path(order.locustfile), staged=staged)
            if fence.breach is not None:
                raise fence.breach
            self.course = TrialSchedule(
                order, targets=targets, clock=self._clock, sweep=self._sweep, fence=fence
            )
            classes = self._plain.choose(classes)
            self._ours = [user for user in classes if issubclass(user, Scenario)]
            self._foreign = [user for user in classes if user not in self._ours]
            self._client = client_of(classes)
            for user in classes:
                user.host = base_url(user, order)
            self._set_up()
            self._spawn([user if user in self._ours else gated(user) for user in classes])
            gc.collect()
        except BaseException:
            self.close()
            raise

    def prepared(self) -> Prepared:
        """Return what the lab is told before the start."""
        offsets = self.course.offsets
        return Prepared(
            users=len(self.course.users), arrivals=None if offsets is None else len(offsets)
        )

    @property
    def latency_ms(self) -> float | None:
        """Median latency of the latest requests; None before there was one."""
        return self._recorder.latest_latency_ms()

    def stop(self) -> None:
        """End the trial early; what was recorded is kept."""
        if self.course.start_ns and not self._stopped_early:
            self._stopped_early = True
            get_hub().loop.run_callback(self.course.stop)

    def run(self, start_ns: int, on_second: OnSecond, *, keep: bool = False) -> Done:
        """Carry the trial out and return its facts; rows and schedule are on disk then.

        One worker starts later than told if its users need the time to get to their marks. One of
        several keeps to the common start, as all do with ``keep``: what it starts late, it counts
        as late.
        """
        course = self.course
        users = self._environment.runner.user_greenlets
        if (self.order.workers == 1 and not keep) or start_ns == NO_LATER_NS:
            lead_ns = LEAST_LEAD_NS + LEAD_NS_PER_USER * len(users)
            start_ns = max(start_ns, monotonic_ns() + lead_ns)
        vitals = Vitals(
            self._clock,
            lambda: (self._recorder.rows, self._recorder.failed, len(users)),
        )
        course.launch(start_ns)
        turns = course.turns.all if course.turns is not None else ()
        ticking = gevent.spawn(vitals.run, start_ns, on_second, turns)
        self._clock.sleep_until(start_ns)
        cpu_s = cpu_seconds()
        self._wait_for_end()
        self._drain(users)
        over_ns = monotonic_ns()
        cpu_s = cpu_seconds() - cpu_s
        vitals.stop()
        ticking.join(1.0)
        self._environment.runner.quit()
        if course.failure is not None:
            raise course.failure
        say_goodbye(self._environment)
        if turns:
            loaded_ns = sum(turn.end_ns - turn.begin_ns for turn in turns)
            return self._done(vitals, over_ns, vitals.turns_cpu_s, loaded_ns)
        return self._done(vitals, over_ns, cpu_s, over_ns - course.start_ns)

    def close(self) -> None:
        """Release connections and timers; kill what still runs."""
        self._guarding.close()
        if self._environment is not None and self._environment.runner is not None:
            self._environment.runner.quit()
            end_what_users_spawned()
        self._sweep.close()
        self._clock.close()

    def _reach(self, targets: Mapping[str, Target]) -> None:
        """Find out, before anything is measured, which of several addresses takes connections."""
        for target in targets.values():
            if len(target.addresses) > 1:
                HttpClient(target, self._sweep).reach()
        self._sweep.clients.clear()

    def _set_up(self) -> None:
        name = Path(self.order.locustfile).name
        load = self.order.load
        if not self._ours:
            refuse_what_foreign_users_cannot(self.order, self._foreign, name)
        if len(self._ours) > 1:
            raise LocustfileError(
                found=f"{len(self._ours)} scenario classes in {name}",
                expected="one scenario a file",
                next_step="split the locustfile",
            )
        shared = any(issubclass(user, SharedBatch) for user in self._ours)
        if shared and (self.order.workers > 1 or self.course.stages is not None):
            what = "stages" if self.course.stages is not None else f"{self.order.workers} workers"
            raise UsageError(
                found=f"{what} for {name}, whose users share one batch",
                expected="one worker, whose users are there throughout: processes cannot take "
                "items from the same batch",
                next_step="set the load profile's workers to 1, and leave stages out",
            )
        for scenario in self._ours:
            refuse_unknown_groups(scenario, load.arrivals, name)
            self.course.settings = resolve_settings(scenario.settings, load.settings, name)
            setup = SetUp(self.course, scenario.role)
            try:
                self.course.shared = scenario.set_up(setup)
            except (TrialError, UsageError):
                raise
            except Exception as error:
                raise TrialError(
                    found=f"{type(error).__name__} in set-up, {place_of(error, name)}: {error}",
                    expected="a set-up without exceptions",
                    next_step=f"correct {name}, or look at what the server answered",
                ) from error
            finally:
                setup.client.close()
                self._sweep.clients.clear()  # the set-up's requests are not counted

    def _spawn(self, classes: list[type[Any]]) -> None:
        environment: Any = Environment(
            user_classes=classes,
            events=own_events() if self.order.turns is not None else locust.events,
            catch_exceptions=not self._ours,
            parsed_options=self._plain.options,
        )
        self._environment = environment
        environment.course = self.course
        environment.events.request.add_listener(self._recorder.on_request)
        environment.events.user_error.add_listener(self._note_script_error)
        runner = environment.create_local_runner()
        environment.events.init.fire(environment=environment, runner=runner, web_ui=None)
        wanted = len(self.course.users)
        if wanted == 0:
            return
        _refuse_more_than_files(wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        runner.start(wanted, spawn_rate=wanted)
        runner.spawning_greenlet.join()
        error = runner.spawning_greenlet.exception
        if (breach := self.course.fence.breach) is not None:
            raise breach
        if error is not None or runner.user_count != wanted:
            raise TrialError(
                found=f"{runner.user_count} of {wanted} users spawned: {error!r}",
                expected="every user to be built without exceptions",
                next_step="look at the user class's __init__ and on_start",
            ) from error

    def _note_script_error(self, user_instance: Any, exception: BaseException, **_: Any) -> None:
        self._plain.note(exception)
        user = getattr(user_instance, "user", user_instance)
        if isinstance(user, Scenario):
            name = Path(self.order.locustfile).name
            self.course.fail(exception, place_of(exception, name))

    def _wait_for_end(self) -> None:
        course = self.course
        while course.failure is None and monotonic_ns() < course.end_ns:
            # Looks up now and then, because a failure or an early stop moves the end.
            if not self._ours and not self._stopped_early:
                self._plain.look_for_users(course, self._environment.runner)
            self._clock.sleep_until(min(course.end_ns, monotonic_ns() + 200_000_000))

    def _drain(self, users: Any) -> None:
        """Let what is under way end, for ``drain_s`` at the longest; abort the rest."""
        course = self.course
        get_hub().loop.run_callback(self._clock.wake_all)
        for user in _living(users):
            if not isinstance(user, Scenario):
                user.stop()
        drain_s = course.load.phases.drain_s
        if self._stopped_early or course.failure is not None:
            drain_s = min(drain_s, EARLY_DRAIN_S)
        last_s = min(LAST_ANSWERS_S, drain_s / 2)
        deadline_ns = course.end_ns + round((drain_s - last_s) * 1e9)
        users.join(max(0.0, (deadline_ns - monotonic_ns()) * 1e-9))
        course.closed = True
        if not users:
            return
        get_hub().loop.run_callback(self._clock.wake_all)
        users.join(last_s)
        if not users:
            return
        self._sweep.interrupt_all("unfinished")
        get_hub().loop.run_callback(self._clock.wake_all)
        users.join(0.2)
        self._note_killed(users)
        users.kill(timeout=2.0)

    def _note_killed(self, users: Any) -> None:
        """Record as unfinished what a foreign client is still busy with: Locust would not tell."""
        now_ns = monotonic_ns()
        for user in _living(users):
            lean = isinstance(user, LeanHttpUser)
            if lean or (isinstance(user, Scenario) and not user.in_iteration):
                continue
            self._killed += 1
            number = number_of(user)
            self._recorder.add(
                now_ns, now_ns, now_ns, 0, 0, 0, 0, number, UNFINISHED_NAME, 0, "unfinished"
            )

    @property
    def leaves_no_cycles(self) -> bool:
        """Whether all users are ours, which make no reference cycles; foreign clients do."""
        return len(self._ours) == len(self._environment.user_classes)

    def _done(self, vitals: Vitals, over_ns: int, cpu_s: float, loaded_ns: int) -> Done:
        course, recorder = self.course, self._recorder
        out = Path(self.order.out)
        recorder.write(out / ROWS_FILE)
        if (due := course.due_offsets()) is not None:
            np.save(out / SCHEDULE_FILE, due, allow_pickle=False)
        rows = recorder.array()
        late = int(np.count_nonzero(rows["start_ns"] - rows["intended_ns"] > LATE_NS))
        clients = self._sweep.clients
        for client in clients:
            client.look_for_strays()
        foreign_rows = recorder.rows - recorder.exact_rows
        lag_p99_ms, lag_max_ms = vitals.lag_ms(course.measured[0], course.end_ns)
        facts = GeneratorFacts(
            issued=sum(client.issued for client in clients) + foreign_rows + course.dropped,
            completed=recorder.rows - recorder.failed,
            failed=recorder.failed,
            dropped=course.dropped,
            cpu_s=cpu_s,
            wall_s=loaded_ns * 1e-9,
            lag_p99_ms=lag_p99_ms,
            lag_max_ms=lag_max_ms,
            late_starts=late,
            iterations=course.iterations,
            versions=versions(),
            client=self._client,
            worker_cpu_s=(cpu_s,),
            results=self._ours[0].results if self._ours else "requests",
            strays=sum(client.strays for client in clients),
            pauses=pauses_of(self._foreign),
        )
        addresses = {f"address_{role}": one.told() for role, one in course.targets.items()}
        return Done(
            facts=facts,
            phases=course.phase_marks(over_ns),
            rows=recorder.rows,
            names=recorder.names,
            errors=recorder.errors,
            seconds=tuple(vitals.seconds()),
            stopped_early=self._stopped_early,
            turns=course.turn_marks(),
            notes={
                "connections_opened": sum(client.connects for client in clients),
                "requests_retried": sum(client.retries for client in clients),
                **self._plain.notes(self._environment),
                **({JOINED_LATE: course.joined_late} if course.joins else {}),
                "users_killed": self._killed,
                "locust_requests": self._environment.stats.total.num_requests,
                "locust_failures": self._environment.stats.total.num_failures,
                **{name: told for name, told in addresses.items() if told},
            },
        )


def _living(users: Any) -> list[Any]:
    """Return the users of a group of greenlets; gevent takes its arguments from a dead one."""
    return [greenlet.args[0] for greenlet in list(users) if greenlet.args]


def _refuse_more_than_files(users: int, limit: int) -> None:
    """Raise UsageError unless a process that may open so many files has one for each user."""
    if users + OTHER_FILES <= limit:
        return
    raise UsageError(
        found=f"{users} users for a worker that may open {limit} files",
        expected=f"a connection for each of them, and {OTHER_FILES} files more",
        next_step="share the users among more workers, or raise the limit of open files",
    )


def quieten_locust() -> None:
    """Let Locust log warnings, but not that a high spawn rate is unusual."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("locust.runners").setLevel(logging.ERROR)
