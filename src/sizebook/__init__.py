"""Sizebook: a benchmark report book whose every number is measured on the reader's machine."""

import sys

__version__ = "0.1.0"

# jsonschema, which Altair and nbformat import, compiles a grammar of internationalized addresses
# each time it is imported, a second of every start, to check a format that no schema here names.
# With None in its place the grammar's import fails (https://docs.python.org/3/reference/import.html)
# and jsonschema leaves that format out, as it does where the package is not installed.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
