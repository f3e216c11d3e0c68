"""While trials are measured a guest's idle processors poll, where the kernel offers it."""

import pytest

from sizebook.hosts import Guard
from sizebook.hosts.idling import idle_words, polling_idle

BEFORE = {
    "guest_halt_poll_allow_shrink": "Y",
    "guest_halt_poll_grow_start": "50000",
    "guest_halt_poll_ns": "0",
}


@pytest.fixture
def root(tmp_path):
    """A kernel that can poll, as its files show it."""
    folder = tmp_path / "root" / "sys" / "module" / "haltpoll" / "parameters"
    folder.mkdir(parents=True)
    for name, value in BEFORE.items():
        (folder / name).write_text(f"{value}\n")
    governor = tmp_path / "root" / "sys" / "devices" / "system" / "cpu" / "cpuidle"
    governor.mkdir(parents=True)
    (governor / "current_governor").write_text("haltpoll\n")
    return tmp_path / "root"


@pytest.fixture
def guard(tmp_path):
    guard = Guard(tmp_path / "guard")
    yield guard
    guard.close()


def values(root):
    folder = root / "sys" / "module" / "haltpoll" / "parameters"
    return {path.name: path.read_text().strip() for path in folder.iterdir()}


def test_processors_poll_within_and_halt_after(root, guard):
    """Switched on, and put back also where measuring fails."""
    assert idle_words(root) == "polls 20 ms"
    with pytest.raises(KeyboardInterrupt), polling_idle(guard, root):
        assert values(root)["guest_halt_poll_ns"] == "20000000"
        assert values(root)["guest_halt_poll_allow_shrink"] == "N"
        raise KeyboardInterrupt
    assert values(root) == BEFORE


def test_the_guard_puts_it_back_when_the_harness_is_gone(root, tmp_path):
    """The guard sees only that its pipe is closed."""
    guard = Guard(tmp_path / "guard")
    with polling_idle(guard, root):
        guard.close()
        assert values(root) == BEFORE


def test_a_kernel_that_cannot_poll_is_left_alone(root, guard):
    """Another governor, as on hardware: nothing is said and nothing changed."""
    (root / "sys/devices/system/cpu/cpuidle/current_governor").write_text("menu\n")
    assert idle_words(root) == ""
    with polling_idle(guard, root):
        assert values(root) == BEFORE
    assert idle_words(root / "nowhere") == ""


def test_who_finds_it_switched_on_leaves_it_so(root, guard):
    """Two runs beside each other: the first one that began puts it back."""
    with polling_idle(guard, root):
        with polling_idle(guard, root):
            pass
        assert values(root)["guest_halt_poll_ns"] == "20000000"
    assert values(root) == BEFORE
