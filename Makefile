# Every command has one door, and CI goes through the same doors as a person. `make help` lists them.

.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

# PYTHON=... chooses another interpreter, 3.11 or newer.
PYTHON ?= python3
VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export UV_PYTHON_DOWNLOADS := never
export UV_COMPILE_BYTECODE := 1
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

# One stamp for each set that is installed: nothing changed, nothing to do.
UV_SET := $(VENV)/.set-uv
DEV_SET := $(VENV)/.set-dev
RUN_SET := $(VENV)/.set-run

.PHONY: help
help: ## list the doors
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

.PHONY: setup
setup: $(DEV_SET) ## make .venv with everything for development; leaves .venv/bin/milepost
	@echo "ready: $(VENV)/bin/milepost"

.PHONY: demo
demo: $(if $(wildcard $(DEV_SET)),$(DEV_SET),$(RUN_SET)) ## start the demonstration; Ctrl-C ends it
	@exec $(VENV)/bin/milepost demo $(ARGS)

.PHONY: check
check: $(DEV_SET) ## format, lint, types, import contracts, tracked files
	@scripts/check

.PHONY: test
test: check ## the checks, then every test; ARGS="tests/domain -k retry" narrows
	@scripts/parts
	@pytest $(ARGS)

.PHONY: format
format: $(DEV_SET) ## let ruff rewrite what it can
	@ruff format
	@ruff check --fix

.PHONY: bench
bench: $(DEV_SET) ## measure; prints its numbers
	@python -m bench $(ARGS)

.PHONY: schema
schema: $(DEV_SET) ## write schema/ anew from the code; the tests compare
	@scripts/schema

.PHONY: lock
lock: $(UV_SET) ## renew requirements/*.txt from pyproject.toml; ARGS=--upgrade takes newer versions
	@scripts/lock $(ARGS)

.PHONY: changelog
changelog: $(DEV_SET) ## show the next release's notes; VERSION=1.2.3 writes them
	@towncrier build $(if $(VERSION),--yes --version $(VERSION),--draft --version next)

.PHONY: clean
clean: ## remove .venv and what tools left behind
	@rm -rf $(VENV) build dist htmlcov .coverage* .hypothesis .import_linter_cache .pytest_cache .ruff_cache

$(UV_SET): requirements/uv.txt
	@PYTHON=$(PYTHON) scripts/venv $(VENV)
	@touch $@

# A set that grows another also marks the smaller one as present.
$(DEV_SET): requirements/dev.txt pyproject.toml $(UV_SET)
	@uv pip install --quiet --require-hashes -r requirements/dev.txt
	@uv pip install --quiet --no-deps --no-build-isolation -e .
	@touch $(RUN_SET) $@

$(RUN_SET): requirements/run.txt pyproject.toml $(UV_SET)
	@uv pip install --quiet --require-hashes -r requirements/run.txt
	@uv pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@
