# The command line does the work; these are its short names. `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help setup book test quick lab chapter build pdf audit publish doctor bench clean lint

PROFILE ?= quick
# Time until the book is ready: minutes, hours such as 8h, or none. The smoke profile has no limit.
BUDGET ?= 60
BEGAN := $(shell date +%s)
# FROM=published takes what came with the book: no Java, no database, nothing is measured.
FROM ?=
# Targets that measure and test nothing are set up as for FROM=published.
MEASURES_NOT := build pdf audit publish
SETUP_FROM = $(if $(filter-out $(MEASURES_NOT),$(MAKECMDGOALS)),$(FROM),published)
SOURCE ?= $(or $(FROM),measure)
ARGS ?=
VENV ?= .venv
# Compiled modules are kept in $(VENV) whatever the caller prefers elsewhere: set-up compiles none of
# them, and each process would compile all that it imports again, for seconds.
unexport PYTHONDONTWRITEBYTECODE
# An active conda environment made from environment.yml is used as it is.
BIN := $(if $(filter sizebook,$(CONDA_DEFAULT_ENV)),$(CONDA_PREFIX)/bin,$(VENV)/bin)
SIZEBOOK := $(BIN)/sizebook

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## /  make \1\t/' | expand -t 18

setup:  ## install what is missing: Python packages by hash, the stack's build, Debian packages
	@VENV=$(VENV) PEERS=$(filter bench,$(MAKECMDGOALS)) FROM=$(SETUP_FROM) CHAPTER=$(CHAPTER) bash env/setup.sh

book: setup  ## measure what decides most in BUDGET=60 minutes (8h, none; FROM=published: 0), build
ifneq (,$(FROM)$(filter smoke,$(PROFILE))$(filter none,$(BUDGET)))
	@$(SIZEBOOK) run --profile $(PROFILE) --source $(SOURCE) $(ARGS)
	@$(SIZEBOOK) build $(if $(FROM),--fill)
else
	@$(SIZEBOOK) book --profile $(PROFILE) --budget "$(BUDGET)" --since $(BEGAN) $(ARGS)
endif

chapter: setup  ## measure one chapter and build: make chapter CHAPTER=odata-rest PROFILE=quick
	@$(SIZEBOOK) run $(or $(CHAPTER),$(error name the chapter: make chapter CHAPTER=odata-rest)) \
	  --profile $(PROFILE) --source $(SOURCE) $(ARGS)
	@$(SIZEBOOK) build --fill

build: setup  ## build the site from the executed notebooks
	@$(SIZEBOOK) build $(ARGS)

pdf: setup  ## build the site and print the whole book: _build/sizebook.pdf (needs Chromium)
	@$(SIZEBOOK) build --pdf $(ARGS)

audit: setup  ## recompute every figure, table, number and claim from bundles, and compare
	@$(SIZEBOOK) audit $(ARGS)

publish: setup  ## put the own run into a round: make publish ROUND=2026-01-31 ARGS="--sign KEY"
	@$(SIZEBOOK) publish --round $(or $(ROUND),$(error name the round: ROUND=2026-01-31)) $(ARGS)

lab: setup  ## open the notebooks in JupyterLab
	@$(BIN)/jupyter lab --notebook-dir=. $(if $(filter 0,$(shell id -u)),--allow-root) $(ARGS)

test: setup  ## run every test, or those that are named: make test ARGS=tests/stats
	@bash tests/run.sh $(ARGS)

quick: setup  ## check style and types, run the tests without JVM, database, browser, root, load, site
	@bash tests/run.sh --quick $(ARGS)

lint: setup  ## check style and types only
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

doctor: setup  ## say what this machine has and lacks
	@$(SIZEBOOK) doctor $(ARGS)

bench: setup  ## measure the harness beside its peers: make bench ARGS="ceiling truth"
	@$(BIN)/python -m bench $(ARGS)

clean:  ## remove built and cached files; measurements in data/ stay
	rm -rf _build build dist .sizebook stack/target book/chapters .pytest_cache .mypy_cache .ruff_cache
