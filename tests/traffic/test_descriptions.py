"""Documents, collections, plans, scripts, tables: what is read, and what is named as left out."""

from __future__ import annotations

import json

import pytest
from tests.traffic import formats

from sizebook.load.kept import JsonField
from sizebook.traffic.endpoints import name_paths
from sizebook.traffic.preparing import prepare
from sizebook.traffic.reading import parse_traffic

ORIGIN = "http://127.0.0.1:8080"


def read(form, name):
    return parse_traffic(formats.sample(form, name), name)


def left_out(recording):
    return {each.what: each.why for each in recording.left_out}


def openapi(**schema):
    """Return a document with one operation, whose body has a schema."""
    body = {"content": {"application/json": {"schema": schema}}}
    operation = {"requestBody": body, "responses": {"200": {"description": "x"}}}
    schemas = {
        "Node": {"properties": {
            "name": {"type": "string"}, "next": {"$ref": "#/components/schemas/Node"}}},
        "Tree": {"type": "object", "required": ["children"], "properties": {
            "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}},
        "Ring": {"$ref": "#/components/schemas/Ring"},
        "Must": {"required": ["me"], "properties": {"me": {"$ref": "#/components/schemas/Must"}}},
        "Either": {"oneOf": [{"$ref": "#/components/schemas/Must"}, {"type": "integer"}]},
    }  # fmt: skip
    return parse_traffic(formats.dumped({
        "openapi": "3.0.0", "paths": {"/a": {"post": operation, "get": {"responses": {}}}},
        "components": {"schemas": schemas},
    }), "api.json")  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "example"),
    [
        ({"$ref": "#/components/schemas/Node"}, {"name": "example"}),
        ({"$ref": "#/components/schemas/Tree"}, {"children": []}),
        ({"$ref": "#/components/schemas/Ring"}, "example"),
        ({"$ref": "#/components/schemas/Either"}, 1),
        ({"$ref": "#/nowhere"}, "example"),
        ({"allOf": [{"$ref": "#/components/schemas/Node"},
                    {"properties": {"b": {"type": "boolean"}}}]},
         {"name": "example", "b": True}),
        ({"type": ["null", "number"], "minimum": 3}, 3),
        ({"enum": ["x", "y"]}, "x"),
        ({"type": "string", "format": "date"}, "2024-01-15"),
        ({"type": "string", "maxLength": 3}, "exa"),
    ],
)  # fmt: skip
def test_schemas_have_examples_also_where_they_refer_to_themselves(schema, example):
    """What is optional ends a cycle, as does an empty list or another choice."""
    found = next(one for one in openapi(**schema).requests if one.method == "POST")
    assert json.loads(found.body) == example


def test_a_schema_that_cannot_end_leaves_its_operation_out():
    """The other operations stay."""
    found = openapi(**{"$ref": "#/components/schemas/Must"})
    assert [one.method for one in found.requests] == ["GET"]
    assert "asks for itself" in left_out(found)["POST /a"]


def test_operations_of_openapi():
    """Example values, expected status, credentials as columns; deletions have no weight."""
    found = read("openapi", "openapi.yaml")
    told = {one.name: (one.path, one.status, one.weight) for one in found.requests}
    assert told == {
        "GET /products/{sku}": ("/products/mug%201", 200, 1.0),
        "DELETE /products/{sku}": ("/products/mug%201", 204, 0.0),
        "POST /orders": ("/orders", 201, 1.0),
    }
    assert left_out(found) == {"POST /nodes": "its schema asks for itself: no example of it ends"}
    order = json.loads(next(one.body for one in found.requests if one.method == "POST"))
    assert order == {"sku": "mug-1", "quantity": 2, "placed": "2024-01-15T10:00:00Z", "parts": []}
    secured = prepare(read("openapi", "openapi.json"), "openapi.json")
    assert set(secured.users[0]) == {"api_key", "basic_credentials"}
    get, put = secured.recording.requests
    assert get.path == "/a/5?page=1&api_key={{api_key}}"
    assert dict(put.headers)["Authorization"] == "Basic {{basic_credentials}}"
    assert "form-data" in put.content_type and 'name="a"\r\n\r\nexamplexx' in str(put.body)


def test_yaml_of_others_builds_nothing():
    """No objects, and no alias that makes a small file a large one."""
    for text in ("openapi: !!python/object/apply:os.getcwd []\n", "openapi: 3.0.0\na: &a [1]\nb: ["
                 + "*a," * 2000 + "]\n"):  # fmt: skip
        with pytest.raises(Exception, match="YAML that breaks within"):
            parse_traffic(text.encode(), "api.yaml")


def test_a_collection():
    """Variables and credentials are filled in, stored fields kept; scripts are left out by name."""
    found = read("postman", "collection.json")
    product, search, order = found.requests
    assert (product.path, product.origin, product.group) == ("/products/mug-1", ORIGIN, "Products")
    assert product.keep == {"found": JsonField("name")}
    assert product.headers == (("Authorization", "Bearer secret-of-mine"),)
    assert search.path == "/search?q={{found}}"
    assert (order.status, order.keep) == (201, {"itemId": JsonField("id")})
    assert json.loads(str(order.body))["id"] == "00000000-0000-4000-8000-{{user}}{{pass}}"
    assert left_out(found) == {"a script of Order": "scripts do not run here"}
    load = prepare(found, "collection.json")
    assert list(load.users[0]) == ["token"]
    assert dict(load.recording.requests[0].headers)["Authorization"] == "Bearer {{token}}"


def test_a_plan():
    """Defaults, headers, timers and extractors count where they stand; the rest is named."""
    found = read("jmeter", "plan.jmx")
    product, order = found.requests
    assert product.path == "/products/mug-1?colour=light+blue"
    assert product.origin == ORIGIN
    assert (product.pause_s, order.pause_s) == (2.0, 0.0)
    assert product.keep == {"found": JsonField("name")}
    assert (order.method, order.status) == ("POST", 201)
    assert order.body == '{"sku": "{{found}}", "quantity": 3}'
    assert ("Content-Type", "application/json") in order.headers
    assert set(left_out(found)) == {
        "IfController Maybe",
        "JSR223PostProcessor Script of Order",
        "HTTPSamplerProxy Off",
    }
    assert any("Buyers had 25 threads" in note for note in found.notes)


def test_a_script():
    """Literals and constants are read; what is computed is named by its line, and nothing runs."""
    found = read("k6", "script.js")
    product, order = found.requests
    assert (product.path, product.origin, product.status) == ("/products/mug-1", ORIGIN, 200)
    assert product.keep == {"found": JsonField("name")}
    assert (order.path, order.pause_s, order.status) == ("/orders", 1.5, 201)
    assert json.loads(str(order.body)) == {"sku": "{{found}}", "quantity": 2}
    assert order.headers == (("Content-Type", "application/json"), ("X-Client", "k6-{{user}}"))
    assert left_out(found) == {
        "sleep in line 18": "its length is computed",
        "http.get in line 19": "its URL is computed",
        "http.batch in line 20": "several requests at once cannot be read",
        "if in line 14": "a script's course is not followed: requests are taken as written",
    }


def test_a_table():
    """Weights, bodies and headers; with times it is replayed as a log is."""
    found = read("csv", "requests.csv")
    assert found.kind == "mix"
    assert [(one.weight, one.method) for one in found.requests] == [(3, "GET"), (1, "POST")]
    timed = read("csv", "timed.csv")
    assert timed.kind == "log"
    assert [one.begin_s for one in timed.requests] == [0, 1.5]
    assert timed.requests[0].headers == (("Accept", "text/html"),)
    assert "column owner" in left_out(timed)


def test_names_of_endpoints():
    """Ids of every kind become parameters; words stay, also many of them beside each other."""
    paths = {
        "/orders/4711": "/orders/{id}",
        "/u/0b7c3f0e-8d1c-4a53-9b1e-0d3ad1a2f7aa/cart": "/u/{id}/cart",
        "/blob/9f86d081884c7d65": "/blob/{id}",
        "/day/2024-01-15": "/day/{id}",
        "/static/app.3f2a9c1b.js": "/static/app.{id}.js",
        "/Flights(carrid='AA',connid='0017')": "/Flights({id})",
        "/users/{{user_id}}/x": "/users/{user_id}/x",
        "/products/blue-mug": "/products/blue-mug",
        "/v2/items": "/v2/items",
        "/": "/",
    }
    assert name_paths([f"{path}?a=1" for path in paths]) == paths
    slugs = [f"/shop/{word}-{other}" for word in "abcdefghij" for other in "klmnopqrst"]
    assert set(name_paths([*slugs, "/about"]).values()) == {"/shop/{name}", "/about"}
    resources = [f"/api/{word}s" for word in "abcdefghijklmnopqrstuvwxyz"] * 9
    assert len(set(name_paths(resources).values())) == 26
