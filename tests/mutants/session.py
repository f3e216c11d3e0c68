"""Make, sample and run mutants below the current folder; run by Cosmic Ray's own interpreter.

Arguments: its settings as JSON, the number of mutants, a seed. Standard output: a JSON list.
"""

import ast
import json
import random
import sys
from pathlib import Path

from cosmic_ray.commands import execute, init
from cosmic_ray.config import ConfigDict
from cosmic_ray.modules import find_modules
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkerOutcome, WorkResult


def main() -> None:
    """Run the tests on each mutant of the sample."""
    settings, number, seed = ConfigDict(json.loads(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
    modules = [*find_modules([Path(settings["module-path"])])]
    with use_db("session.sqlite", WorkDB.Mode.create) as session:
        init(modules, session, {})
        sampled = sample(session, number, seed)
        others = [one.job_id for one in session.work_items if one.job_id not in sampled]
        session.set_multiple_results(others, WorkResult(WorkerOutcome.SKIPPED))
        execute(session, settings)
        tried = [(sampled[one.job_id], result) for one, result in session.completed_work_items
                 if one.job_id in sampled]  # fmt: skip
    json.dump(
        [
            {
                "module": change.module_path.name,
                "line": change.start_pos[0],
                "outcome": result.test_outcome or result.worker_outcome,
                "diff": result.diff or "",
            }
            for change, result in sorted(tried, key=lambda one: str(one[0]))
        ],
        sys.stdout,
    )


def sample(session, number, seed):
    """Return mutations by their jobs: as many as were asked for, each place in the code once."""
    words = {}
    places = {}
    for one in session.work_items:
        (change,) = one.mutations
        path = change.module_path
        if path not in words:
            words[path] = [*spans_of_words(path.read_text())]
        if not any(begin <= change.start_pos < end for begin, end in words[path]):
            places.setdefault((str(path), change.start_pos), []).append((change, one.job_id))
    dice = random.Random(seed)
    chosen = dice.sample(sorted(places), min(number, len(places)))
    drawn = [dice.choice(sorted(places[place], key=lambda one: str(one[0]))) for place in chosen]
    return {job: change for change, job in drawn}


def spans_of_words(source):
    """Give where annotations are: nothing reads them, so that no test can notice a change."""
    for node in ast.walk(ast.parse(source)):
        for name in ("annotation", "returns"):
            said = getattr(node, name, None)
            if said is not None:
                yield (said.lineno, said.col_offset), (said.end_lineno, said.end_col_offset)


if __name__ == "__main__":
    main()
