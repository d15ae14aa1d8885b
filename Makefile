# `make demo` shows the main job offline; `make test` runs everything that must hold.
# Each makes what it needs. PYTHON: the interpreter for the virtual environment, 3.11 or newer.
# WORKERS: processes that share the tests, by default one a core.
PYTHON ?= python3
WORKERS ?= auto
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint clean
.DELETE_ON_ERROR:

# A stamp is written last, so that whatever breaks off is done again from its beginning.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, but $(PYTHON) is " + sys.version.split()[0] + "; say PYTHON=... to make")'
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.runtime: pyproject.toml $(VENV)/.made
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.made
	$(PIP) -e '.[dev]'
	@touch $(VENV)/.runtime $@

demo: $(VENV)/.runtime ## play an agent's conversation with the scripted model; KEEP=1 stays up
	@$(BIN)/ttsr demo

test: $(VENV)/.dev ## run the whole test suite
	$(BIN)/python -m pytest -n $(WORKERS)

lint: $(VENV)/.dev ## style, formatting, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean: ## remove the virtual environment
	rm -rf $(VENV)
