"""What a bundle says of other machines: their names in the deployment, and no address."""

from sizebook.lab.recording import without_addresses

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
