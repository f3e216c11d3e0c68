"""A clerk's program lists all flights and then fetches each one: the load of chapter 1.

One run is 1 request for the list and one for each flight (401 with the reports' 400), shared out
among the users as JMeter's threads would: a user, with a keep-alive connection of its own, takes
the next flight as soon as its last one is answered; the next run begins when the last flight of
this one is there. So the load is a closed loop whose concurrency is the number of users, and a
run's length is the "total time" of the report. Shows what protocol and representation cost at
equal content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

from sizebook.load.users import Expect, Headers, Setting, SetUp, SharedBatch

SUMMARY = (
    "carrid,connid,fldate,airline,airportFrom,cityFrom,airportTo,cityTo,"
    "departureTime,arrivalTime,price,currency,changedAt"
)
"""Fields of the REST list; the OData list selects the same."""

Key = tuple[str, str, str]
"""Airline, connection, day of departure as an ISO date."""


@dataclass(frozen=True)
class Representation:
    """How flights are asked for and recognised in one representation."""

    list_path: str
    detail_path: str
    """Path of a flight; ``{carrid}``, ``{connid}``, ``{fldate}`` stand for its key."""
    headers: Headers
    content_type: bytes
    entry: bytes
    """Bytes that the list contains once for each flight."""
    key_text: str
    """Text of a flight's key in its detail; ``{millis}`` stands for the date in ms since 1970."""
    keys_of: Callable[[bytes], list[Key]]

    def list_check(self, flights: int) -> Expect:
        """Return what a good list is."""
        return Expect(content_type=self.content_type, count=(self.entry, flights))

    def detail(self, key: Key) -> tuple[str, Expect]:
        """Return the path of a flight and what a good answer is."""
        carrid, connid, fldate = key
        millis = int(datetime.fromisoformat(fldate).replace(tzinfo=UTC).timestamp() * 1000)
        names = {"carrid": carrid, "connid": connid, "fldate": fldate, "millis": millis}
        contains = _fill(self.key_text, names).encode()
        return _fill(self.detail_path, names), Expect(
            content_type=self.content_type, contains=contains
        )


def _fill(text: str, names: dict[str, Any]) -> str:
    for name, value in names.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def _keys_of_json(body: bytes) -> list[Key]:
    return [(one["carrid"], one["connid"], one["fldate"]) for one in json.loads(body)]


def _keys_of_xml(body: bytes) -> list[Key]:
    found = re.findall(
        rb"<carrid>([^<]+)</carrid><connid>([^<]+)</connid><fldate>([^<]+)</fldate>", body
    )
    return [(a.decode(), b.decode(), c.decode()) for a, b, c in found]


def _keys_of_odata_json(body: bytes) -> list[Key]:
    keys = []
    for one in json.loads(body)["d"]["results"]:
        millis = int(one["fldate"].removeprefix("/Date(").removesuffix(")/"))
        day = datetime.fromtimestamp(millis / 1000, UTC).date().isoformat()
        keys.append((one["carrid"], one["connid"], day))
    return keys


def _keys_of_atom(body: bytes) -> list[Key]:
    found = re.findall(
        rb"<d:carrid>([^<]+)</d:carrid><d:connid>([^<]+)</d:connid>"
        rb"<d:fldate>([^<]+)T00:00:00</d:fldate>",
        body,
    )
    return [(a.decode(), b.decode(), c.decode()) for a, b, c in found]


def _rest(accept: str, query: str = "") -> dict[str, Any]:
    return {
        "list_path": "/rest/flights" + query,
        "detail_path": "/rest/flights/{carrid}/{connid}/{fldate}" + query,
        "headers": (("Accept", accept),),
        "content_type": accept.encode(),
    }


def _odata(mode: str, asked: str, content_type: str) -> dict[str, Any]:
    collection = f"/odata/{mode}/FlightCollection"
    key = "(carrid='{carrid}',connid='{connid}',fldate=datetime'{fldate}T00:00:00')"
    return {
        "list_path": f"{collection}?$select={SUMMARY}&$format={asked}",
        "detail_path": f"{collection}{key}?$format={asked}",
        "headers": (),
        "content_type": content_type.encode(),
    }


def representation(name: str, mode: str) -> Representation:
    """Return the representation of that name; ``mode`` matters for OData alone."""
    if name == "rest-json":
        return Representation(
            **_rest("application/json"),
            entry=b'"carrid":',
            key_text='"carrid":"{carrid}","connid":"{connid}","fldate":"{fldate}"',
            keys_of=_keys_of_json,
        )
    if name in {"rest-xml", "rest-xml-padded"}:
        return Representation(
            **_rest("application/xml", "?pad=atom" if name == "rest-xml-padded" else ""),
            entry=b"<flight>",
            key_text="<carrid>{carrid}</carrid><connid>{connid}</connid><fldate>{fldate}</fldate>",
            keys_of=_keys_of_xml,
        )
    if name == "odata-json":
        return Representation(
            **_odata(mode, "json", "application/json"),
            entry=b'"__metadata":',
            key_text='"carrid":"{carrid}","connid":"{connid}","fldate":"\\/Date({millis})\\/"',
            keys_of=_keys_of_odata_json,
        )
    return Representation(
        **_odata(mode, "atom", "application/atom+xml"),
        entry=b"<entry>",
        key_text="<d:carrid>{carrid}</d:carrid><d:connid>{connid}</d:connid>"
        "<d:fldate>{fldate}T00:00:00</d:fldate>",
        keys_of=_keys_of_atom,
    )


class FlightReader(SharedBatch):
    """Takes flight after flight out of the run that all users share."""

    settings: ClassVar = {
        "representation": Setting(
            "rest-json",
            choices=("rest-json", "rest-xml", "rest-xml-padded", "odata-json", "odata-atom"),
        ),
        "mode": Setting("standard", choices=("standard", "compatibility")),
        "flights": Setting(400),
    }

    @classmethod
    def set_up(cls, setup: SetUp) -> dict[str, Any]:
        """Ask for the list once, take the keys out of it, and try the last flight."""
        form = representation(str(setup.settings["representation"]), str(setup.settings["mode"]))
        list_check = form.list_check(int(setup.settings["flights"]))
        answer = setup.get(form.list_path, check=list_check, headers=form.headers)
        items = [form.detail(key) for key in form.keys_of(answer.body)]
        if len(items) != setup.settings["flights"]:
            raise ValueError(f"{len(items)} keys in a list of {setup.settings['flights']} flights")
        path, check = items[-1]
        setup.get(path, check=check, headers=form.headers)
        return {"form": form, "list_check": list_check, "items": items}

    def open_batch(self) -> list[tuple[str, Expect]]:
        form = self.shared["form"]
        self.get(form.list_path, name="list", check=self.shared["list_check"], headers=form.headers)
        items: list[tuple[str, Expect]] = self.shared["items"]
        return items

    def do_item(self, item: tuple[str, Expect]) -> None:
        path, check = item
        self.get(path, name="detail", check=check, headers=self.shared["form"].headers)
