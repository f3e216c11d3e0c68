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
mvn -B -q -f stack/pom.xml test
step "the harness, the chapters, the book"
"$bin/python" -m pytest "$@"
