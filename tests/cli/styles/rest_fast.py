"""FastHttpUser with its helper for REST."""

from locust import FastHttpUser, constant, task


class RestUser(FastHttpUser):
    wait_time = constant(0.01)

    @task
    def echo(self):
        with self.rest("POST", "/api/echo", json={"foo": 1}) as resp:
            if resp.js["you sent"]["foo"] != 1:
                resp.failure(f"Unexpected value of foo in response {resp.text}")
