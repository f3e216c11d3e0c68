"""The delaying server in a short real run: the law holds, the timeline agrees with the client."""

import socket
import subprocess
import time

import numpy as np
import pytest
from bench.law import delays_ns
from bench.rig import Timeline

from sizebook.model.errors import UserError
from sizebook.stack.build import find_build
from sizebook.stack.jvms import choose_jvm
from sizebook.store import find_project


@pytest.fixture
def ask():
    """Start a server that delays by a law; yield a function that gets a path from it."""
    try:
        command = [choose_jvm("").java, "-cp", find_build(find_project()).class_path]
    except UserError as error:
        pytest.skip(str(error))
    command += ["refstack.nullserver.NullServer", "--delay-law", "two-point:2000,4000,0.5"]
    server = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline().split()[1])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            stream = connection.makefile("rb")

            def get(path):
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
                length = 0
                while (line := stream.readline()) != b"\r\n":
                    name, _, value = line.partition(b":")
                    length = int(value) if name == b"Content-Length" else length
                return stream.read(length)

            yield get
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def test_no_answer_comes_before_its_time(ask):
    """By the client's clock and by the server's, request by request, as computed here."""
    ask("/x")
    ask("/begin")
    taken = []
    for _ in range(20):
        begin_ns = time.monotonic_ns()
        assert len(ask("/x")) == 1024
        taken.append((begin_ns, time.monotonic_ns()))
    timeline = Timeline.from_bytes(ask("/timeline"))
    law = delays_ns("two-point:2000,4000,0.5", 1, 20)
    assert set(law.tolist()) == {2_000_000, 4_000_000}
    begins, ends = np.array(taken).T
    assert timeline.freeze_ns is None
    assert (ends - begins >= law).all()
    assert (timeline.answered_ns - timeline.read_ns >= law).all()
    assert (begins <= timeline.read_ns).all()
    assert (timeline.read_ns <= ends).all()


def test_a_damaged_timeline_is_refused():
    """A count that does not fit the bytes."""
    content = np.array([0, 0, 2, 1, 2], dtype="<i8").tobytes()
    with pytest.raises(ValueError, match="timeline of 2"):
        Timeline.from_bytes(content)
