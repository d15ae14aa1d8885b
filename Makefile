# `make demo` shows the main job offline; `make test` runs everything that must hold.
# `make test-agents` drives real agents. Each makes what it needs.
# PYTHON: the interpreter for the virtual environments, 3.11 or newer (aider: up to 3.12).
# WORKERS: processes that share the tests, by default one a core.
PYTHON ?= python3
WORKERS ?= auto
# SEED: of another order of the tests; whatever it is, the same tests pass.
ORDER := $(if $(SEED),--random-order-bucket=module --random-order-seed=$(SEED))
# ROUNDS: how often `make bench` measures each figure. PEERS: those beside which it is measured, of
# the files in bench/peers; without, all of them. REPORT: where it writes.
ROUNDS ?= 3
PEERS ?= $(subst _,-,$(filter-out __init__,$(basename $(notdir $(wildcard bench/peers/*.py)))))
REPORT ?= bench/report.md
# MINUTES: how long `make soak` runs.
MINUTES ?= 30
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-agents lint docs bench soak clean
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
	$(BIN)/python -m pytest -n $(WORKERS) $(ORDER)

# Real agents, each in an environment of its own: they pin what the others cannot use.
AGENTS := .agents-node/.made $(addprefix .agents-venv/,$(addsuffix /.made,aider mini-swe-agent))

.agents-node/.made: tests/agents/package.json
	@command -v npm >/dev/null || { echo 'Node.js 20 or newer with npm is needed to run the agents' >&2; exit 1; }
	mkdir -p $(@D)
	cp $< $(@D)
	npm install --prefix $(@D) --no-audit --no-fund --no-package-lock --ignore-scripts
	@# The one script that is run: it puts the binary of this machine into its place.
	node $(@D)/node_modules/opencode-ai/postinstall.mjs
	@touch $@

.agents-venv/%/.made: tests/agents/requirements-%.txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

test-agents: $(VENV)/.dev $(AGENTS) ## drive real coding agents through the proxy; needs Node and npm
	$(BIN)/python -m pytest tests/agents

lint: $(VENV)/.dev ## style, formatting, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.dev ## write the documents that are made from the code
	$(BIN)/python -m tests.support.command_docs > docs/commands.md
	$(BIN)/python -m tests.support.rule_docs docs/rules.md
	$(BIN)/python -m tests.support.agent_docs docs/agents.md

# Peers, each in an environment of its own. One that cannot be installed stops nothing: the report
# has the reason from its log. PYTHON_NAME is the interpreter of a peer that wants another.
PYTHON_forge ?= $(shell for newer in python3.13 python3.12; do $$newer -c '' 2>/dev/null && echo $$newer && break; done)

.bench-venv/%/.made: bench/peers/requirements-%.txt
	@mkdir -p .bench-venv
	$(or $(PYTHON_$*),$(PYTHON)) -m venv --clear $(@D)
	-$(@D)/bin/python -m pip install --disable-pip-version-check -r $< >.bench-venv/$*.log 2>&1
	@touch $@

INSTALLED_PEERS := $(patsubst bench/peers/requirements-%.txt,%,$(wildcard bench/peers/requirements-*.txt))

bench: $(VENV)/.dev $(patsubst %,.bench-venv/%/.made,$(filter $(INSTALLED_PEERS),$(PEERS))) ## what matching and relaying cost, as a report
	$(BIN)/python -m bench --rounds $(ROUNDS) --out $(REPORT) --peers '$(PEERS)'

soak: $(VENV)/.dev ## one proxy under mixed faults for MINUTES, every stream judged
	$(BIN)/python -m bench.soak --minutes $(MINUTES)

clean: ## remove what was installed
	rm -rf $(VENV) .agents-node .agents-venv .bench-venv bench/build
