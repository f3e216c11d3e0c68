"""Tasks with tags."""

from locust import HttpUser, constant, tag, task


class Tagged(HttpUser):
    wait_time = constant(0.01)

    @tag("tag1")
    @task
    def one(self):
        self.client.get("/one")

    @tag("tag1", "tag2")
    @task
    def both(self):
        self.client.get("/both")

    @task
    def none(self):
        self.client.get("/none")
