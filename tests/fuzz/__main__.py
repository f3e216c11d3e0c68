"""Look longer than the suite does: ``python -m tests.fuzz --seconds 600 gc-log``.

Inputs that a parser cannot take are written to ``--keep``, one file each. One that shows a fault
goes into ``corpus/``, the fault is mended, and from then on the suite gives it to the parser.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.fuzz.hunting import CORPUS, hunt


def main() -> int:
    """Hunt, and tell what was found; 1 if anything was."""
    names = sorted(path.name for path in CORPUS.iterdir())
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("parsers", nargs="*", metavar="PARSER", help=", ".join(names))
    options.add_argument("--seconds", type=float, default=60.0, help="for each parser")
    options.add_argument("--seed", type=int, default=2)
    options.add_argument("--keep", type=Path, default=Path("_build/fuzz"), help="a folder")
    given = options.parse_args()
    if strange := set(given.parsers) - set(names):
        options.error(f"no parser {', '.join(sorted(strange))}; there are {', '.join(names)}")
    total = 0
    for parser in given.parsers or names:
        catches = hunt(parser, seconds=given.seconds, seed=given.seed)
        print(f"{parser}: {len(catches) or 'no'} faults", flush=True)
        for catch in catches:
            path = given.keep / parser / catch.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(catch.data)
            print(f"  {catch.what} at {catch.where or 'no line of ours'}\n  kept as {path}")
        total += len(catches)
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
