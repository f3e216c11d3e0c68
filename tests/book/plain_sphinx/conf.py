"""The way out of jupyter-book 1: plain Sphinx builds the same sources from the same settings.

``SIZEBOOK_ROOT`` is the folder with ``_config.yml``; without it, the project's own.
"""

import os
from pathlib import Path

import yaml

_root = Path(os.environ.get("SIZEBOOK_ROOT", Path(__file__).parents[3]))
_config = yaml.safe_load((_root / "_config.yml").read_text(encoding="utf-8"))

project = html_title = _config["title"]
author = _config["author"]
copyright = _config["copyright"]
exclude_patterns = _config["exclude_patterns"]
html_logo = str(_root / "book" / _config["logo"])
html_favicon = str(_root / "book" / _config["html"]["favicon"])
html_static_path = [str(_root / "book" / "_static")]
nb_execution_mode = "off"
nb_output_stderr = "remove-warn"
myst_enable_extensions = _config["parse"]["myst_enable_extensions"]
numfig = True
use_multitoc_numbering = True
external_toc_path = "_toc.yml"
external_toc_exclude_missing = True
html_theme = "sphinx_book_theme"
globals().update(_config["sphinx"]["config"])
_dropped = {"jupyter_book", "sphinx_comments"}
extensions = [each for each in _config["sphinx"]["config"]["extensions"] if each not in _dropped]
extensions.append("sphinx_multitoc_numbering")
# relative to this file here, to the sources in jupyter-book
bibtex_bibfiles = [
    str(_root / "book" / each) for each in _config["sphinx"]["config"]["bibtex_bibfiles"]
]
suppress_warnings = ["app.add_node", "myst.domains"]
