"""Make, sample and run mutants below the current folder; run by Cosmic Ray's own interpreter.

Argument: JSON with ``module_path``, ``number``, ``seed``, ``only`` (places such as ``steady.py:12``
instead of a sample), ``python`` (that runs the tests), and ``tests`` by module. Standard output: a
line of JSON for each mutant, as soon as it was tried.
"""

import ast
import difflib
import json
import random
import subprocess
import sys
from pathlib import Path

from cosmic_ray.commands import init
from cosmic_ray.modules import find_modules
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db


def main() -> None:
    """Run the tests on each mutant of the sample."""
    given = json.loads(sys.argv[1])
    modules = [*find_modules([Path(given["module_path"])])]
    with use_db("session.sqlite", WorkDB.Mode.create) as session:
        init(modules, session, {})
        changes = [one.mutations[0] for one in session.work_items]
    drawn = sample(changes, given["number"], given["seed"], given["only"])
    with subprocess.Popen(
        [given["python"], "-m", "tests.mutants.runner"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as runner:

        def outcome(tests):
            runner.stdin.write(json.dumps({"tests": tests}) + "\n")
            runner.stdin.flush()
            return json.loads(runner.stdout.readline())["outcome"]

        noticing = set()
        for change in drawn:
            tests = given["tests"][change.module_path.name]
            operator = get_operator(change.operator_name)(**change.operator_args)
            with use_mutation(change.module_path, operator, change.occurrence) as (before, after):
                found = "incompetent" if after is None else outcome(tests)
            print(json.dumps(told(change, found, before, after or "")), flush=True)
            noticing |= set(tests if found != "survived" else ())
        # Last, because it takes longest: where they fail without any change, nothing was noticed.
        if noticing and outcome(sorted(noticing)) != "survived":
            sys.exit("the tests fail without any change: what is told above does not count")
        runner.stdin.close()


def told(change, found, before, after):
    """Return what a reader is told of a mutant."""
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=2)
    return {
        "module": change.module_path.name,
        "line": change.start_pos[0],
        "outcome": found,
        "diff": "\n".join([*lines][2:]),
    }


def sample(changes, number, seed, only):
    """Return as many changes as were asked for, each place in the code once, by module.

    Of the places in ``only`` all changes are returned.
    """
    words = {}
    places = {}
    for change in changes:
        path = change.module_path
        if path not in words:
            words[path] = [*spans_of_words(path.read_text())]
        if not any(begin <= change.start_pos < end for begin, end in words[path]):
            places.setdefault((str(path), change.start_pos), []).append(change)
    if only:
        return [change for _, some in sorted(places.items()) for change in some
                if f"{change.module_path.name}:{change.start_pos[0]}" in only]  # fmt: skip
    dice = random.Random(seed)
    chosen = dice.sample(sorted(places), min(number, len(places)))
    drawn = [dice.choice(sorted(places[place], key=str)) for place in chosen]
    return sorted(drawn, key=lambda change: (str(change.module_path), change.start_pos))


def spans_of_words(source):
    """Give where annotations are: nothing reads them, so that no test can notice a change."""
    for node in ast.walk(ast.parse(source)):
        for name in ("annotation", "returns"):
            said = getattr(node, name, None)
            if said is not None:
                yield (said.lineno, said.col_offset), (said.end_lineno, said.end_col_offset)


if __name__ == "__main__":
    main()
