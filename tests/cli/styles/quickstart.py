"""The first example of Locust's documentation."""

import time

from locust import HttpUser, between, task


class QuickstartUser(HttpUser):
    wait_time = between(0.05, 0.1)

    @task
    def hello_world(self):
        self.client.get("/hello")
        self.client.get("/world")

    @task(3)
    def view_items(self):
        for item_id in range(3):
            self.client.get(f"/item?id={item_id}", name="/item")
            time.sleep(0.01)

    def on_start(self):
        self.client.post("/login", json={"username": "foo", "password": "bar"})
