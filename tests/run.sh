#!/usr/bin/env bash
# Every test, cheapest first: style, types, the stack in Java, the harness and the book in Python.
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
failed=0
slowest=--durations=20
step "the harness and the book; beside them loads, and the stack, which wait more than they compute"
jobs=()
logs=$(mktemp -dt sb.XXX)
beside() {  # tests say that they need not be alone on the machine (tests/conftest.py)
  "$bin/python" -m pytest "$slowest" "tests/$1" >"$logs/$1" 2>&1 &
  jobs+=("$!")
}
trap 'for job in "${jobs[@]}"; do kill -- "-$job" 2>/dev/null || true; done
  rm -rf "$logs"' EXIT
set -m  # a job of its own heeds Ctrl-C, as the tests of it expect
beside load
beside stack
set +m
apart=(tests/bench tests/chapters tests/load tests/stack)
"$bin/python" -m pytest "$slowest" -n 2 --dist loadfile "${apart[@]/#/--ignore=}" || failed=$?
for job in "${jobs[@]}"; do wait "$job" || failed=$?; done
cat "$logs/load" "$logs/stack"
step "what judges times, alone: benchmarks and chapters"
"$bin/python" -m pytest "$slowest" tests/bench tests/chapters || failed=$?
exit "$failed"
