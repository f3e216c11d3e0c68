"""What the tests of the publishing side share: tiny notebooks, one sample site, one browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from audited_fixtures import audited_root, one_drawer  # noqa: F401 - for those that audit
from browser import Browser
from sample_book import make_sample_book
from sample_trials import make_trials_book
from whole_book import make_whole_book

from sizebook.book.site import build_site

TemplateWriter = Callable[..., Path]


@pytest.fixture
def write_template(tmp_path: Path) -> TemplateWriter:
    """Give a function that writes a notebook template from the source of its cells."""

    def write(
        *sources: str, name: str = "tiny", parameters: str = 'profile = "smoke"', **about: Any
    ) -> Path:
        metadata = {
            "id": name,
            "title": "Tiny",
            "part": "Test",
            "order": 1,
            "sources": [],
            "kind": "chapter",
        }
        notebook = nbformat.v4.new_notebook(metadata={"sizebook": {**metadata, **about}})
        notebook.cells = [
            nbformat.v4.new_markdown_cell("# Tiny"),
            nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}),
            *(nbformat.v4.new_code_cell(source) for source in sources),
        ]
        path = tmp_path / "notebooks" / f"01-{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        nbformat.write(notebook, path)
        return path

    return write


@pytest.fixture(scope="session")
def sample_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of the sample book, built once for all tests that only look at it."""
    root = make_sample_book(tmp_path_factory.mktemp("sample"))
    build_site(root)
    return root


@pytest.fixture(scope="session")
def sample_site(sample_root: Path) -> Path:
    """Give the folder of the sample book's HTML."""
    return sample_root / "_build" / "html"


@pytest.fixture(scope="session")
def trials_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of the sample book with bundles of every kind behind its first chapter."""
    root = make_trials_book(tmp_path_factory.mktemp("trials"))
    build_site(root)
    return root


@pytest.fixture(scope="session")
def whole_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a small book with every kind of page, built once."""
    root = make_whole_book(tmp_path_factory.mktemp("whole"))
    build_site(root)
    return root


@pytest.fixture(scope="session")
def whole_site(whole_root: Path) -> Path:
    """Give the folder of its HTML."""
    return whole_root / "_build" / "html"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Give one browser for all tests; without Chromium they fail and say what to install."""
    with Browser() as started:
        yield started
