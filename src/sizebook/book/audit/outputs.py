"""Executed notebooks as the audit reads them: every output, checked before it is believed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from sizebook.book.audit.findings import AuditedItem, Kind
from sizebook.book.audit.targets import PageFile
from sizebook.book.notebooks import STAMP, hash_cells
from sizebook.book.records import MOST_BYTES
from sizebook.report.showing import METADATA_KEY
from sizebook.store.plain_files import read_plain
from sizebook.store.strict_json import parse_json

_KEY = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$"
_FORMAT = r"^[^0-9]{0,4}([0-9]{1,2})?[^0-9]{0,2}([0-9]{1,2})?[^0-9]{0,2}$"
_SHA256 = r"^[0-9a-f]{64}$"

PlainScalar = bool | int | float | str | None


class _Read(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


class _Metadata(_Read):
    tags: list[str] = Field(default_factory=list)


class _Output(_Read):
    output_type: str
    metadata: dict[str, Any] = Field(default_factory=dict)
    data: dict[str, Any] = Field(default_factory=dict)


class _Cell(_Read):
    cell_type: Literal["code", "markdown", "raw"]
    id: str = ""
    source: str | list[str]
    metadata: _Metadata
    outputs: list[_Output] = Field(default_factory=list)


class _Document(_Read):
    metadata: dict[str, Any]
    cells: list[_Cell]


class CitedBundle(_Read):
    """One bundle that a result names as evidence."""

    bundle: str
    sha256: str
    verdict: str


class EvidenceFields(_Read):
    """The evidence of a result."""

    chapter: str
    parameters: dict[str, Any]
    sources: tuple[CitedBundle, ...] = Field(strict=False)
    command: str
    commit: str
    harness: str
    sha256: str = Field(pattern=_SHA256)


class _Result(_Read):
    key: str = Field(pattern=_KEY)
    evidence: EvidenceFields


class FigureResult(_Result):
    """A chart."""

    kind: Literal["figure"]
    caption: str
    alt: str


class TableResult(_Result):
    """A table."""

    kind: Literal["table"]
    caption: str


class CalculatorResult(_Result):
    """A calculator: a model, and its answers to standard questions."""

    kind: Literal["calculator"]
    caption: str
    model: dict[str, Any]
    questions: list[dict[str, Any]]
    doubts: list[str]


class ValueResult(_Result):
    """A number, text or truth value."""

    kind: Literal["value"]
    value: PlainScalar
    unit: str
    format: str = Field(pattern=_FORMAT)


class NumberFields(_Read):
    """One number in a paragraph."""

    key: str = Field(pattern=_KEY)
    value: PlainScalar
    words: str
    format: str = Field(pattern=_FORMAT)


class ProseResult(_Result):
    """A paragraph: ``texts[0] numbers[0] texts[1] …``."""

    kind: Literal["prose"]
    texts: tuple[str, ...] = Field(strict=False)
    numbers: tuple[NumberFields, ...] = Field(strict=False)

    @model_validator(mode="after")
    def _fits(self) -> ProseResult:
        if len(self.texts) != len(self.numbers) + 1:
            raise ValueError("one text more than numbers")
        return self


class ClaimResult(_Result):
    """A claim with its verdict."""

    kind: Literal["claim"]
    claim: dict[str, Any]


Result = FigureResult | TableResult | CalculatorResult | ValueResult | ProseResult | ClaimResult
_RESULTS: TypeAdapter[Result] = TypeAdapter(Result)
_DOCUMENT = TypeAdapter(_Document)
_KIND_OF: dict[str, Kind] = {
    "figure": "figures",
    "table": "tables",
    "calculator": "tables",
    "value": "numbers",
    "prose": "prose",
    "claim": "claims",
}


@dataclass(frozen=True)
class Output:
    """One output of a code cell."""

    page: str
    cell: int
    """Number of the cell among all cells, from 1."""
    cell_id: str
    tags: tuple[str, ...]
    type: str
    data: Mapping[str, Any]
    raw: Mapping[str, Any]
    """The whole output, as it is stored."""
    fields: Mapping[str, Any] | None
    """The record, if the output has one."""
    number: int
    """Number of the paragraph among the page's paragraphs, from 1; 0 for anything else."""

    def text(self, mime_type: str) -> str:
        """Give one representation as text; a notebook may store it as a list of lines."""
        content = self.data.get(mime_type, "")
        return "".join(map(str, content)) if isinstance(content, list) else str(content)

    @property
    def name(self) -> str:
        """What tells the result from the page's others: its key, or its number for prose."""
        assert self.fields is not None
        return f"prose-{self.number}" if self.number else str(self.fields.get("key"))[:120]

    @property
    def kind(self) -> str:
        """Kind of the result, as recorded."""
        assert self.fields is not None
        return str(self.fields.get("kind"))[:20]

    @property
    def place(self) -> str:
        """How findings name the result, or the cell of an output without a record."""
        return (
            f"{self.page} cell {self.cell}" if self.fields is None else f"{self.page}#{self.name}"
        )

    def read(self) -> Result:
        """Return the record, checked. Raises ValueError that says in one line what is wrong."""
        try:
            return _RESULTS.validate_python(self.fields)
        except ValidationError as error:
            kinds = [each for each in error.errors() if each["loc"][:1] == (_class(self.kind),)]
            first = (kinds or error.errors())[0]
            where = ".".join(str(part) for part in first["loc"][1:])
            raise ValueError(f"{first['msg']} at {where!r}") from error

    def items(self) -> list[AuditedItem]:
        """Return what the result counts as: itself, and each number of a paragraph."""
        kind = _KIND_OF.get(self.kind)
        own = [AuditedItem(kind, self.place)] if kind else []
        if self.kind != "prose":
            return own
        assert self.fields is not None
        numbers = self.fields.get("numbers")
        listed = numbers if isinstance(numbers, list) else []
        keys = [each.get("key") for each in listed if isinstance(each, dict)]
        return own + [AuditedItem("numbers", f"{self.page}#{key}") for key in keys]


def _class(kind: str) -> str:
    return f"{kind.capitalize()}Result"


@dataclass(frozen=True)
class ExecutedPage:
    """An executed notebook."""

    file: PageFile
    document: Mapping[str, Any]
    """The whole notebook, as it is stored."""
    run: Mapping[str, Any]
    """What the runner wrote into it: template, parameters, commit; empty if it did not."""
    outputs: tuple[Output, ...]

    @property
    def cells(self) -> Sequence[Mapping[str, Any]]:
        """Its cells, those of the template and the one with a run's parameters."""
        cells: Sequence[Mapping[str, Any]] = self.document["cells"]
        return cells

    @property
    def item(self) -> AuditedItem:
        """What is counted."""
        return AuditedItem("pages", self.file.name)

    @property
    def results(self) -> list[Output]:
        """The outputs that have a record."""
        return [output for output in self.outputs if output.fields is not None]

    @property
    def cells_sha256(self) -> str:
        """Checksum over the cells that come from the template."""
        return hash_cells(self.cells)

    def every_item(self) -> list[AuditedItem]:
        """Return everything that is counted of this page, the page first."""
        return [self.item, *(item for output in self.results for item in output.items())]


def cited_by(output: Output) -> tuple[CitedBundle, ...]:
    """Return the bundles that a result names; nothing if its record cannot be read."""
    try:
        return output.read().evidence.sources
    except ValueError:
        return ()


def parameters_of(page: ExecutedPage) -> dict[str, Any]:
    """Return the parameters that a page says it was made with; empty if it says none."""
    recorded = page.run.get("parameters")
    return dict(recorded) if isinstance(recorded, dict) else {}


def read_page(file: PageFile) -> ExecutedPage:
    """Return an executed notebook. Raises ValueError, in one line, if it is none; OSError."""
    document = _read_json(file.path)
    run, cells = document["metadata"].get(STAMP), document["cells"]
    known = run if isinstance(run, dict) else {}
    return ExecutedPage(file, document, known, tuple(_outputs(file.name, cells)))


def read_notebook(path: Path) -> dict[str, Any]:
    """Return a whole notebook. Raises ValueError, in one line, if it is none; OSError."""
    return _read_json(path)


def read_cells(path: Path) -> list[dict[str, Any]]:
    """Return the cells of a notebook. Raises ValueError, in one line, if it is none; OSError."""
    cells: list[dict[str, Any]] = _read_json(path)["cells"]
    return cells


def tags_of(cell: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tags of a cell."""
    return tuple(cell["metadata"].get("tags", ()))


def source_of(cell: Mapping[str, Any]) -> str:
    """Return the text of a cell; a notebook may store it as a list of lines."""
    source: str | list[str] = cell["source"]
    return "".join(source)


def _read_json(path: Path) -> dict[str, Any]:
    data = read_plain(path, MOST_BYTES, follow=True)
    if len(data) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES:,} bytes")
    document = parse_json(data.decode("utf-8"))
    try:
        _DOCUMENT.validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{first['msg'].lower()} at {where!r}") from error
    return dict(document)


def _outputs(page: str, cells: Sequence[Mapping[str, Any]]) -> Iterator[Output]:
    paragraphs = 0
    for number, cell in enumerate(cells, start=1):
        for output in cell.get("outputs", ()):
            fields = output.get("metadata", {}).get(METADATA_KEY)
            known = fields if isinstance(fields, dict) else None
            prose = known is not None and known.get("kind") == "prose"
            paragraphs += prose
            yield Output(
                page=page,
                cell=number,
                cell_id=cell.get("id", ""),
                tags=tags_of(cell),
                type=output["output_type"],
                data=output.get("data", {}),
                raw=output,
                fields=known,
                number=paragraphs if prose else 0,
            )
