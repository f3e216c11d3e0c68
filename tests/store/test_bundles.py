import json
import os
import subprocess

import polars as pl
import pytest
from synthetic_bundles import counter_rows

from sizebook.model.bundle import BundleRecord, Execution, Fingerprints, MachineFacts
from sizebook.model.errors import BundleError, TrialError
from sizebook.model.trial import TrialSpec
from sizebook.store import BundleWriter, cache_key, find_bundles, open_bundle
from sizebook.store.bundles import newest_of, verify_bundle
from sizebook.store.partial import remove_partial

SPEC = TrialSpec.model_validate_json(
    '{"chapter":"c","experiment":"e","profile":"smoke","treatment":{},"replicate":0,'
    '"deployment":{"roles":[]},"load":{"locustfile":"x.py","arrivals":{"kind":"closed","users":1},'
    '"phases":{"warmup_s":0.0,"measured_s":1.0}}}'
)
PRINTS = Fingerprints(stack="s", jvm="j", locustfile="l", machine="m")


def make_record(key="k", outcome="completed", started="2026-01-01T00:00:00Z"):
    return BundleRecord(
        key=key,
        trial=SPEC,
        fingerprints=PRINTS,
        machine=MachineFacts(
            system="s",
            kernel="k",
            architecture="a",
            cpu_model="c",
            logical_cpus=1,
            memory_mib=1,
            virtualization="v",
        ),
        versions={},
        execution=Execution(
            started_utc=started,
            wall_ns=0,
            monotonic_ns=0,
            session="s",
            position=0,
            phases=(),
            commands=(),
        ),
        outcome=outcome,
        generator=None,
        files={},
    )


def write(folder, name="b", **fields):
    with BundleWriter(folder, name) as writer:
        writer.table("counters.parquet", counter_rows({("host", "swap_in_bytes"): 1.0}))
        return writer.commit(make_record(**fields))


def test_a_bundle_written_is_the_bundle_read(tmp_path):
    """Record, tables and checksums come back as they were written."""
    written = write(tmp_path)
    read = open_bundle(tmp_path / "b")
    assert read.record == written.record
    assert read.counters["value"].to_list() == [1000.0, 1001.0]
    verify_bundle(read)


def test_a_writer_that_fails_leaves_nothing(tmp_path):
    """A bundle exists whole or not at all."""
    with pytest.raises(RuntimeError), BundleWriter(tmp_path, "b") as writer:
        writer.table("counters.parquet", pl.DataFrame({"value": [1.0]}))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_left_is_not_a_bundle_and_is_removed(tmp_path):
    """Half-written folders of processes that are gone are ignored, then removed."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    partial = tmp_path / "c" / f".partial-{gone.pid}-abcd"
    partial.mkdir(parents=True)
    (partial / "trial.json").write_text("{}")
    assert list(find_bundles(tmp_path)) == []
    assert remove_partial(tmp_path) == 1
    assert not partial.exists()


def test_folders_of_other_names_are_not_removed(tmp_path):
    """What no writer made is nobody's to sweep away, hidden or not."""
    names = (".partial-", ".partial-x-ab", ".partial-1", ".partial-99999999999999-ab", ".partials")
    for name in names:
        (tmp_path / name).mkdir()
    (tmp_path / ".partial-1-ab").symlink_to(tmp_path / ".partials")
    assert remove_partial(tmp_path) == 0
    assert len(list(tmp_path.iterdir())) == len(names) + 1


def test_a_writer_at_work_is_left_alone(tmp_path):
    """The folder of a process that lives is not swept away."""
    partial = tmp_path / f".partial-{os.getppid()}-abcd"
    partial.mkdir()
    assert remove_partial(tmp_path) == 0
    assert partial.exists()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda p: (p / "trial.json").unlink(), "no readable trial.json"),
        (lambda p: (p / "trial.json").write_text("{"), "invalid JSON"),
        (lambda p: (p / "trial.json").write_bytes(b"\xff\xfe"), "not UTF-8"),
        (lambda p: (p / "counters.parquet").unlink(), "no file counters.parquet"),
        (lambda p: (p / "counters.parquet").write_bytes(b"x"), "of 1 bytes"),
    ],
)
def test_a_damaged_bundle_is_refused_with_the_reason(tmp_path, damage, message):
    """Missing, truncated or malformed parts are named."""
    write(tmp_path)
    damage(tmp_path / "b")
    with pytest.raises(BundleError, match=message):
        open_bundle(tmp_path / "b")


def test_one_changed_byte_is_found_when_the_table_is_read(tmp_path):
    """Same size, other content: the checksum tells."""
    write(tmp_path)
    path = tmp_path / "b" / "counters.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(BundleError, match="checksum"):
        _ = open_bundle(tmp_path / "b").counters


def test_unknown_versions_fields_and_escaping_names_are_refused(tmp_path):
    """A later format, an extra field, and a file name that leads out of the bundle."""
    write(tmp_path)
    path = tmp_path / "b" / "trial.json"
    good = json.loads(path.read_text())
    for change, message in (
        ({"version": 99}, "version 99"),
        ({"surprise": 1}, "extra inputs"),
        ({"files": {"../x": {"sha256": "0" * 64, "bytes": 1}}}, "leads out"),
        ({"files": {"/etc/hostname": {"sha256": "0" * 64, "bytes": 1}}}, "leads out"),
    ):
        path.write_text(json.dumps(good | change))
        with pytest.raises(BundleError, match=message):
            open_bundle(tmp_path / "b")


def test_a_completed_bundle_wins_over_a_later_failed_one(tmp_path):
    """The newest completed measurement of a key counts; failures are kept but do not hide it."""
    old = write(tmp_path, "1", started="2026-01-01T00:00:00Z")
    new = write(tmp_path, "2", started="2026-01-02T00:00:00Z")
    failed = write(tmp_path, "3", started="2026-01-03T00:00:00Z", outcome="failed")
    assert [one.id for one in newest_of([new, failed, old], lambda one: one.record.key)] == ["2"]
    assert [one.id for one in newest_of([failed], lambda one: one.record.key)] == ["3"]


def test_the_cache_key_follows_specification_and_fingerprints():
    """A change of either is another key; the same of both is the same key."""
    other = SPEC.model_copy(update={"replicate": 1})
    moved = PRINTS.model_copy(update={"machine": "another"})
    keys = [cache_key(SPEC, PRINTS), cache_key(other, PRINTS), cache_key(SPEC, moved)]
    assert len(set(keys)) == 3
    assert cache_key(SPEC, PRINTS) == keys[0]


@pytest.mark.root
def test_a_full_disk_is_a_message_and_leaves_finished_bundles_whole(tmp_path, small_disk):
    """What did not fit is gone, what was finished stays, and the error says what to do."""
    write(small_disk, "whole")
    big = pl.DataFrame({"value": os.urandom(3_000_000)}, schema={"value": pl.Binary})
    with (
        pytest.raises(TrialError, match="could not be written"),
        BundleWriter(small_disk, "big") as writer,
    ):
        writer.table("counters.parquet", big)
        writer.commit(make_record())
    assert [path.name for path in small_disk.iterdir()] == ["whole"]
    verify_bundle(open_bundle(small_disk / "whole"))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MiB, in a mount namespace's reach of root; else a size limit."""
    import resource

    if os.geteuid() == 0:
        folder = tmp_path / "small"
        folder.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=False
        )
        if done.returncode == 0:
            yield folder
            subprocess.run(["umount", str(folder)], check=True)
            return
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield tmp_path
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
