"""What the tests that audit share: one small book, made once, copied for each tampering."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from audited_book import make_audited_book

__all__ = ["audited_root", "book", "built_book"]


@pytest.fixture(scope="session")
def audited_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of an untouched book."""
    return make_audited_book(tmp_path_factory.mktemp("audited") / "book")


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
