"""What recorders write, what may be sent again, and what an answer gave to a later request."""

from __future__ import annotations

import base64
import json

import pytest
from tests.traffic import formats

from sizebook.load.kept import CookieValue, FormField, JsonField, Pattern
from sizebook.model.errors import UsageError
from sizebook.traffic.carried import carry_over
from sizebook.traffic.preparing import prepare
from sizebook.traffic.reading import parse_traffic
from sizebook.traffic.recordings import RecordedAnswer, RecordedRequest, Recording
from sizebook.traffic.replayable import make_replayable
from sizebook.traffic.writing import write_load

AT = "2026-03-02T09:30:{:06.3f}Z"


def entry(url="http://shop.test/", at_s=0.0, method="GET", *, time_ms=100.0, post=None, **more):
    """Return an entry of a HAR."""
    request = {"method": method, "url": url, "headers": more.pop("headers", []), "cookies": []}
    if post is not None:
        request["postData"] = post
    response = {"status": 200, "headers": [], "cookies": [], "content": {"mimeType": "text/html"}}
    response |= more.pop("response", {})
    return {"startedDateTime": AT.format(at_s), "time": time_ms, "request": request,
            "response": response, **more}  # fmt: skip


def har(*entries):
    return formats.dumped({"log": {"creator": {"name": "Any", "version": "1"}, "entries": entries}})


def read(*entries):
    return parse_traffic(har(*entries), "a.har")


def why(recording, what):
    """Return why something was left out."""
    return next(each.why for each in recording.left_out if what in each.what)


FORM = "application/x-www-form-urlencoded"
FIELDS = [{"name": "a b", "value": "1&2"}, {"name": "c", "value": "é"}]


@pytest.mark.parametrize(
    ("post", "body"),
    [
        ({"mimeType": FORM, "text": "a=1"}, "a=1"),
        ({"mimeType": FORM, "params": FIELDS}, "a+b=1%262&c=%C3%A9"),
        ({"mimeType": FORM, "text": "a=1", "params": FIELDS}, "a=1"),
        ({"mimeType": FORM, "text": "", "params": FIELDS}, "a+b=1%262&c=%C3%A9"),
        ({"mimeType": FORM, "text": f"Content-Type: {FORM}\r\nContent-Length: 3\r\n\r\na=1"},
         "a=1"),
        ({"mimeType": "text/x", "text": base64.b64encode(b"caf\xc3\xa9").decode(),
          "encoding": "base64"}, "café"),
        ({"mimeType": "image/x", "text": base64.b64encode(b"\xff\x00").decode(),
          "_encoding": "base64"}, b"\xff\x00"),
        ({"mimeType": "text/x", "text": "not base64!", "encoding": "base64"}, ""),
        ({}, ""),
    ],
)  # fmt: skip
def test_a_body_comes_as_text_as_fields_as_both_or_packed(post, body):
    """The text counts where there is one; what is no base64 is said."""
    (request,) = read(entry(method="POST", post=post)).requests
    assert request.body == body


def test_a_file_in_a_form_has_no_content_in_a_recording():
    """The form is sent in parts, and the missing file is named."""
    params = [{"name": "note", "value": "hello"},
              {"name": "photo", "fileName": "me.png", "contentType": "image/png"}]  # fmt: skip
    post = {"mimeType": "multipart/form-data; boundary=x", "params": params}
    found = read(entry(method="POST", post=post))
    body = found.requests[0].body
    assert 'name="note"\r\n\r\nhello\r\n' in body and 'filename="me.png"' in body
    assert found.requests[0].content_type.endswith("boundary=sizebook-part")
    assert why(found, "me.png") == "the recorder left it out"


def test_entries_are_put_in_order_and_gaps_are_think_times():
    """A gap counts from the end of everything before it; a short one is the browser's."""
    found = read(
        entry("http://shop.test/late", 9.0),
        entry("http://shop.test/", 0.0, time_ms=2000),
        entry("http://shop.test/app.js", 0.5),
        entry("http://shop.test/soon", 2.05),
    )
    assert [one.path for one in found.requests] == ["/", "/app.js", "/soon", "/late"]
    assert [round(one.pause_s, 2) for one in found.requests] == [0, 0, 0, 6.85]


def test_what_asked_no_server_is_left_out_by_name():
    """Caches, sockets, data and what was cancelled."""
    found = read(
        entry("http://shop.test/"),
        entry("http://shop.test/a.css", _fromCache="disk"),
        entry("wss://shop.test/live", _resourceType="websocket"),
        entry("data:text/plain,x"),
        entry("http://shop.test/x", response={"status": 0, "_error": "net::ERR_ABORTED"}),
        {**entry("http://shop.test/y"), "startedDateTime": "yesterday"},
        "no object",
    )
    assert [one.path for one in found.requests] == ["/"]
    reasons = [each.why for each in found.left_out]
    assert reasons == [
        "they cannot be read",
        "the browser took it from its cache",
        "WebSocket cannot be replayed",
        "a URL of scheme 'data' asks no server",
        "it was cancelled or blocked, or got no answer",
        "its time cannot be read",
    ]


def test_headers_of_the_recorders_own_connection_are_not_sent():
    """Pseudo headers, the connection's, the cache's, cookies; where a page came from is kept."""
    given = {
        ":authority": "shop.test", ":method": "GET", "Host": "shop.test", "Content-Length": "3",
        "Connection": "keep-alive", "Transfer-Encoding": "chunked", "TE": "trailers",
        "Upgrade": "h2c", "If-None-Match": '"1"', "If-Modified-Since": "x", "Range": "bytes=0-",
        "Accept-Encoding": "br", "Cookie": "sid=1", "Sec-Fetch-Mode": "cors",
        "Expect": "100-continue",
        "Proxy-Authorization": "Basic x", "Bad Name": "x", "Broken": "a\nb",
        "Origin": "http://shop.test", "Referer": "http://shop.test/list?page=2",
        "If-Match": '"7"', "Accept": "text/html", "X-Own": " yes ",
    }  # fmt: skip
    headers = [{"name": name, "value": value} for name, value in given.items()]
    found = make_replayable(read(entry(headers=headers)))
    assert found.requests[0].headers == (
        ("Origin", "{{target}}"),
        ("Referer", "{{target}}/list?page=2"),
        ("If-Match", '"7"'),
        ("Accept", "text/html"),
        ("X-Own", "yes"),
    )
    told = {each.what.removeprefix("header ").strip("'").lower() for each in found.left_out}
    dropped = {name.lower() for name in given} - {
        "origin",
        "referer",
        "if-match",
        "accept",
        "x-own",
    }
    assert told == dropped
    assert found.cookies == (("sid", "1"),)


def test_one_system_is_loaded_and_others_are_named():
    """It is where the first page came from; http and https of a host are one."""
    found = make_replayable(read(
        entry("https://login.test/x.js", response={"content": {"mimeType": "text/javascript"}}),
        entry("http://shop.test/", 1.0),
        entry("https://shop.test/a", 3.0),
        entry("https://cdn.test/b", 4.0),
        entry("http://shop.test/c", 9.0),
    ))  # fmt: skip
    assert [one.path for one in found.requests] == ["/", "/a", "/c"]
    assert why(found, "https://cdn.test") == "it is another system"
    assert round(found.requests[2].pause_s, 1) == 5.8  # the other system's part of it, too


@pytest.mark.parametrize(("status", "expected"), [(304, 200), (206, 200), (503, 200), (404, 404)])
def test_a_new_visitor_gets_whole_answers(status, expected):
    """What a cache, a range or a fault brought about is not expected again."""
    found = make_replayable(read(entry(response={"status": status})))
    assert found.requests[0].status == expected


def session(*steps):
    """Return a session of requests with the bodies of their answers."""
    return Recording("HAR", "session", tuple(steps))


def step(method="GET", path="/", *, headers=(), body=""):
    return RecordedRequest(method, path, headers=headers, body=body)


JSON = (("Content-Type", "application/json"),)


@pytest.mark.parametrize(
    ("answer", "later", "sent", "kept"),
    [
        ({"body": '{"data": {"token": "tok-12345678"}}'},
         step(headers=(("Authorization", "Bearer tok-12345678"),)),
         "Bearer {{token}}", JsonField("data.token")),
        ({"body": '<input value="a1b2c3d4" type="hidden" name="_csrf">',
          "content_type": "text/html"},
         step("POST", body="_csrf=a1b2c3d4&x=1", headers=(("Content-Type", FORM),)),
         "_csrf={{csrf}}&x=1", FormField("_csrf")),
        ({"body": "<meta name=csrf-token content='zz+/zz=='>", "content_type": "text/html"},
         step(headers=(("X-CSRF", "zz+/zz=="),)), "{{csrf_token}}", FormField("csrf-token")),
        ({"cookies": (("XSRF-TOKEN", "q%2Fw3rty"),)}, step(headers=(("X-XSRF-TOKEN", "q/w3rty"),)),
         "{{xsrf_token}}", CookieValue("XSRF-TOKEN")),
        ({"body": '{"items": [{"id": 7}, {"id": 12}]}'}, step(path="/items/12"),
         "/items/{{id}}", JsonField("items[1].id")),
        ({"location": "http://shop.test/orders/31"}, step(path="/orders/31?full=1"),
         "/orders/{{orders}}?full=1", Pattern("/orders/([^/?&#]+)", "location")),
        ({"body": '{"orderId": 123456}'},
         step("POST", headers=JSON, body='{"order": {"id": 123456}, "n": 3}'),
         '{"order": {"id": {{order_id}}}, "n": 3}', JsonField("orderId")),
        ({"body": '{"next": "a b+c/d-0123456789abcdef"}'}, step(path="/?after=x"),
         "/?after=x", None),
        ({"body": '{"page": 2, "name": "mug"}'}, step(path="/list/2?name=mug"),
         "/list/2?name=mug", None),
    ],
)  # fmt: skip
def test_values_are_carried_from_an_answer_to_a_later_request(answer, later, sent, kept):
    """Tokens, hidden fields, cookies, ids; a coincidence is none."""
    first = RecordedRequest("GET", "/", answer=RecordedAnswer(**answer))
    found, carried = carry_over(session(first, later))
    request = found.requests[1]
    texts = [request.path, request.body, *(value for _, value in request.headers)]
    assert sent in texts
    assert list(found.requests[0].keep.values()) == ([kept] if kept else [])
    assert len(carried) == (kept is not None)


def test_what_a_visitor_sent_first_is_not_carried():
    """An answer that repeats what it was given is no source of it."""
    told = RecordedAnswer(body='{"code": "ABC123456"}')
    echo = RecordedRequest("GET", "/find?code=ABC123456", answer=told)
    found, carried = carry_over(session(echo, step(path="/take?code=ABC123456")))
    assert not carried and found.requests[1].path == "/take?code=ABC123456"


def test_a_token_that_changes_is_taken_each_time():
    """Each request sends what the answer before it gave."""
    second = RecordedRequest("POST", "/2", headers=(("X-Token", "tok-1111"),),
                             answer=RecordedAnswer(body='{"token": "tok-2222"}'))  # fmt: skip
    third = RecordedRequest("POST", "/3", headers=(("X-Token", "tok-2222"),))
    first = RecordedRequest("GET", "/1", answer=RecordedAnswer(body='{"token": "tok-1111"}'))
    found, carried = carry_over(session(first, second, third))
    assert [one.headers for one in found.requests[1:]] == [
        (("X-Token", "{{token}}"),),
        (("X-Token", "{{token_2}}"),),
    ]
    assert [each.name for each in carried] == ["token", "token_2"]


PRIVATE = {
    "password": "hunter2!", "email": "jane@mail.test", "phone": "+44 20 7946 0958",
    "cardNumber": "4012888888881881", "iban": "GB82WEST12345698765432", "first_name": "Jane",
    "api_key": "k-123", "note": "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl", "birthDate": "1980-02-03",
}  # fmt: skip


def test_secrets_and_personal_data_are_replaced_and_listed():
    """By the names of fields and by what they look like, wherever they stand; the rest stays."""
    body = json.dumps({**PRIVATE, "quantity": 2, "colour": "blue", "order": "1234567890123456"})
    headers = [{"name": "Authorization", "value": "Basic " + base64.b64encode(b"jo:pw").decode()},
               {"name": "Content-Type", "value": "application/json"},
               {"name": "Cookie", "value": "_ga=GA1.2.33"}]  # fmt: skip
    url = "http://shop.test/users/jane@mail.test?access_token=abc.def&q=mugs"
    post = {"mimeType": "application/json", "text": body}
    data = har(entry(url, method="POST", post=post, headers=headers))
    load = prepare(parse_traffic(data, "a.har"), "a.har")
    (request,) = load.recording.requests
    everything = json.dumps([request.path, request.body, request.headers, load.recording.cookies])
    for value in (*PRIVATE.values(), "abc.def", "GA1.2.33", headers[0]["value"][6:]):
        assert value not in everything
    assert request.path == "/users/{{email}}?access_token={{access_token}}&q=mugs"
    assert '"quantity": 2, "colour": "blue", "order": "1234567890123456"' in request.body
    kinds = {each.kind for each in load.replaced}
    assert kinds == {"password", "email", "phone", "card", "iban", "name", "token", "birth_date",
                     "basic_credentials", "cookie"}  # fmt: skip
    assert {each.column for each in load.replaced} == set(load.users[0])
    assert load.users[1]["email"] == "user2@example.com"
    told = write_load(load, "shop", "Shop").files["shop/source.md"]
    assert isinstance(told, str)
    assert all(f"Column `{each.column}`" in told for each in load.replaced)


def test_users_that_are_none_are_refused(tmp_path):
    """A CSV without rows, or with a column that no placeholder can have."""
    recording = read(entry())
    for text in ("", "a b,c\n1,2\n", "name\n"):
        (tmp_path / "users.csv").write_text(text)
        with pytest.raises(UsageError, match=r"users\.csv"):
            prepare(recording, "a.har", tmp_path / "users.csv")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it has no text"),
        (b"hello\nworld\n", "it begins with 'hello'"),
        (b'{"log": {"entries": []}}', "without a request that can be sent"),
        (b'{"log": {"entries": [', "JSON that ends or breaks within"),
        (b'{"swagger": "2.0", "paths": {}}', "Swagger 2.0"),
        (b'{"openapi": "4.0"}', "OpenAPI '4.0'"),
        (b"<html></html>", "XML that is no JMeter plan"),
        (b"<!DOCTYPE x [<!ENTITY a 'b'>]><jmeterTestPlan/>", "XML that declares entities"),
        (b"openapi: 3.0.0\npaths: [", "YAML that breaks within"),
        (b"[" * 100_000, "it begins with"),
    ],
)
def test_what_is_no_traffic_is_refused(data, said):
    """One line says what was found and what could be read."""
    with pytest.raises(UsageError) as refused:
        parse_traffic(data, "given")
    assert said in refused.value.found
    assert "HAR file" in refused.value.expected
