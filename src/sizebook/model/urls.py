"""Base URLs and host names as users write them: one reading for every place where they come in."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Annotated, NoReturn

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from sizebook.model.errors import UsageError

HTTP_PORT = 80
OWN_HOSTS = ("127.0.0.1", "localhost", "::1")
"""What names this machine itself."""
LONGEST_NAME = 253
"""Letters of a host name with its dots (RFC 1035, 2.3.4; without the root's)."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_LABEL = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_PATH = re.compile(r"(/[A-Za-z0-9._~/-]*)?")
_PRINTED = re.compile(r"[\x21-\x7e]*")
_NUMERIC = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """A base URL taken apart."""

    authority: str
    """Host and port as they were written: the value of the Host header."""
    host: str
    """Name in small letters, or address without brackets."""
    port: int
    path: str
    """What stands before each request's path; no slash at its end."""

    @property
    def is_own(self) -> bool:
        """Whether it leads to this machine itself."""
        return self.host in OWN_HOSTS


class UrlError(ValueError):
    """A text is no base URL or no host; ``expected`` says what would be one."""

    def __init__(self, expected: str) -> None:
        self.expected = expected
        super().__init__(f"expected {expected}")


def parse_url(text: str) -> BaseUrl:
    """Return the parts of a base URL such as ``http://127.0.0.1:8101``. Raises UrlError."""
    if not _PRINTED.fullmatch(text):
        _refuse("a URL without blanks, control characters and letters beyond ASCII")
    scheme = _SCHEME.match(text)
    if scheme is not None and scheme[1].lower() == "https":
        _refuse("http://; HTTPS is not supported")
    if scheme is None or scheme[1] != "http":
        _refuse("http:// and a host, such as http://127.0.0.1:8080")
    rest = text[scheme.end() :]
    if "?" in rest or "#" in rest:
        _refuse("a base URL without query and fragment")
    authority, slash, path = rest.partition("/")
    if "@" in authority:
        _refuse("a URL without user name and password")
    host, port = _split_authority(authority)
    if not _PATH.fullmatch(slash + path):
        _refuse("a path of letters, digits and . _ ~ / -")
    return BaseUrl(authority, parse_host(host), port, (slash + path).rstrip("/"))


def read_url(text: str) -> BaseUrl:
    """Return the parts of a base URL. Raises UsageError, which names it."""
    try:
        return parse_url(text)
    except UrlError as error:
        raise UsageError(
            found=f"URL {text[:200]!r}",
            expected=error.expected,
            next_step="correct it, such as http://127.0.0.1:8080",
        ) from error


def parse_host(text: str) -> str:
    """Return a host's name in small letters, or its address. Raises UrlError."""
    if ":" in text:
        try:
            return str(ipaddress.IPv6Address(_without_zone(text)))
        except ipaddress.AddressValueError:
            _refuse("an IPv6 address such as ::1, or one colon before the port")
    labels = text.removesuffix(".").split(".")
    if _NUMERIC.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(text))
        except ipaddress.AddressValueError:
            _refuse("an address of four numbers up to 255, such as 127.0.0.1")
    if len(text) > LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        _refuse(
            "a host name whose parts have 1 to 63 letters, digits and hyphens, "
            f"{LONGEST_NAME} in all"
        )
    return text.lower()


def _split_authority(authority: str) -> tuple[str, int]:
    """Return host, without brackets, and port."""
    if authority.startswith("["):
        host, bracket, rest = authority[1:].partition("]")
        if not bracket or ":" not in host:
            _refuse("an IPv6 address in its brackets, such as http://[::1]:8080")
    else:
        host, colon, rest = authority.partition(":")
        rest = colon + rest
        if ":" in rest[1:]:
            _refuse("brackets around an IPv6 address, such as http://[::1]:8080")
    if not host:
        _refuse("a host after http://, such as http://127.0.0.1:8080")
    if not rest:
        return host, HTTP_PORT
    if rest[0] != ":" or not _PORT.fullmatch(rest[1:]) or int(rest[1:]) > 65535:
        zeros = ", without zeros before it" if rest.startswith(":0") else ""
        _refuse(f"a port from 1 to 65535{zeros}")
    return host, int(rest[1:])


def _without_zone(text: str) -> str:
    if "%" in text:
        _refuse("an IPv6 address without zone, such as a global one")
    return text


def _refuse(expected: str) -> NoReturn:
    raise UrlError(expected)


def _checked(text: str) -> str:
    try:
        parse_url(text)
    except UrlError as error:
        raise PydanticCustomError("url", "{expected}", {"expected": error.expected}) from error
    return text


def _checked_or_empty(text: str) -> str:
    return _checked(text) if text else text


def _checked_own(text: str) -> str:
    if text and not parse_url(_checked(text)).is_own:
        raise PydanticCustomError("elsewhere", "http:// and an address of this machine itself")
    return text


def _checked_host(text: str) -> str:
    try:
        parse_host(text)
    except UrlError as error:
        raise PydanticCustomError("url", "{expected}", {"expected": error.expected}) from error
    return text


def _checked_host_or_empty(text: str) -> str:
    return _checked_host(text) if text else text


def _schema(pattern: str) -> WithJsonSchema:
    """Return what an editor may check as a file is written; the rest is checked when it is read."""
    return WithJsonSchema({"type": "string", "pattern": pattern})


_HOST = r"[A-Za-z0-9:_][A-Za-z0-9.:_-]{0,252}"
_URL = r"http://[A-Za-z0-9_\[][A-Za-z0-9.:\[\]_-]{0,252}(/[A-Za-z0-9._~/-]*)?"

Url = Annotated[str, AfterValidator(_checked), _schema(f"^{_URL}$")]
"""A base URL."""
OptionalUrl = Annotated[str, AfterValidator(_checked_or_empty), _schema(f"^({_URL})?$")]
"""A base URL, or empty."""
OwnUrl = Annotated[str, AfterValidator(_checked_own), _schema(f"^({_URL})?$")]
"""A base URL of this machine itself, or empty."""
HostAddress = Annotated[str, AfterValidator(_checked_host), _schema(f"^{_HOST}$")]
"""Name or address of a machine, IPv6 without brackets."""
OptionalHostAddress = Annotated[
    str, AfterValidator(_checked_host_or_empty), _schema(f"^({_HOST})?$")
]
"""Name or address of a machine, or empty."""
