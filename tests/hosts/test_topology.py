"""Which CPUs are threads of one core, by topology files as machines have them."""

import pytest

from sizebook.hosts.topology import physical_cores, read_cpu_list, write_cpu_list


def system(folder, siblings, file="core_cpus_list"):
    """Write the topology files of CPUs: number to the list that the kernel tells."""
    for cpu, text in siblings.items():
        place = folder / f"cpu{cpu}" / "topology"
        place.mkdir(parents=True)
        (place / file).write_text(f"{text}\n")
    return folder


ADJACENT = {0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"}
APART = {n: f"{n % 4},{n % 4 + 4}" for n in range(8)}
HYBRID = {n: f"{n // 2 * 2}-{n // 2 * 2 + 1}" for n in range(4)} | {n: str(n) for n in range(4, 8)}
FOUR_THREADS = {n: f"{n // 4 * 4}-{n // 4 * 4 + 3}" for n in range(8)}


@pytest.mark.parametrize(
    ("siblings", "cores"),
    [
        ({0: "0", 1: "1"}, ((0,), (1,))),
        (ADJACENT, ((0, 1), (2, 3))),
        (APART, ((0, 4), (1, 5), (2, 6), (3, 7))),
        (HYBRID, ((0, 1), (2, 3), (4,), (5,), (6,), (7,))),
        (FOUR_THREADS, ((0, 1, 2, 3), (4, 5, 6, 7))),
        ({0: "0-1", 1: "0-1"}, ((0, 1),)),
        ({0: "0", 2: "2,6", 6: "2,6", 7: "3,7"}, ((0,), (2, 6), (7,))),
        ({0: "0-1", 1: "nonsense", 2: "9-3"}, ((0, 1), (2,))),
    ],
)
@pytest.mark.parametrize("file", ["core_cpus_list", "thread_siblings_list"])
def test_layouts(tmp_path, siblings, cores, file):
    """Adjacent, apart, hybrid, four threads, one core, holes; by the new and the old file."""
    assert physical_cores(tuple(siblings), system(tmp_path, siblings, file)) == cores


def test_only_cpus_that_may_be_used_count(tmp_path):
    """A sibling that is offline, or another's, is nobody's; of no file each CPU is a core."""
    made = system(tmp_path, APART)
    assert physical_cores((1, 4, 5), made) == ((1, 5), (4,))
    assert physical_cores((3, 1), tmp_path / "none") == ((1,), (3,))
    assert physical_cores((), made) == ()


def test_lists_of_cpus():
    """As the kernel writes them, and as people do."""
    assert read_cpu_list("0-2,5,7-8\n") == (0, 1, 2, 5, 7, 8)
    assert read_cpu_list("\n") == ()
    assert write_cpu_list((0, 1, 2, 5, 7, 8)) == "0–2, 5, 7, 8"
    for text in ("3-1", "a", "-1", "0-99999999"):
        with pytest.raises(ValueError, match=r"list|invalid"):
            read_cpu_list(text)
