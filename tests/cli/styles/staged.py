"""A LoadTestShape with stages: one user, then four, then two."""

from locust import HttpUser, LoadTestShape, constant, task


class Visitor(HttpUser):
    wait_time = constant(0.01)

    @task
    def visit(self):
        self.client.get("/visit")


class StagesShape(LoadTestShape):
    stages = (
        {"duration": 1, "users": 1, "spawn_rate": 10},
        {"duration": 2, "users": 4, "spawn_rate": 10},
        {"duration": 3, "users": 2, "spawn_rate": 10},
    )

    def tick(self):
        run_time = self.get_run_time()
        for stage in self.stages:
            if run_time < stage["duration"]:
                return stage["users"], stage["spawn_rate"]
        return None
