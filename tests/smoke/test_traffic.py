"""From a recording to a page: a HAR file and an access log, of a shop that knows no Sizebook."""

import json
import os
import subprocess
import sys

import pytest
from tests.traffic import formats
from tests.traffic.browsing import both, chrome_har, visit
from tests.traffic.conftest import shop  # noqa: F401

from sizebook.checks import judge
from sizebook.store import find_bundles, open_bundle

SOUND = ("SB101-accounting", "SB301-errors")
OFFERED = ("SB302-offered", "SB303-schedule")


@pytest.fixture
def sizebook(tmp_path):
    """Run the command line in a new book; what it printed is in the message if it fails."""
    environment = {k: v for k, v in os.environ.items() if k != "SIZEBOOK_ROOT"}

    def run(*words, folder=tmp_path / "book"):
        done = subprocess.run(
            [sys.executable, "-m", "sizebook.cli", *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
        return done.stdout

    run("new", "book", str(tmp_path / "book"), folder=tmp_path)
    return run


def test_recordings_become_chapters_that_measure_and_build(shop, sizebook, tmp_path):  # noqa: F811
    """Nothing is written by hand: every trial completes, its answers are good, pages build."""
    (tmp_path / "shop.har").write_text(json.dumps(chrome_har(visit(shop.port), both)))
    (tmp_path / "access.log").write_text("\n".join(formats.log_lines(400)) + "\n")
    told = sizebook("new", "chapter", "visits", "--from", str(tmp_path / "shop.har"))
    assert "carried over: cart_token, field cartToken of GET /api/items" in told
    assert "replaced: password, form password of POST /login: column password" in told
    told = sizebook(
        "new", "chapter", "hours", "--from", str(tmp_path / "access.log"), "--url", shop.url
    )
    assert "access log: 400 requests to 4 endpoints" in told
    before = shop.answers()
    sizebook("run", "--profile", "smoke")
    after = shop.answers()
    assert after["POST api 201"] > before["POST api 201"]
    assert not [each for each in after if each.rpartition(" ")[2] in ("403", "404", "409")]
    book = tmp_path / "book"
    for chapter, rules in (("visits", SOUND), ("hours", (*SOUND, *OFFERED))):
        bundles = [open_bundle(path) for path in find_bundles(book / "data" / "runs" / chapter)]
        assert len(bundles) >= 3
        for bundle in bundles:
            assert bundle.record.outcome == "completed", bundle.record.failure
            findings = {finding.rule: finding for finding in judge(bundle).findings}
            for rule in rules:
                assert findings[rule].passed is not False, findings[rule].message
    sizebook("build")
    for chapter in ("visits", "hours"):
        page = next((book / "_build").rglob(f"chapters/{chapter}.html")).read_text()
        assert "requests per second are answered" in page
