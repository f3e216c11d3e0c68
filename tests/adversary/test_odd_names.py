"""A folder whose name is no text: said so, and not taken for a damaged or dangerous table."""

import os

import pytest
from audited_book import QUICK
from synthetic_bundles import write_synthetic
from typer.testing import CliRunner

from sizebook.book.audit.auditing import run_audit
from sizebook.book.audit.targets import folder_target
from sizebook.cli.main import app
from sizebook.model.errors import BundleError
from sizebook.store import open_bundle
from sizebook.store.sandboxed_read import taste_bundles


@pytest.mark.parametrize("inner", [True, False], ids=["its own", "the one around it"])
def test_a_name_that_is_not_utf_8_is_told_as_such(tmp_path, inner):
    """The message shows its bytes; other bundles beside it are audited."""
    strange = os.fsdecode(b"x\xff\xfey")
    folder = tmp_path / "sent" if inner else tmp_path / strange
    bundle = write_synthetic(tmp_path / "made", "one")
    folder.mkdir()
    path = bundle.path.rename(folder / (strange if inner else "one"))
    for read in (open_bundle, lambda one: taste_bundles([one])):
        with pytest.raises(BundleError, match="not UTF-8") as refused:
            read(path)
        assert ("x\\xff\\xfey" in str(refused.value)) == inner
    report = run_audit(folder_target(folder.resolve(), None), QUICK)
    errors = [each for each in report.findings if each.severity == "error"]
    assert [each.rule for each in errors] == ["AU101-record"]
    assert "not UTF-8" in errors[0].message


@pytest.mark.parametrize(
    "strange", [b"\x1b[2J\x1b]0;owned\x07", "a\u202eb".encode(), b"x\xff\xfey"]
)
def test_what_the_audit_prints_of_a_name_steers_no_terminal(tmp_path, strange):
    """Escape sequences, marks that turn the direction of writing and bytes that are no text."""
    name = os.fsdecode(strange)
    folder = tmp_path / name
    folder.mkdir()
    write_synthetic(tmp_path / "made", "whole").path.rename(folder / "whole")
    write_synthetic(tmp_path / "made", "one").path.rename(folder / name)
    (folder / "whole" / "requests.parquet").write_bytes(b"")
    done = CliRunner().invoke(app, ["audit", "--quick", "--all", str(folder)])
    assert isinstance(done.exception, SystemExit) and done.exit_code == 1, done.exception
    lines = (done.stdout + done.stderr).splitlines()
    assert lines and all(map(str.isprintable, lines))
    assert name.encode("unicode_escape").decode() in "".join(lines)
