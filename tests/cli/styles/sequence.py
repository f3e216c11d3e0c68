"""A SequentialTaskSet: steps in their order, one of them three times."""

from locust import HttpUser, SequentialTaskSet, constant, task


class Order(SequentialTaskSet):
    @task
    def look(self):
        self.client.get("/look")

    @task(3)
    def choose(self):
        self.client.get("/choose")

    @task
    def pay(self):
        self.client.post("/pay", {"amount": 12})


class Buyer(HttpUser):
    tasks = [Order]  # noqa: RUF012
    wait_time = constant(0.01)
