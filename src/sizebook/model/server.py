"""Servers that are not the reference stack's: how one is started, and what it tells of itself."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from sizebook.model.records import Record, Strings

TAKEN = (
    *("app", "backend", "broker", "nullserver", "database", "balancer"),
    *("generator", "all", "local"),
)
"""Names that mean something else in deployments and among the sources of counters."""

PLACEHOLDERS = ("port", "counters_port", "address", "folder", "project", "cpus")
"""What may stand in braces in a command, and in the text of a file; so may ``url:ROLE``."""

_PLACEHOLDER = re.compile(r"\{([a-z_]+)(?::[a-z0-9-]+)?\}")


def _not_taken(name: str) -> str:
    if name in TAKEN:
        raise ValueError(f"{name!r}, which means something else; choose another name")
    return name


def _inside(path: str) -> str:
    parts = path.split("/")
    if path.startswith("/") or "\\" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"path {path[:100]!r} that leads out of its folder")
    return path


def _known_placeholders(command: tuple[str, ...]) -> tuple[str, ...]:
    for word in command:
        for found in _PLACEHOLDER.finditer(word):
            if found[1] not in (*PLACEHOLDERS, "url"):
                known = ", ".join(f"{{{name}}}" for name in (*PLACEHOLDERS, "url:ROLE"))
                raise ValueError(f"{found[0]} in a command, which is none of {known}")
    return command


SystemName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,15}$"), AfterValidator(_not_taken)]
"""What a chapter calls a system of its own, and its locustfile the role that it loads."""

InnerPath = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_inside)]
"""Path below a folder, parts separated by ``/``."""

Command = Annotated[
    tuple[str, ...], Field(min_length=1, max_length=200), AfterValidator(_known_placeholders)
]

EnvironmentName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]

UrlPath = Annotated[str, Field(pattern=r"^/[A-Za-z0-9._~/?&=%,;:@+-]*$", max_length=500)]
"""Path of a URL, with its query."""


class Filled(Record):
    """Contents of a file that is made: words in random order, the same for the same seed."""

    size_bytes: Annotated[int, Field(ge=0, le=2**30)]
    seed: int = 1


class Told(Record):
    """One series of a server's counters, and what it is called here."""

    series: Annotated[str, Field(pattern=r"^[a-zA-Z_:][a-zA-Z0-9_:]{0,199}$")]
    """Name as the server exposes it."""
    metric: Annotated[str, Field(pattern=r"^[a-z0-9_]*$")] = ""
    """Registered counter of source ``server`` that it is, such as ``requests_total``; empty: it
    keeps its own name, as ``told_total/SERIES`` if it grows and ``told/SERIES`` if not."""
    where: Strings = Field(default_factory=dict)
    """Label to pattern; points that match are added up. ``*`` is any text, ``?`` one character, all
    else is itself, such as the brackets of ``/api/[id]``; ``[*]`` and ``[?]`` are the character."""

    @property
    def name(self) -> str:
        """The metric under which readings are stored."""
        kind = "told_total" if self.series.endswith(("_total", "_count", "_sum")) else "told"
        return self.metric or f"{kind}/{self.series}"


class CounterSource(Record):
    """Where a server says what it counts, and what of it is kept."""

    format: Literal["prometheus", "stub-status"] = "prometheus"
    """Text format of Prometheus, or the few lines of nginx's module ``stub_status``."""
    path: UrlPath = "/metrics"
    port: Annotated[int, Field(gt=0, lt=65536)] | None = None
    """None: ``{counters_port}`` where the server has one, else the port of its URL."""
    series: tuple[Told, ...] = ()
    """None are needed for ``stub-status``, which always has the same."""

    @model_validator(mode="after")
    def _keeps_something(self) -> Self:
        if self.format == "prometheus" and not self.series:
            raise ValueError("counters in the format of Prometheus, and no series of them to keep")
        return self

    @property
    def counts_requests(self) -> bool:
        """Whether it tells how many requests the server has answered."""
        return self.format == "stub-status" or any(
            one.metric == "requests_total" for one in self.series
        )


class Program(Record):
    """How a server is started, and when it is ready.

    In the command, the values of ``environment`` and the texts of ``files`` stand for what is known
    only at the start: ``{port}`` to listen on, ``{counters_port}`` beside it, ``{address}``,
    ``{folder}`` with its files, ``{project}``, how many ``{cpus}`` it may use, and ``{url:ROLE}``
    of a role that was started before.
    """

    command: Command
    """Program, by name or path, and its arguments; no shell. It must stay in the foreground."""
    files: dict[InnerPath, str | Filled] = Field(default_factory=dict)
    """Files in its folder: text, or what is made."""
    needs: tuple[InnerPath, ...] = ()
    """Files and folders of the project that it uses: a change of them is another server."""
    environment: Strings = Field(default_factory=dict)
    inherits: tuple[EnvironmentName, ...] = ()
    """Variables that it gets from the harness's own environment, such as a password: their values
    stand in no bundle."""
    ready: UrlPath = "/"
    """Path that is answered with a status below 300 as soon as it is ready."""
    ready_within_s: Annotated[float, Field(ge=0.1, le=3600)] = 30.0
    stop_signal: Literal["TERM", "INT", "QUIT", "HUP", "USR1", "USR2"] = "TERM"
    """Signal that asks it to end in good order."""
    version: Command | None = None
    """Command that prints which version it is; another version is another server."""
    counters: CounterSource | None = None
