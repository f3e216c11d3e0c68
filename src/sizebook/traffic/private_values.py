"""Secrets and personal data: found by the names of fields and by what they look like, replaced."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote, quote_plus

from sizebook.load.placeholders import placeholders
from sizebook.traffic.carried import RESERVED
from sizebook.traffic.fields import unpack_base64
from sizebook.traffic.recordings import RecordedRequest, Recording
from sizebook.traffic.sites import RequestValue, list_sites, put

LEAST_SWEPT = 5
"""Letters of a value that is looked for everywhere else, too."""
_BY_NAME: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("password", r"pass(?:word|wd|phrase|code)?$|^pwd|^pw$|password|^pin$|^otp$|one_?time"),
        ("token", r"token|secret|api_?key|^apikey|access_?key|session_?id|^sid$|^jsessionid$|"
         r"phpsessid|csrf|xsrf|^auth$|authorization|credential|signature|^sig$|^code_verifier$|"
         r"^refresh|x-auth|^assertion$|subscription-key"),
        ("email", r"e_?mail"),
        ("phone", r"phone|mobile|^tel$|^fax$|msisdn"),
        ("card", r"card_?(?:no|num|number)|^cc_?num|^pan$"),
        ("card_code", r"^cv[vc]2?$|card_?code|security_?code"),
        ("iban", r"^iban$|account_?(?:no|number)$"),
        ("person_id", r"^ssn$|social_?security|tax_?id|passport|national_?id|insurance_?n"),
        ("birth_date", r"birth|^dob$"),
        ("name", r"(?:first|last|full|given|family|middle|maiden|sur)_?name$|holder$"),
        ("user_name", r"^user_?(?:name)?$|^login$|^log$|user_?id$|^account$|^uname$"),
        ("address", r"^street|address_?(?:line)?_?\d?$|^addr|^zip$|zip_?code|post_?code|postal"),
        ("location", r"^(?:lat|lng|lon|latitude|longitude)$"),
        ("ip_address", r"^x-forwarded-for$|^x-real-ip$|^client_?ip$|^ip$"),
    )
)  # fmt: skip
_BY_LOOK: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("email", re.compile(r"[\w.%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\Z")),
    ("token", re.compile(r"eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?\Z")),
    ("token", re.compile(r"(?:sk|pk|rk)_(?:live|test)_\w{8,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|"
                         r"xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{12,}|AIza[\w-]{30,}|glpat-[\w-]{15,}")),
    ("phone", re.compile(r"\+\d[\d ().-]{7,18}\d\Z")),
)  # fmt: skip
_CARD = re.compile(r"(?:\d[ -]?){12,18}\d\Z")
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}\Z")
_HARMLESS = ("", "true", "false", "null", "0", "1", "on", "off", "yes", "no")
_BASIC = "basic_credentials"

_MADE: Mapping[str, Callable[[int], str]] = {
    "password": "password-{}".format,
    "token": "token-{}".format,
    "email": "user{}@example.com".format,
    "phone": lambda number: f"+1555010{number:04}",
    "card": lambda _: "4111111111111111",
    "card_code": lambda _: "123",
    "iban": lambda _: "DE89370400440532013000",
    "person_id": lambda number: f"000-00-{number:04}",
    "birth_date": lambda _: "1990-01-01",
    "name": "User {}".format,
    "user_name": "user{}".format,
    "address": "{} Example Street".format,
    "location": lambda _: "0.0",
    "ip_address": "192.0.2.{}".format,
    "cookie": "cookie-{}".format,
    _BASIC: lambda number: base64.b64encode(f"user{number}:password-{number}".encode()).decode(),
}
"""Values that stand in their place, by the number of the user; all are reserved for examples."""


@dataclass(frozen=True)
class Replaced:
    """A secret or personal datum that was replaced."""

    kind: str
    place: str
    """Where it stood first, such as ``json field password of POST /login``."""
    column: str
    """Column of ``users.csv`` that stands for it."""


class Hiding:
    """Replaces private values; equal ones become one column."""

    def __init__(self, taken: set[str], *, by_value: bool) -> None:
        self._taken = taken | set(RESERVED)
        self._by_value = by_value
        self._columns: dict[tuple[str, str], str] = {}
        self.kinds: dict[str, str] = {}
        """Column to kind."""
        self.replaced: list[Replaced] = []
        self._values: dict[str, str] = {}
        """Raw value to column."""

    def hide(self, request: RecordedRequest) -> RecordedRequest:
        """Return the request without private values in its fields."""
        for site in list_sites(request):
            kind = kind_of(site)
            if kind:
                where = f"{site.where} {site.key[:40]} of {request.method}"
                column = self.column(kind, site.key, site.value, f"{where} {_plain_path(request)}")
                request = put(request, site, f"{{{{{column}}}}}")
        return request

    def column(self, kind: str, key: str, value: str, place: str) -> str:
        """Return the column that stands for a value."""
        known = self._values.get(value)
        if known is not None and self._by_value:
            return known
        plain = _column_name(key, kind)
        label = (plain, value if self._by_value else "")
        if label not in self._columns:
            name, number = plain, 2
            while name in self._taken or name in self.kinds:
                name, number = f"{plain}_{number}", number + 1
            self._columns[label] = name
            self.kinds[name] = kind
            self.replaced.append(Replaced(kind, place, name))
        if value not in _HARMLESS:
            self._values.setdefault(value, self._columns[label])
        return self._columns[label]

    def sweep(self, request: RecordedRequest) -> RecordedRequest:
        """Return the request without private values wherever else they stand in it."""
        for value, column in self._values.items():
            if len(value) < LEAST_SWEPT:
                continue
            mark = f"{{{{{column}}}}}"
            for raw in dict.fromkeys((value, quote(value, safe=""), quote_plus(value))):
                body = request.body
                if raw in request.path:
                    request = replace(request, path=request.path.replace(raw, mark))
                if isinstance(body, str) and raw in body:
                    request = replace(request, body=body.replace(raw, mark))
                if any(raw in text for _, text in request.headers):
                    pairs = tuple((n, text.replace(raw, mark)) for n, text in request.headers)
                    request = replace(request, headers=pairs)
        return request

    def row(self, columns: Mapping[str, str], number: int) -> dict[str, str]:
        """Return made values for columns and their kinds, of one user."""
        return {name: made_value(kind, number) for name, kind in columns.items()}


def hide_private(recording: Recording) -> tuple[Recording, Hiding]:
    """Return a recording without secrets and personal data, and what stands for them."""
    kept = {name for one in recording.requests for name in one.keep}
    given = {name for one in recording.requests for name in _placeholders_of(one)}
    hiding = Hiding(kept | given, by_value=recording.kind == "session")
    cookies = tuple(
        (name, f"{{{{{hiding.column('cookie', f'cookie {name}', value, f'cookie {name}')}}}}}")
        for name, value in recording.cookies
    )
    requests = [hiding.hide(one) for one in recording.requests]
    requests = [hiding.sweep(one) for one in requests]
    for name in sorted(given - kept - set(RESERVED)):
        hiding.kinds[name] = kind_of_name(name) or "example"
    return recording.having(requests=tuple(requests), cookies=cookies), hiding


def kind_of(site: RequestValue) -> str:
    """Return what kind of private value stands there; empty for none."""
    value = site.value.strip()
    if value.lower() in _HARMLESS or len(value) > 8_192:
        return ""
    if site.where == "header" and site.key.lower() == "authorization":
        is_basic = ":" in (unpack_base64(value) or b"").decode("latin-1")
        return _BASIC if is_basic else "token"
    by_name = kind_of_name(site.key) if site.where != "path" else ""
    return by_name or kind_of_look(value)


def kind_of_name(name: str) -> str:
    """Return what kind of private value a field of this name has; empty for none."""
    if name == _BASIC:
        return _BASIC
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip("[]_ ").rpartition("[")[2])
    plain = plain.rpartition(".")[2].replace(" ", "_")
    return next((kind for kind, pattern in _BY_NAME if pattern.search(plain)), "")


def kind_of_look(value: str) -> str:
    """Return what kind of private value this looks like; empty for none."""
    for kind, pattern in _BY_LOOK:
        if pattern.match(value):
            return kind
    if _CARD.match(value) and _is_card(value):
        return "card"
    if _IBAN.match(value) and _is_iban(value):
        return "iban"
    return ""


def made_value(kind: str, number: int) -> str:
    """Return a value of a kind that belongs to nobody."""
    made = _MADE.get(kind)
    return made(number) if made is not None else f"example-{number}"


def _placeholders_of(request: RecordedRequest) -> set[str]:
    texts = [request.path, *(value for _, value in request.headers)]
    texts += [request.body] if isinstance(request.body, str) else []
    return {name for text in texts for name in placeholders(text)}


def _column_name(key: str, kind: str) -> str:
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key)
    plain = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_").lower()[:40]
    if kind == _BASIC or plain == "authorization" or not plain[:1].isalpha() or kind_of_look(key):
        return kind
    if kind_of_name(plain) or kind == "cookie":
        return plain
    return kind


def _plain_path(request: RecordedRequest) -> str:
    path = request.path.partition("?")[0][:80]
    return path if not kind_in(path) else "a path"


def kind_in(path: str) -> bool:
    """Return whether a part of a path is private itself."""
    return any(kind_of_look(part) for part in re.split(r"[/?&=]", path))


def _is_card(text: str) -> bool:
    """Return whether the digits have a card's check digit (ISO/IEC 7812-1)."""
    digits = [int(letter) for letter in text if letter.isdigit()]
    if digits[0] not in (2, 3, 4, 5, 6):
        return False
    doubled = [
        d if n % 2 == 0 else (2 * d - 9 if d > 4 else 2 * d) for n, d in enumerate(digits[::-1])
    ]
    return sum(doubled) % 10 == 0


def _is_iban(text: str) -> bool:
    """Return whether the check digits of an account number are right (ISO 13616)."""
    turned = "".join(str(int(letter, 36)) for letter in text[4:] + text[:4])
    return int(turned) % 97 == 1
