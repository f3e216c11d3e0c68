"""Systems that run already: one that is gone fails its trials, and stops nothing else."""

import socket

import pytest

from sizebook.lab.systems import given_system
from sizebook.model.errors import LostError
from sizebook.stack.given import find_given


def test_a_system_that_is_gone_is_a_lost_one():
    """Its role, address and reason are told; the bench fails its trials and goes on (tests/lab)."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with pytest.raises(LostError, match=f"role web.*Connection refused at {url}/"):
        find_given(given_system("web", url), {"web": url})
