"""TaskSets in each other, with weights in a dict, a pause of their own and an interrupt."""

from locust import HttpUser, TaskSet, constant, task


def index(user):
    user.client.get("/index")


class Forum(TaskSet):
    wait_time = constant(0.02)

    @task(5)
    class Thread(TaskSet):  # noqa: D106
        def on_start(self):
            self.client.get("/thread/begin")

        @task
        def read(self):
            self.client.get("/thread")

        @task
        def stop(self):
            self.interrupt()

    @task(1)
    def leave(self):
        self.client.get("/leave")
        self.interrupt(reschedule=False)


class WebsiteUser(HttpUser):
    tasks = {Forum: 2, index: 1}  # noqa: RUF012 (as the documentation writes it)
    wait_time = constant(0.01)
