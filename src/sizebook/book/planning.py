"""What a chapter would measure: its notebook read up to the point where measuring would begin."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from sizebook.book.chapters import Chapter
from sizebook.lab import PlanComplete, planning_only
from sizebook.lab.planning import Session, planned_s
from sizebook.model.errors import UsageError, UserError
from sizebook.model.faults import place_of, wanted

_DRAWING = ("altair", "vl_convert")
"""Libraries that draw: they take longer to load than most chapters take to be planned."""


@dataclass(frozen=True)
class PlannedChapter:
    """The sessions of a chapter and those not yet on disk."""

    chapter: Chapter
    sessions: tuple[Session, ...]
    missing: tuple[Session, ...]
    assumed: tuple[str, ...] = ()
    """What nobody has tried on this machine yet, such as "mode container works"; a run does."""
    remarks: tuple[str, ...] = ()
    """What a run will measure in another way than the chapter asks for, and why."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What each of its trials is to tell of what this machine lacks."""

    @property
    def trials(self) -> int:
        """Trials in all designs of the chapter."""
        return sum(len(session.trials) for session in self.sessions)

    @property
    def missing_trials(self) -> int:
        """Trials that a run would measure."""
        return sum(len(session.trials) for session in self.missing)

    @property
    def missing_s(self) -> float:
        """Seconds that a run should take."""
        return planned_s(self.missing)


def plan_chapter(
    chapter: Chapter, parameters: Mapping[str, Any], *, tries: bool = False
) -> PlannedChapter:
    """Return what a run of the chapter with these parameters would measure; measures nothing.

    What this machine can do is taken for granted, unless it ``tries`` that out as a run does.

    The notebook's code runs in this process until it asks the lab for trials, so the plan is the
    notebook's own and cannot drift from it. A page has an empty plan, since a run lets it measure
    nothing, and so has a notebook that asks for no trials.

    Raises UsageError that names them for parameters with which the notebook fails, though it runs
    with its defaults: no users, or a heap of nothing. What fails without them is a fault of the
    notebook, and raised as it is.
    """
    try:
        return _plan(chapter, parameters, tries=tries)
    except UserError:
        raise
    except Exception as error:
        blamed = {name: value for name, value in parameters.items() if _fails(chapter, name, value)}
        if not parameters or _fails(chapter):
            raise
        defaults = {each.name: each.default for each in chapter.parameters}
        given = blamed or {n: v for n, v in parameters.items() if v != defaults.get(n)}
        raise UsageError(
            found=f"{_words_of(given)} for chapter {chapter.id}, which cannot be planned so: "
            f"{_reason(error)}",
            expected="values that the chapter can be measured with, such as the defaults: "
            f"{_words_of({name: defaults.get(name) for name in given})}",
            next_step=f"correct them; sizebook chapters {shlex.quote(chapter.id)} says what "
            "they are",
        ) from error


def _fails(chapter: Chapter, *pair: Any) -> bool:
    """Return whether a chapter cannot be planned with one parameter, or with its defaults alone."""
    try:
        _plan(chapter, dict([pair]) if pair else {})
    except UserError:
        return False
    except Exception:
        return True
    return False


def _words_of(parameters: Mapping[str, Any]) -> str:
    def shown(value: Any) -> str:
        return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)

    return ", ".join(f"{name}={shown(value)}" for name, value in parameters.items())


def _reason(error: Exception) -> str:
    """Return why in one sentence; pydantic's own text is a page with links."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = place_of(first)
        if not place or first["type"] == "value_error":
            return wanted(first)
        return f"{place} is {first['input']!r} and must be {wanted(first)}"
    if isinstance(error, ArithmeticError | LookupError | TypeError):
        return "the notebook's code cannot compute with them"
    return str(error) or type(error).__name__


def _plan(
    chapter: Chapter, parameters: Mapping[str, Any], *, tries: bool = False
) -> PlannedChapter:
    if chapter.kind == "page":
        return PlannedChapter(chapter, (), ())
    notebook = json.loads(chapter.notebook.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__plan__"}
    try:
        with (
            planning_only(tries=tries) as words,
            _loaded_when_used(_DRAWING),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    code = compile(
                        "".join(cell["source"]), f"{chapter.notebook.name}[{cell['id']}]", "exec"
                    )
                    exec(code, names)
                    if "parameters" in cell["metadata"].get("tags", []):
                        names.update(parameters)
    except PlanComplete as plan:
        found = tuple(words.assumed), tuple(words.remarks)
        return PlannedChapter(chapter, plan.sessions, plan.missing, *found, plan.notes)
    return PlannedChapter(chapter, (), ())


class _Later(ModuleType):
    """Stands for a library until something is taken from it; then the library is loaded.

    ``importlib.util.LazyLoader`` loads at the next ``import`` already (Python 3.11 asks the module
    for its ``__spec__``).
    """

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


@contextlib.contextmanager
def _loaded_when_used(names: Iterable[str]) -> Iterator[None]:
    """Within this context libraries are loaded when something is taken from them, not before."""
    later = {name: _Later(name) for name in names if name not in sys.modules}
    for name, module in later.items():
        module.__spec__ = importlib.util.find_spec(name)
        sys.modules[name] = module
    try:
        yield
    finally:
        for name, module in later.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
