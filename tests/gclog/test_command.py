"""``sizebook gc``: table and advice, JSON, plot; what cannot be read is one line."""

import gzip
import json
import subprocess
import sys

import witness


def run(*words):
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "sizebook.cli", "gc", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_a_log_becomes_table_advice_and_plot(tmp_path):
    """Numbers are those of the summary; the plot is an SVG without scripts."""
    log, svg = tmp_path / "gc.log", tmp_path / "gc.svg"
    log.write_bytes(gzip.decompress((witness.DATA / "g1-25.log.gz").read_bytes()))
    done = run(log, "--svg", svg)
    assert done.returncode == 0, done.stderr
    assert "G1, 25." in done.stdout
    assert "No heap size is advised: memory ran out" in done.stdout
    assert svg.read_text().startswith("<svg")
    told = json.loads(run(log, "--json").stdout)
    rows = witness.recorded("g1-25").log.collections.height
    assert told["summary"]["collections"] == rows == len(told["collections"])


def test_what_is_no_log_is_one_line(tmp_path):
    """No traceback, exit code 1, and what to do."""
    (tmp_path / "x").write_text("hello\n")
    for words in (
        [tmp_path / "x"],
        [tmp_path / "none"],
        [tmp_path],
        [tmp_path / "x", "--overhead", 0],
    ):
        done = run(*words)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "next:" in done.stderr
