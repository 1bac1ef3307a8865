# What a contributor runs; `make` alone lists it. Needed beforehand: make, pip and Python 3.11 or newer.

PYTHON ?= python3
VENV ?= .venv
DEMO_VENV ?= .venv-demo
WORKERS ?= 2
ARGS ?=

STAMP := $(VENV)/.installed
DEMO_STAMP := $(DEMO_VENV)/.installed

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo venv test check format bench faults clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile
	@echo '  settings: PYTHON=$(PYTHON) VENV=$(VENV) DEMO_VENV=$(DEMO_VENV) WORKERS=$(WORKERS) ARGS="-k name" (for test)'

demo: $(DEMO_STAMP) ## its own venv, every preset checked as a tiny twin, then text to trained encoder to report
	"$(DEMO_VENV)/bin/litebert" demo

venv: $(STAMP) ## the venv that test, check, format and bench use

test: $(STAMP) ## run every test (one torch thread a worker: more would fight over the cores)
	OMP_NUM_THREADS=1 "$(VENV)/bin/python" -m pytest -n "$(WORKERS)" $(ARGS)

check: $(STAMP) ## lint, formatting and types
	"$(VENV)/bin/python" -m ruff check src tests
	"$(VENV)/bin/python" -m ruff format --check src tests
	"$(VENV)/bin/python" -m mypy

format: $(STAMP) ## mend what can be mended by a program
	"$(VENV)/bin/python" -m ruff check --fix --quiet src tests
	"$(VENV)/bin/python" -m ruff format src tests

bench: $(STAMP) ## our forward pass beside that of transformers
	"$(VENV)/bin/litebert" bench forward --size base

faults: $(STAMP) ## 200 kills of training, 20 of data builds, and 1 → 2 → 4 → 1 processes: is the end the same?
	rm -rf runs/faults
	"$(VENV)/bin/litebert" bench kills --kills 200 --folder runs/faults
	"$(VENV)/bin/litebert" bench elastic
	"$(VENV)/bin/litebert" bench faults runs/faults/text --tokenizer runs/faults/tokenizer --kills 20 --shard-tokens 500

clean: ## remove .venv, .venv-demo, caches and builds (runs/ stays)
	rm -rf .venv .venv-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist src/*.egg-info
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp comes last, so that an installation that was cut short is taken up again.
EXTRA :=
$(STAMP): EXTRA := [dev]
$(DEMO_STAMP): EXTRA := [train]
$(STAMP) $(DEMO_STAMP): pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'make: $(PYTHON) is missing or older than 3.11: install Python 3.11 or set PYTHON=...' >&2; exit 1; }
	@echo 'make: installing .$(EXTRA) into $(@D) (minutes at first: PyTorch is large)'
	@"$(PYTHON)" -m venv "$(@D)" || \
	  { echo 'make: no virtual environment could be made: on Debian and Ubuntu, apt install python3-venv' >&2; exit 1; }
	@"$(@D)/bin/python" -m pip install --quiet --editable '.$(EXTRA)'
	@touch "$@"
