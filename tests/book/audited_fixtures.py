"""What the tests that audit share: one small book, made once, copied for each tampering."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from audited_book import make_audited_book

from sizebook.book.audit import auditing
from sizebook.book.audit.drawing import Drawer

__all__ = ["audited_root", "book", "built_book", "one_drawer"]


@pytest.fixture(scope="session", autouse=True)
def one_drawer() -> Iterator[None]:
    """All audits of a test process share the process that draws charts.

    To start it takes a second of CPU, four times as much as to audit the small book.
    """
    with Drawer() as shared, pytest.MonkeyPatch.context() as patch:

        class Shared(Drawer):
            def draw(self, spec: Mapping[str, Any]) -> str:
                return shared.draw(spec)

        patch.setattr(auditing, "Drawer", Shared)
        yield


@pytest.fixture(scope="session")
def audited_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of an untouched book, one for all folders of tests."""
    return _make_once(tmp_path_factory.getbasetemp())


@functools.cache
def _make_once(folder: Path) -> Path:
    return make_audited_book(folder / "audited" / "book")


@pytest.fixture
def book(audited_root: Path, tmp_path: Path) -> Path:
    """Give a copy of the book, without its site, that a test may tamper with."""
    return Path(
        shutil.copytree(audited_root, tmp_path / "book", ignore=shutil.ignore_patterns("_build"))
    )


@pytest.fixture
def built_book(audited_root: Path, tmp_path: Path) -> Path:
    """Give a copy of the book with its site that a test may tamper with."""
    return Path(shutil.copytree(audited_root, tmp_path / "built"))
