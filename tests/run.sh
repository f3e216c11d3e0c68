#!/usr/bin/env bash
# The tests: all of them, those that are quick (--quick), or those that are named.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${CONDA_DEFAULT_ENV:-}" = sizebook ]; then bin=$CONDA_PREFIX/bin; else bin=${VENV:-.venv}/bin; fi
unset PYTHONDONTWRITEBYTECODE  # each process would compile all tests again

step() { printf '\n== %s\n' "$*"; }

lint() {
  step style
  "$bin/ruff" check .
  "$bin/ruff" format --check .
  step types
  "$bin/mypy"
}

case ${1:-} in
  --quick)
    shift
    lint
    none="not (browser or database or jvm or measure or root or site)"
    step "tests that need nothing beside Python: $none"
    exec "$bin/python" -m pytest -n "${WORKERS:-3}" -m "$none" "$@"
    ;;
  '')
    lint
    # No test judges time, and many wait for what others compute: two processes a CPU.
    step "all tests: harness, stack, chapters, book, and the stack's own in Java"
    exec "$bin/python" -m pytest -n "${WORKERS:-$((2 * $(nproc)))}"
    ;;
  *)
    step "pytest $*"
    exec "$bin/python" -m pytest "$@"
    ;;
esac
