"""Pages of trials and downloads, made by other processes while Sphinx reads and writes.

Sphinx itself uses one CPU. Both follow from notebooks and bundles; the pages of trials also name
the site's style sheets, and so are begun with the first page that is written, behind the sheets.
"""

# docutils brings no types
# mypy: disable-error-code="import-untyped, misc, no-any-return"

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from sizebook.book.cited import ProjectBundles, find_cited
from sizebook.book.downloads import write_downloads
from sizebook.book.sphinx_nodes import find_root, open_bundles
from sizebook.book.trial_folder import Plan, plan_trial_pages

_WORTH_PROCESSES = 60
"""Trials whose pages take as long as a process takes to start."""


class _Evidence:
    """What is under way in one build."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._downloads: Future[None] | None = None
        self._plan: Plan | None = None
        self._written: Iterator[None] | None = None

    def begin(self, app: Sphinx, env: BuildEnvironment, _names: list[str]) -> None:
        """Begin with the downloads, if there is enough to do for processes of their own."""
        if app.builder.format != "html":
            return
        root, pages = find_root(env), sorted(env.found_docs)
        if len(find_cited(root / "book", pages)) < _WORTH_PROCESSES:
            return
        # Started anew: what polars has begun in this process does not live on in a fork of it. A
        # trial's tables are small: threads of such a process would only wait for each other.
        os.environ.setdefault("POLARS_MAX_THREADS", "1")
        fresh = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=fresh)
        bundles = ProjectBundles(root)
        self._downloads = self._pool.submit(write_downloads, root, Path(app.outdir), pages, bundles)

    def plan(self, app: Sphinx, *_page: Any) -> None:
        """Plan the pages of trials once, and begin with them."""
        if self._plan is not None or app.builder.format != "html":
            return
        root = find_root(app.env)
        pages = list(app.env.collect_relations())
        self._plan = plan_trial_pages(root, Path(app.outdir), pages, open_bundles(root))
        if self._pool is not None:
            self._written = self._plan.start(self._pool)

    def finish(self, app: Sphinx, error: Exception | None) -> None:
        """Wait for what is under way, and do here what nobody has begun."""
        try:
            if error is not None or app.builder.format != "html":
                return
            self.plan(app)
            assert self._plan is not None
            if self._written is None:
                self._plan.make()
            else:
                list(self._written)
            self._plan.finish()
            if self._downloads is None:
                root = find_root(app.env)
                pages = sorted(app.env.found_docs)
                write_downloads(root, Path(app.outdir), pages, open_bundles(root))
            else:
                self._downloads.result()
        finally:
            if self._pool is not None:
                self._pool.shutdown(cancel_futures=True)


def add_evidence(app: Sphinx) -> None:
    """Connect the making of trials' pages and downloads to a build."""
    evidence = _Evidence()
    app.connect("env-before-read-docs", evidence.begin)
    app.connect("html-page-context", evidence.plan)
    app.connect("build-finished", evidence.finish)
