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
beside() {  # of each: who measures has a lock among temporary files, so each has its own of them
  TMPDIR=$1 "$bin/python" -m pytest "$slowest" "tests/$2" >"$1/log" 2>&1 &
  jobs+=("$!")
}
load=$(mktemp -dt sb.XXX) stack=$(mktemp -dt sb.XXX)  # short, for the database's socket's sake
chmod 755 "$load" "$stack"                            # the database runs as somebody else
trap 'for job in "${jobs[@]}"; do kill -- "-$job" 2>/dev/null || true; done
  rm -rf "$load" "$stack"' EXIT
set -m  # a job of its own heeds Ctrl-C, as the tests of it expect
beside "$load" load
beside "$stack" stack
set +m
apart=(tests/bench tests/chapters tests/load tests/stack)
"$bin/python" -m pytest "$slowest" -n 2 --dist loadfile "${apart[@]/#/--ignore=}" || failed=$?
for job in "${jobs[@]}"; do wait "$job" || failed=$?; done
cat "$load/log" "$stack/log"
step "what judges times, alone: benchmarks and chapters"
"$bin/python" -m pytest "$slowest" tests/bench tests/chapters || failed=$?
exit "$failed"
