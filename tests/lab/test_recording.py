"""What a bundle says of other machines: their names in the deployment, and no address."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

from sizebook.lab.recording import without_addresses, without_paths

NAMES = {"10.0.0.2": "web", "fd00::2": "data", "db.example": "target database"}


def test_a_name_stands_for_each_address():
    text = b"--server.address=10.0.0.2 http://10.0.0.2:8080/ jdbc://db.example:5432/x 10.0.0.2."
    assert without_addresses(text, NAMES) == (
        b"--server.address=<web> http://<web>:8080/ jdbc://<target database>:5432/x <web>."
    )
    assert without_addresses(b"[fd00::2]:80", NAMES) == b"[<data>]:80"


def test_an_address_within_another_is_another():
    """Longer numbers and names that only begin or end alike are left as they are."""
    text = b"10.0.0.21 110.0.0.2 10.0.0.2.7 my.db.example db.examples 1fd00::2 fd00::21"
    assert without_addresses(text, NAMES) == text


def test_without_other_machines_nothing_is_changed():
    assert without_addresses(b"127.0.0.1 10.0.0.2", {}) == b"127.0.0.1 10.0.0.2"


def test_no_place_on_a_disk_is_told(tmp_path, monkeypatch):
    """Wherever checkout, session, temporary files and home are, also in each other."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    root = tmp_path / "scratch" / "book"
    stack = SimpleNamespace(folder=root / ".sizebook" / "run" / "one", addresses_elsewhere={})
    record = SimpleNamespace(root=root, stack=stack)
    text = (
        f"postgres -k {tmp_path}/scratch/sizebook-pg-1 -D {stack.folder}/pg "
        f"{root}/x.py {Path.home()}/y"
    )
    told = "postgres -k /tmp/sizebook-pg-1 -D <session>/pg ./x.py ~/y"
    assert without_paths(text, record) == told
