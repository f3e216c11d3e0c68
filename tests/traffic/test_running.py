"""What is written for each form runs against a strict shop, and each of its answers is good."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tests.traffic import formats
from tests.traffic.browsing import (
    SECRETS,
    as_fields,
    as_text,
    both,
    chrome_har,
    firefox_har,
    visit,
)

from sizebook.load.csv_rows import read_rows
from sizebook.model.load import OpenArrivals
from sizebook.traffic.preparing import prepare
from sizebook.traffic.reading import parse_traffic
from sizebook.traffic.replay import RecordedArrivals
from sizebook.traffic.writing import write_load

PLACES = ("GET /", "POST /login", "POST /api/cart", "GET /api/cart/{cart}", "POST /upload")


def prepared(data: bytes, name: str = "source", users: Path | None = None):
    """Return a file's bytes as a load that can be written."""
    return prepare(parse_traffic(data, name), name, users)


@pytest.mark.parametrize("bodies", [as_text, as_fields, both])
def test_a_session_of_chrome_is_another_visit_each_time(shop, measured, bodies):
    """Hidden fields, tokens and ids are those of the visit; whatever form the bodies have."""
    har = chrome_har(visit(shop.port), bodies)
    load = prepared(formats.dumped(har))
    before = shop.answers()
    found = measured(load, shop.url)
    assert set(PLACES) <= set(found["name"])
    assert found.filter(found["phase"] == "measured").height
    assert set(found["error"]) <= {"", "cut off"}
    after = shop.answers()
    assert after["POST api 201"] > before["POST api 201"]
    assert not [answer for answer in after if answer.endswith((" 403", " 404", " 409", " 415"))]


def test_a_session_of_firefox_runs_with_the_data_of_users(shop, measured, tmp_path):
    """A CSV of users gives the columns that it has; values for the others are made up."""
    users = tmp_path / "people.csv"
    users.write_text("username;password\nann;one\nbob;two\n")
    load = prepared(formats.dumped(firefox_har(visit(shop.port))), users=users)
    assert [row["username"] for row in load.users] == ["ann", "bob"]
    assert {row["card"] for row in load.users} == {"4111111111111111"}
    assert any("column card is not in people.csv" in note for note in load.recording.notes)
    found = measured(load, shop.url)
    assert set(found["error"]) <= {"", "cut off"}
    assert shop.answers()["POST upload 201"] > 1


def test_nothing_private_is_written(shop):
    """Neither the secrets of the visit nor its tokens are in any file."""
    browser = visit(shop.port)
    tokens = [value for one in browser.seen for _, value in one["cookies"]]
    load = prepared(formats.dumped(chrome_har(browser, both)))
    for text in write_load(load, "shop", "Shop").files.values():
        data = text if isinstance(text, bytes) else text.encode()
        for secret in (*SECRETS, *tokens):
            assert secret.encode() not in data


@pytest.mark.parametrize("form", ["openapi", "csv", "postman", "jmeter", "k6"])
def test_other_forms_run(shop, measured, form):
    """Each gives requests that the shop answers as is expected."""
    data = {
        "openapi": formats.sample("openapi", "openapi.yaml", shop.url),
        "csv": formats.sample("csv", "requests.csv"),
        "postman": formats.sample("postman", "collection.json", shop.url),
        "jmeter": formats.sample("jmeter", "plan.jmx", shop.url),
        "k6": formats.sample("k6", "script.js", shop.url),
    }[form]
    found = measured(prepared(data), shop.url)
    assert set(found["error"]) <= {"", "cut off"}
    assert found["name"].n_unique() >= 2
    assert shop.answers()["POST orders 201"] >= 1


def test_a_log_is_replayed_request_by_request(shop, measured):
    """Arrival k asks for what line k asked for, at its time over the speed."""
    load = prepared("\n".join(formats.log_lines()).encode())
    times = [at_s for at_s, _ in load.arrivals]
    recorded = RecordedArrivals(_array(times))
    arrivals = recorded.replayed(0.6, speed=50.0, begin_s=0.0, users=4)
    found = measured(load, shop.url, arrivals).sort("intended_ns")
    assert set(found["error"]) == {""}
    asked = [load.names[number] for _, number in load.arrivals][: found.height]
    assert found.height == len(arrivals.times_us)
    assert sorted(asked) == sorted(found["name"])
    gaps = (found["intended_ns"] - found["intended_ns"][0]).to_list()
    due = [(at - arrivals.times_us[0]) * 1000 for at in arrivals.times_us]
    assert all(abs(one - other) <= 1000 for one, other in zip(gaps, due, strict=True))


def test_a_mix_keeps_its_weights(shop, measured):
    """At random arrivals requests come in the shares of the table."""
    load = prepared(formats.sample("csv", "requests.csv"))
    arrivals = OpenArrivals(kind="constant", rate_per_s=400, users=8)
    found = measured(load, shop.url, arrivals)
    share = (found["name"] == "GET /products/mug-1").mean()
    assert 0.6 < share < 0.9


def test_what_is_written_keeps_the_style(shop, tmp_path):
    """Locustfiles are formatted, and Python reads them."""
    sources = {
        "chrome": formats.dumped(chrome_har(visit(shop.port), both)),
        "postman": formats.sample("postman", "collection.json", shop.url),
        "jmeter": formats.sample("jmeter", "plan.jmx", shop.url),
        "log": "\n".join(formats.log_lines()).encode(),
        "csv": formats.sample("csv", "requests.csv"),
    }
    for name, data in sources.items():
        for path, text in write_load(prepared(data), name, name.title()).files.items():
            place = tmp_path / path
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(text if isinstance(text, bytes) else text.encode())
        ast.parse((tmp_path / f"{name}.py").read_text())
    config = Path(__file__).parents[2] / "pyproject.toml"
    ruff = [sys.executable, "-m", "ruff"]
    first = ["--config", 'lint.isort.known-first-party = ["sizebook"]']
    for command in (
        ["check", "--config", str(config), *first],
        ["format", "--check", "--config", str(config)],
    ):
        done = subprocess.run(
            [*ruff, *command, "."], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert read_rows(tmp_path / "csv" / "requests.csv")[0]["weight"] == "3"


def _array(values):
    import numpy as np

    return np.array(values)
