"""A small book with every kind of page: charts, tables, claims, calculator, trials (SYNTHETIC)."""

from __future__ import annotations

from pathlib import Path

from claims_book import write_gamma, write_tables
from sample_book import INDEX, TOC, write_sized
from sample_trials import make_trials_book

FOUND = """\
# Synthetic whole book

```{findings}
```

## Ledger

```{claims-ledger}
```

"""
PAGES = (
    "index.html",
    "notes.html",
    "chapters/alpha.html",
    "chapters/beta.html",
    "chapters/gamma.html",
    "chapters/sized.html",
    "trials/index.html",
    "trials/whole-1.html",
    "trials/failed-1.html",
    "trials/absent-1.html",
    "search.html",
    "genindex.html",
)
"""One page of each kind, as the site has them."""


def make_whole_book(root: Path) -> Path:
    """Write the book below ``root``; give ``root``."""
    make_trials_book(root)
    (root / "notebooks").mkdir()
    book = root / "book"
    (book / "index.md").write_text(FOUND + INDEX.partition("\n")[2])
    (book / "_toc.yml").write_text(TOC + "  - file: chapters/gamma\n  - file: chapters/sized\n")
    write_tables(root)
    write_gamma(root)
    write_sized(root)
    return root
