"""A client of the locustfile's own, which tells Locust of its requests: as for XML-RPC."""

import http.client
import time

from locust import User, constant, task


class RpcClient:
    def __init__(self, host, request_event):
        self.address = host.removeprefix("http://")
        self._request_event = request_event

    def call(self, path):
        request_meta = {
            "request_type": "rpc",
            "name": path,
            "response_length": 0,
            "response": None,
            "context": {},
            "exception": None,
            "start_time": time.time(),
        }
        start = time.perf_counter()
        connection = http.client.HTTPConnection(self.address)
        try:
            connection.request("GET", path)
            request_meta["response"] = connection.getresponse().read()
        except OSError as e:
            request_meta["exception"] = e
        finally:
            connection.close()
        request_meta["response_time"] = (time.perf_counter() - start) * 1000
        self._request_event.fire(**request_meta)


class RpcUser(User):
    wait_time = constant(0.01)

    def __init__(self, environment):
        super().__init__(environment)
        self.client = RpcClient(self.host, environment.events.request)

    @task
    def get_time(self):
        self.client.call("/rpc")
