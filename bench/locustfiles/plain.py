"""The peer's usual user: Locust's HttpUser gets one path again and again, closed, no pause."""

from locust import HttpUser, constant, task


class Plain(HttpUser):
    """Gets the null server's page."""

    wait_time = constant(0)

    @task
    def read(self) -> None:
        self.client.get("/")
