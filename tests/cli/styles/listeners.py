"""Listeners of every event of a test, and an exit code of the locustfile's own."""

import logging

from locust import HttpUser, constant, events, task

SEEN = {"requests": 0}


@events.init.add_listener
def on_locust_init(environment, **_kwargs):
    assert environment.runner is not None


@events.test_start.add_listener
def on_test_start(environment, **_kwargs):
    environment.begun = True


@events.request.add_listener
def my_request_handler(request_type, name, exception, **_kwargs):
    SEEN["requests"] += 1
    if exception:
        print(f"Request {request_type} {name} failed with exception {exception}")


@events.test_stop.add_listener
def on_test_stop(environment, **_kwargs):
    environment.over = environment.begun


@events.quitting.add_listener
def _(environment, **_kwargs):
    assert environment.over
    assert environment.stats.total.num_requests == SEEN["requests"]
    if environment.stats.total.fail_ratio > 0.01:
        logging.error("Test failed due to failure ratio > 1%")
        environment.process_exit_code = 7


class Heard(HttpUser):
    wait_time = constant(0.01)

    @task
    def bad(self):
        self.client.get("/missing")
