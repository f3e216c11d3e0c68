"""Classes with weights, one with a fixed count, and an abstract one that they share."""

from locust import FastHttpUser, HttpUser, constant, task


class Common(HttpUser):
    abstract = True
    wait_time = constant(0.01)


class WebUser(Common):
    weight = 3

    @task
    def page(self):
        self.client.get("/web")


class MobileUser(FastHttpUser):
    weight = 1
    wait_time = constant(0.01)

    @task
    def page(self):
        self.client.get("/mobile")


class AdminUser(Common):
    fixed_count = 1

    @task
    def restart(self):
        self.client.get("/admin")
