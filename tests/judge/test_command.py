"""``sizebook judge``: text, page and JSON say the same; what cannot be read is one line."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from bench.queueing import Server, closed, open_load

from bench import foreignfiles as files

DATA = Path(__file__).parent / "data"


def run(*words):
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "sizebook.cli", "judge", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def stalled(tmp_path_factory) -> Path:
    """Give a JTL of users who wait while the server stands still."""
    path = tmp_path_factory.mktemp("stalled") / "stalled.jtl"
    server = Server(freezes=((20, 3),))
    path.write_bytes(files.jtl_csv(closed(server, users=20, think_s=0, length_s=40, seed=1), 20))
    return path


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> Path:
    """Give a file in which nothing is wrong."""
    path = tmp_path_factory.mktemp("good") / "good"
    path.write_bytes(files.vegeta_lines(open_load(Server(), rate_per_s=200, length_s=60, seed=3)))
    return path


def test_what_is_wrong_comes_first_with_what_to_do(stalled):
    """Then what may mislead, what cannot be known, and what is fine, in a line."""
    done = run(stalled)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "stalled.jtl: JMeter, JTL, CSV, requests" in lines[0]
    assert lines[1].startswith("  wrong: FR202-omission: shown: once, for 3")
    assert lines[2].startswith("    next: Send at a rate")
    weights = [line.split(":")[0].strip() for line in lines[1:] if not line.startswith("    ")]
    order = ["wrong", "caution", "unknown", "fine"]
    assert weights == sorted(weights, key=order.index)
    assert "cannot be known" in done.stdout


def test_check_ends_with_1_where_something_is_wrong(stalled, good):
    """Without it, judging is no failure."""
    assert run(good, stalled, "--check").returncode == 1
    assert run(good, "--check").returncode == 0


class _Page(HTMLParser):
    """Text and tags of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onload"}

    def handle_data(self, data):
        self.text += data


def test_page_and_json_say_the_same(stalled, tmp_path):
    """All sixteen rules, the figures, and the course as a drawing; nothing from elsewhere."""
    page = tmp_path / "page.html"
    done = run(stalled, "--html", page, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["format"], told["version"]) == ("sizebook-judge", 1)
    [file] = told["files"]
    assert file["wrong"] and file["tool"] == "JMeter"
    shown = _Page(page.read_text())
    assert len(file["findings"]) == 16
    for finding in file["findings"]:
        assert finding["words"] in shown.text
        assert (finding["remedy"] is not None) == (finding["weight"] == "wrong")
    assert shown.tags.count("polyline") == 2
    assert "script" not in shown.tags
    omission = next(f for f in file["findings"] if f["rule"] == "FR202-omission")
    assert omission["numbers"]["missing"] == pytest.approx(2400, rel=0.1)


def test_names_in_a_file_and_of_it_steer_nothing(tmp_path):
    """Neither a terminal nor a page."""
    path = tmp_path / "a<b>\x1b[2J.csv"
    text = (DATA / "locust-2_stats.csv").read_text().replace("/a", "<script>\x1b[2J")
    path.write_text(text.replace("388,0", "388,999"))
    page = tmp_path / "page.html"
    done = run(path, "--html", page)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + page.read_text()
    assert "999 of 388 requests failed" in done.stdout
    assert "<script>" not in page.read_text() and "&lt;script&gt;" in page.read_text()


def test_two_files_compared(stalled, good):
    """Each is judged, then their figures stand beside each other with intervals."""
    done = run(stalled, good, "--compare", "--json")
    assert done.returncode == 0, done.stderr
    compared = json.loads(done.stdout)["compared"]
    assert "block bootstrap (20 blocks" in compared["method"]
    assert any("One run of each" in note for note in compared["notes"])
    rate = next(each for each in compared["figures"] if each["name"] == "rate")
    assert rate["second"] == pytest.approx(200, rel=0.02)
    assert rate["ratio"]["low"] < rate["second"] / rate["first"] < rate["ratio"]["high"] < 0.4
    assert "second over first" in run(stalled, good, "--compare").stdout


def test_what_cannot_be_read_is_one_line(tmp_path, good):
    """No traceback, exit code 1, and what to do."""
    (tmp_path / "x").write_text("hello\n")
    for words in (
        [good, tmp_path / "x"],
        [good, "--compare"],
        [good, "--html", tmp_path / "none" / "page.html"],
    ):
        done = run(*words)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "next:" in done.stderr
