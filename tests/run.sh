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
step "the harness and the book; beside them loads and the stack, which wait more than they compute"
beside=$(mktemp -dt sb.XXX)  # the lock of who measures lies among temporary files
chmod 755 "$beside"          # the database runs as somebody else; short, for its socket's sake
set -m                       # a job of its own heeds Ctrl-C, as the tests of it expect
TMPDIR=$beside "$bin/python" -m pytest "$slowest" tests/load tests/stack >"$beside/log" 2>&1 &
later=$!
set +m
trap 'kill -- "-$later" 2>/dev/null || true; rm -rf "$beside"' EXIT
apart=(tests/bench tests/chapters tests/load tests/stack)
"$bin/python" -m pytest "$slowest" -n 2 --dist loadfile "${apart[@]/#/--ignore=}" || failed=$?
wait "$later" || failed=$?
cat "$beside/log"
step "what judges times, alone: benchmarks and chapters"
"$bin/python" -m pytest "$slowest" tests/bench tests/chapters || failed=$?
exit "$failed"
