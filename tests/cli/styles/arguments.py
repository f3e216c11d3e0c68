"""Arguments that the locustfile adds to Locust's command line."""

from locust import HttpUser, constant, events, task


@events.init_command_line_parser.add_listener
def _(parser):
    parser.add_argument("--my-page", type=str, env_var="LOCUST_MY_PAGE", default="default")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--shout", action="store_true")


class Asking(HttpUser):
    wait_time = constant(0.01)

    @task
    def ask(self):
        options = self.environment.parsed_options
        for _ in range(options.times):
            self.client.get(f"/{options.my_page}{'!' if options.shout else ''}")
