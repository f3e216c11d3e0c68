"""The script that draws charts in a reader's browser: made once, kept, shipped with the site."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sizebook.model.errors import UsageError
from sizebook.store import find_project

SCRIPT = f"sizebook-vega-{version('vl-convert-python')}.js"
"""Name of its file: another release of Vega is another file."""


def vega_script(root: Path) -> Path:
    """Return the script's file, made if it is not there: that takes as long as a page or two.

    It is kept in the state of the project that this code belongs to; of ``root``, the project whose
    book is built, where the code was installed away from any project.
    """
    try:
        state = find_project(Path(__file__)).state
    except UsageError:
        state = root / ".sizebook"
    kept = state / "site" / SCRIPT
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        for old in kept.parent.glob("sizebook-vega-*.js"):
            old.unlink(missing_ok=True)
        partial = kept.with_suffix(f".{os.getpid()}")
        partial.write_text(_bundled(), encoding="utf-8")
        partial.replace(kept)
    return kept


def _bundled() -> str:
    import vl_convert  # noqa: PLC0415 - only who makes it needs the converter

    bundle: Any = vl_convert.javascript_bundle  # its types ask for an optional argument
    # bare, the names at its top level clash with Sphinx's own scripts
    return f"(function(){{{bundle()}}})();"
