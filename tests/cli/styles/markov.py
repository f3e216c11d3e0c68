"""A MarkovTaskSet, and a throughput instead of pauses."""

from locust import HttpUser, MarkovTaskSet, constant_throughput, transition, transitions


class Shopping(MarkovTaskSet):
    @transition("add", weight=2)
    def browse(self):
        self.client.get("/browse")

    @transitions(["checkout", "browse"])
    def add(self):
        self.client.get("/add")

    @transition("browse")
    def checkout(self):
        self.client.get("/checkout")


class Shopper(HttpUser):
    tasks = [Shopping]  # noqa: RUF012
    wait_time = constant_throughput(20)
