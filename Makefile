# Every target makes .venv if it is missing and does all of its own set-up; repeating one does no work twice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEV := $(VENV)/.installed-dev

.PHONY: setup demo test lint docs chromium bench clean

setup: $(DEV)

$(INSTALLED): pyproject.toml constraints.txt hatch_build.py $(wildcard src/streamcoref/model/*.c)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "streamcoref needs Python 3.11 or newer")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet "$$(grep '^torch==' constraints.txt)"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@

# What tests and linters need besides.
$(DEV): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,plots]'
	@touch $@

demo: $(INSTALLED)
	$(BIN)/python examples/demo.py

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint chromium
	$(BIN)/python -m pytest -m "" --numprocesses 2 --dist loadfile

# The site, in build/site: every link is checked, and the reference is made from the docstrings.
docs: $(DEV)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "build/site/index.html"

# For the tests of the page. Where it cannot be had they are skipped, and say so.
chromium:
	@command -v chromium >/dev/null || tests/page/install-chromium

bench: $(VENV)/.installed-bench chromium
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

$(VENV)/.installed-bench: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
