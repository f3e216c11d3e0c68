"""User classes: a locustfile says what one pass does, the order says who does it when.

    class Reader(LeanHttpUser):
        \"\"\"Reads one page again and again.\"\"\"

        def iteration(self):
            self.get("/page", name="page", check=Expect(contains=b"</html>"))

The same scenario runs as a closed loop, by paced users or with open arrivals, as the load profile
states. In the last two the latency of a pass's first request counts from the pass's due time.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from time import monotonic_ns, time_ns
from types import FrameType
from typing import Any, ClassVar

import gevent
from gevent.pool import Group
from locust import User, task
from locust.exception import StopUser

from sizebook.load.answer import Exchange
from sizebook.load.clients import guard_client
from sizebook.load.course import Batch, TrialSchedule
from sizebook.load.expect import Check, Expect
from sizebook.load.http import HttpClient
from sizebook.load.recorder import CONTEXT_KEY, own_greenlet
from sizebook.load.schedule import ThinkTimes
from sizebook.load.settings import Setting
from sizebook.load.target import Headers
from sizebook.model.bundle import Results
from sizebook.model.errors import TrialError
from sizebook.model.load import ClosedLoop
from sizebook.model.records import Scalar

__all__ = [
    "Check",
    "Expect",
    "Headers",
    "LeanHttpUser",
    "Scenario",
    "SetUp",
    "Setting",
    "SharedBatch",
]

CONNECT_PAUSE_S = 0.01
"""Pause of a user whose connection was refused; a refusal takes no time, and a loop of them would
starve the other users."""


class RequestFailedError(Exception):
    """What Locust is told of a failed request; the text is the error class."""


class SetUp:
    """What a scenario may use before anything is counted: settings, and requests to the targets."""

    def __init__(self, course: TrialSchedule, role: str) -> None:
        self.settings: Mapping[str, Scalar] = course.settings
        self.seed = course.load.seed
        self.client = HttpClient(course.targets[role], course.sweep)

    def get(self, path: str, *, check: Check, headers: Headers = ()) -> Exchange:
        """Return the answer. Raises TrialError if it is not as expected."""
        return self._ask("GET", path, check, headers)

    def post(self, path: str, *, check: Check, headers: Headers = ()) -> Exchange:
        """Return the answer to a POST without a body. Raises as ``get``."""
        return self._ask("POST", path, check, headers)

    def _ask(self, method: str, path: str, check: Check, headers: Headers) -> Exchange:
        exchange = self.client.request(method, path, headers)
        error = exchange.error or check(exchange)
        if error:
            start = exchange.body[:80].decode("utf-8", "replace")
            raise TrialError(
                found=f"{error} error at set-up request {path}: {exchange.status} {start}",
                expected="an answer that the scenario can work with",
                next_step="look at the server's log and at the scenario's settings",
            )
        return exchange


class Scenario(User):
    """A user whose passes are paced by the order; it may use any client."""

    abstract = True
    role: ClassVar[str] = "app"
    """Role whose base URL becomes ``host``."""
    settings: ClassVar[Mapping[str, Setting]] = {}
    """Settings that the load profile may give."""
    results: ClassVar[Results] = "requests"
    """What makes results; ``passes`` where requests only start, watch and end something long."""
    groups: ClassVar[tuple[str, ...]] = ()
    """Names of the groups of users that the scenario tells apart; it then wants paced users."""

    def __init__(self, environment: Any) -> None:
        self.course: TrialSchedule = environment.course
        self.number = self.course.enroll()
        """Number of this user, counted over all workers."""
        self.group_name = self.course.group_of(self.number)
        """Name of this user's group; empty where there are no groups."""
        self.iteration_number = 0
        self.intended_ns = 0
        self.exact: Exchange | None = None
        self.error = ""
        self.in_iteration = False
        self._context = {CONTEXT_KEY: self}
        super().__init__(environment)
        guard_client(self, self.course.fence)

    def start(self, group: Group) -> Any:
        """Start this user, as Locust does; what its greenlets record is its own."""
        running = super().start(group)
        own_greenlet(running, self)
        return running

    @classmethod
    def set_up(cls, setup: SetUp) -> Any:  # noqa: ARG003
        """Do what must be done before counting; the result is ``self.shared`` of every user."""
        return None

    @property
    def shared(self) -> Any:
        """What ``set_up`` returned."""
        return self.course.shared

    def setting(self, name: str) -> Scalar:
        """Return the value of a declared setting."""
        return self.course.settings[name]

    @property
    def arrival_number(self) -> int:
        """Number of the open arrival that this pass is, over all workers.

        It counts from the begin of the measured phase on, and is negative before it.
        """
        return self.course.arrival_of(self.number)

    @property
    def joins(self) -> bool:
        """Whether this scenario's users do something when they join."""
        return type(self).join is not Scenario.join

    def join(self) -> None:
        """Do what this user does once, when it joins and before its first pass, such as log in.

        A user who thinks between passes does so after it, too.
        """

    def iteration(self) -> None:
        """Do one pass of the scenario."""
        raise NotImplementedError

    def context(self) -> dict[str, Any]:
        return self._context

    @task
    def follow_course(self) -> None:
        """Do passes until the course is over, then end this user."""
        self.course.wait_for_turn(self.number)
        try:
            if self.joins:
                self.iteration_number = self.course.next_iteration()
                self.in_iteration = True
                with self.course.joining():
                    self.join()
                self.in_iteration = False
            if isinstance(self.course.load.arrivals, ClosedLoop):
                self.loop(self.course.load.arrivals)
            else:
                self.follow_arrivals()
        except (StopUser, gevent.GreenletExit):
            raise
        except Exception as error:
            self.course.fail(error, place_of(error, self.course.load.locustfile))
        raise StopUser

    def loop(self, arrivals: ClosedLoop) -> None:
        """Closed loop: the next pass begins when the last one and the pause after it are over."""
        course = self.course
        pauses = ThinkTimes(arrivals, course.load.seed, self.number) if arrivals.think_s else None
        if pauses is not None and self.joins:
            course.think(pauses)
        while course.await_place(self.number) and course.may_begin():
            self.pass_once()
            if pauses is not None:
                course.think(pauses)
            elif self.error == "connect":
                gevent.sleep(CONNECT_PAUSE_S)

    def follow_arrivals(self) -> None:
        """Begin a pass when one is due: this user's own, or (open arrivals) anyone's."""
        while (due_ns := self.course.take_arrival(self.number)) is not None:
            self.intended_ns = due_ns
            self.pass_once()
            if self.error == "connect":
                gevent.sleep(0)

    def pass_once(self) -> None:
        """Do one numbered pass, and count it if it lies within the measured phase."""
        course = self.course
        self.iteration_number = course.next_iteration()
        begin_ns = monotonic_ns()
        self.in_iteration = True
        self.iteration()
        self.in_iteration = False
        course.finish_iteration(begin_ns, monotonic_ns())


class LeanHttpUser(Scenario):
    """A user with the lean client: keep-alive, cookies, no redirects, every answer checked."""

    abstract = True

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self.client = HttpClient(self.course.targets[self.role], self.course.sweep)
        self._fire = environment.events.request.fire
        self._wall_offset_ns = time_ns() - monotonic_ns()

    def get(self, path: str, *, name: str, check: Check, headers: Headers = ()) -> Exchange:
        """Send a GET and return the answer, valid until this user's next request."""
        return self.request("GET", path, name=name, check=check, headers=headers)

    def post(
        self,
        path: str,
        body: bytes,
        *,
        name: str,
        check: Check,
        headers: Headers = (),
        failed_name: str = "",
    ) -> Exchange:
        """Send a POST and return the answer, valid until this user's next request."""
        return self.request(
            "POST",
            path,
            name=name,
            check=check,
            headers=headers,
            body=body,
            failed_name=failed_name,
        )

    def request(
        self,
        method: str,
        path: str,
        *,
        name: str,
        check: Check,
        headers: Headers = (),
        body: bytes = b"",
        failed_name: str = "",
    ) -> Exchange:
        """Send a request, check the answer, record both under a fixed name.

        A failure is recorded under ``failed_name``, if there is one: an attempt that will be
        repeated is no request that was given up.

        The outcome is in ``self.error``: an error class, or empty if the answer is as expected.
        """
        if self.course.closed:
            raise StopUser
        exchange = self.client.request(method, path, headers, body)
        self.error = error = exchange.error or check(exchange)
        self.exact = exchange
        self._fire(
            request_type=method,
            name=failed_name if error and failed_name else name,
            response_time=(exchange.end_ns - exchange.start_ns) / 1e6,
            response_length=len(exchange.body),
            response=exchange,
            context=self._context,
            exception=RequestFailedError(error) if error else None,
            start_time=(exchange.start_ns + self._wall_offset_ns) / 1e9,
            url=path,
        )
        return exchange


class SharedBatch(LeanHttpUser):
    """A run of work that all users share: the next run begins when the last item is done.

    One user opens the run (``open_batch``), then every user takes item after item. A run cut by
    the end of the measured phase is finished in the drain, but does not count.
    """

    abstract = True

    def open_batch(self) -> Sequence[Any]:
        """Do what begins a run, and return its items."""
        raise NotImplementedError

    def do_item(self, item: Any) -> None:
        """Do one item of the run."""
        raise NotImplementedError

    def loop(self, arrivals: ClosedLoop) -> None:
        course = self.course
        pauses = ThinkTimes(arrivals, course.load.seed, self.number) if arrivals.think_s else None
        while not course.closed:
            batch = course.batch
            if batch is None or batch.finished.is_set():
                if not course.may_begin():
                    return
                if course.batch is not batch:  # another user has opened the next one meanwhile
                    continue
                batch = self._open(course)
            else:
                batch.opened.wait()
                self.iteration_number = batch.number
            items = batch.items
            while batch.next < len(items) and not course.closed:
                item = items[batch.next]
                batch.next += 1
                self.in_iteration = True
                self.do_item(item)
                self.in_iteration = False
                batch.left -= 1
                if pauses is not None:
                    course.think(pauses)
                elif self.error == "connect":
                    gevent.sleep(CONNECT_PAUSE_S)
            if batch.left == 0 and not batch.finished.is_set():
                course.finish_iteration(batch.begin_ns, monotonic_ns())
                batch.finished.set()
            else:
                batch.finished.wait()

    def follow_arrivals(self) -> None:
        raise TrialError(
            found=f"{self.course.load.arrivals.kind} arrivals for {type(self).__name__}, whose "
            "users share one batch",
            expected="arrivals of kind 'closed'",
            next_step="correct the load profile",
        )

    def _open(self, course: TrialSchedule) -> Batch:
        batch = Batch(course.next_iteration(), monotonic_ns())
        course.batch = batch
        self.iteration_number = batch.number
        self.in_iteration = True
        batch.items = self.open_batch()
        self.in_iteration = False
        batch.left = len(batch.items)
        batch.opened.set()
        return batch


def present_place(name: str) -> str:
    """Return file name and line of a locustfile that is just being run, as far as can be told."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.endswith(name):
            return f"{name}, line {frame.f_lineno}"
        frame = frame.f_back
    return name


def next_step_of(error: BaseException, locustfile: str) -> str:
    """Return what an author does about an exception in a locustfile."""
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"put the file beside {locustfile}, from where relative paths count, or correct it"
    return f"correct {locustfile}"


def place_of(error: BaseException, default: str) -> str:
    """Return file name and line at which an exception was raised, as far as it tells."""
    trace = error.__traceback__
    place = default
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.endswith(default):
            place = f"{default}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place
