# Two commands on a fresh machine with Python 3.11: `make demo` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
SOURCES := calibration vision tracking referee railbird sample_videos tests

.PHONY: demo test lint types check footage clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV) || { echo "needs Python 3.11 with venv: apt-get install python3.11-venv"; exit 2; }
	$(BIN)/pip install --quiet --upgrade pip

$(VENV)/.core: $(BIN)/python pyproject.toml
	$(BIN)/pip install --quiet -e .
	touch $@

# torch and torchvision first and together: ultralytics alone would take whichever it meets.
$(VENV)/.all: $(VENV)/.core pyproject.toml
	$(BIN)/pip install --quiet 'torch<=2.14.1' 'torchvision<=0.29.1'
	$(BIN)/pip install --quiet -e '.[all]'
	touch $@

demo: $(VENV)/.core
	$(BIN)/railbird demo

test: $(VENV)/.all
	$(BIN)/python -m pytest -q -m "not footage and not slow"

lint: $(VENV)/.all
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: $(VENV)/.all
	$(BIN)/mypy

check: test lint types

# Real clips and long measurements: they need the footage, which does not ship (see docs/measured.md).
footage: $(VENV)/.all
	$(BIN)/python -m pytest -q -m "footage or slow"

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache
