"""Pages of trials and downloads, made by other processes while Sphinx reads and writes.

Sphinx itself uses one CPU. Both follow from notebooks and bundles, and from which style sheets and
scripts the site will have; so they are begun before the first page is read.
"""

# docutils brings no types
# mypy: disable-error-code="import-untyped, misc, no-any-return"

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment import BuildEnvironment

from sizebook.book.cited import ProjectBundles, find_cited
from sizebook.book.directives.nodes import find_root, open_bundles
from sizebook.book.downloads import write_downloads
from sizebook.book.processes import own_processes
from sizebook.book.site import list_pages
from sizebook.book.trial_pages.folder import Plan, plan_trial_pages

_WORTH_PROCESSES = 60
"""Trials whose pages take as long as a process takes to start."""


class _Evidence:
    """What is under way in one build."""

    def __init__(self) -> None:
        self._over = contextlib.ExitStack()
        self._pool: ProcessPoolExecutor | None = None
        self._planned: Future[Plan] | None = None
        self._written: Iterator[None] | None = None
        self._downloads: Future[None] | None = None

    def begin(self, app: Sphinx, env: BuildEnvironment, _names: list[str]) -> None:
        """Begin, if there is enough to do for processes of their own."""
        if app.builder.format != "html":
            return
        root, site, pages = find_root(env), Path(app.outdir), _list_pages(env)
        if len(find_cited(root / "book", pages)) < _WORTH_PROCESSES:
            return
        self._pool = self._over.enter_context(own_processes("pages of trials"))
        about = root, site, pages, ProjectBundles(root)
        self._planned = self._pool.submit(plan_trial_pages, *about, _statics(app))
        self._downloads = self._pool.submit(write_downloads, *about)

    def go_on(self, *_event: Any) -> None:
        """Begin with the pages of trials as soon as they are planned."""
        if self._written is None and self._planned is not None and self._planned.done():
            assert self._pool is not None
            self._written = self._planned.result().start(self._pool)

    def finish(self, app: Sphinx, error: Exception | None) -> None:
        """Wait for what is under way, and do here what nobody has begun."""
        with self._over:
            if error is not None and self._pool is not None:
                self._pool.shutdown(wait=False, cancel_futures=True)
            if error is not None or app.builder.format != "html":
                return
            if self._planned is None or self._downloads is None:
                _make_here(app)
                return
            plan = self._planned.result()
            self.go_on()
            assert self._written is not None
            list(self._written)
            plan.finish()
            self._downloads.result()


def _make_here(app: Sphinx) -> None:
    root, site, pages = find_root(app.env), Path(app.outdir), _list_pages(app.env)
    plan = plan_trial_pages(root, site, pages, open_bundles(root), _statics(app))
    plan.make()
    plan.finish()
    write_downloads(root, site, pages, open_bundles(root))


def _list_pages(env: BuildEnvironment) -> list[str]:
    """Return the pages of the book in reading order."""
    listed = list_pages(find_root(env) / "book" / "_toc.yml")
    return [page for page in listed if page in env.found_docs]


def _statics(app: Sphinx) -> list[Path]:
    """Return the folders whose files will be in ``_static`` of the site."""
    builder = app.builder
    assert isinstance(builder, StandaloneHTMLBuilder)
    themes = [Path(folder) / "static" for folder in builder.theme.get_theme_dirs()]
    return [*themes, *(Path(app.confdir) / folder for folder in app.config.html_static_path)]


def add_evidence(app: Sphinx) -> None:
    """Connect the making of trials' pages and downloads to a build."""
    evidence = _Evidence()
    app.connect("env-before-read-docs", evidence.begin)
    app.connect("doctree-read", evidence.go_on)
    app.connect("html-page-context", evidence.go_on)
    app.connect("build-finished", evidence.finish)
