"""What the tests of judging share."""

import pytest

from sizebook.judge import Judged, judge_results, read_results


@pytest.fixture
def judge(tmp_path):
    """Give what the rules say of some bytes."""
    count = 0

    def ask(data: bytes) -> Judged:
        nonlocal count
        count += 1
        path = tmp_path / f"results-{count}"
        path.write_bytes(data)
        return judge_results(read_results(path))

    return ask
