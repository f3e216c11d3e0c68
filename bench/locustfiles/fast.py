"""The peer's faster user: Locust's FastHttpUser gets one path again and again, closed loop.

Closed, without pause; with ``BENCH_RATE_PER_USER`` each user paces itself by
``constant_throughput``, which waits zero after an overrun and forgets the lateness.
"""

import os

from locust import FastHttpUser, constant, constant_throughput, task

RATE = float(os.environ.get("BENCH_RATE_PER_USER", "0"))


class Fast(FastHttpUser):
    """Gets the null server's page."""

    wait_time = constant_throughput(RATE) if RATE else constant(0)

    @task
    def read(self) -> None:
        self.client.get("/")
