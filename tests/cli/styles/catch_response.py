"""Answers judged by the locustfile: good ones made failures, bad ones made successes."""

from locust import HttpUser, constant, task
from locust.exception import RescheduleTask


class Judge(HttpUser):
    wait_time = constant(0.01)

    @task
    def expected_404(self):
        with self.client.get("/missing", catch_response=True) as response:
            if response.status_code == 404:
                response.success()
                raise RescheduleTask()

    @task
    def wrong_body(self):
        with self.client.get("/body", name="wrong body", catch_response=True) as response:
            if response.json()["page"] != "/another":
                response.failure("Got wrong response")
