"""A login in on_start whose token every later request carries; a logout in on_stop."""

from locust import HttpUser, constant_pacing, task


class LoggedIn(HttpUser):
    wait_time = constant_pacing(0.05)

    def on_start(self):
        answer = self.client.post("/login", json={"username": "ann"})
        self.client.headers["Authorization"] = f"Bearer {answer.json()['token']}"

    @task
    def cart(self):
        self.client.get("/cart")

    def on_stop(self):
        self.client.get("/logout")
