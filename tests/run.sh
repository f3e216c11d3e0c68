#!/usr/bin/env bash
# Every test, cheapest first: style, types, the stack in Java, the harness and the book in Python.
# Tests that start servers run one after the other: only one may measure on a machine at a time.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${CONDA_DEFAULT_ENV:-}" = sizebook ]; then bin=$CONDA_PREFIX/bin; else bin=${VENV:-.venv}/bin; fi

step() { printf '\n== %s\n' "$*"; }

step style
"$bin/ruff" check .
"$bin/ruff" format --check .
step types
"$bin/mypy"
step "the reference stack"
mvn -B -q -f stack/pom.xml test -DargLine=-XX:TieredStopAtLevel=1  # each lives for seconds
if [ $# -gt 0 ]; then
  step "pytest $*"
  exec "$bin/python" -m pytest "$@"
fi
serial=(tests/chapters tests/load tests/stack)
step "the harness and the book"
failed=0
"$bin/python" -m pytest -n 2 --dist loadfile "${serial[@]/#/--ignore=}" || failed=$?
step "loads, the stack, the chapters"
"$bin/python" -m pytest "${serial[@]}" || failed=$?
exit "$failed"
