# Everything a developer runs. On a fresh machine `make demo` and `make test` set up what they need:
# Python 3.11 or newer and make have to be there.

PYTHON ?= python3
ARGS ?=
WHEEL_VENV ?= .venv-wheel
LOWEST_PYTHON ?= $(PYTHON)

BIN := .venv/bin
CLIENTS := tests/clients
ROOMS := vault indexer tools lenses
SOURCES := $(wildcard $(addsuffix /*,$(ROOMS)) $(addsuffix /*/*,$(ROOMS))) $(wildcard README.md) LICENSE pyproject.toml

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The constraints also hold inside isolated builds; newer releases of pip read the second name there.
export PIP_CONSTRAINT := constraints.txt
export PIP_BUILD_CONSTRAINT := constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test test-lowest test-whoosh3 lint format format-check types wheel bench bench-resume screenshots check clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

setup: .venv/.installed ## create .venv with the package, editable, and its development tools

demo: .venv/.installed ## do the main job on a copy of sample-vault and show what it prints
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh docs/demo.sh

test: .venv/.installed $(CLIENTS)/node_modules/.installed .venv/.browser ## run all tests (ARGS="-k word" narrows them)
	$(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

test-lowest: .venv-lowest/.installed ## run the tests of the rooms on the lowest versions that pyproject.toml allows
	.venv-lowest/bin/python -m pytest -n 2 --dist worksteal --hypothesis-profile quick \
		-m "not slow" --ignore tests/end_to_end $(ARGS)

test-whoosh3: .venv-whoosh3/.installed ## run the index and tool tests on whoosh3, the fork of whoosh
	.venv-whoosh3/bin/python -m pytest -n 2 --dist worksteal --hypothesis-profile quick \
		-m "not slow" $(ARGS) tests/indexer tests/tools

lint: .venv/.installed ## look for mistakes with ruff
	$(BIN)/ruff check .

format: .venv/.installed ## lay out the code with ruff
	$(BIN)/ruff format .
	$(BIN)/ruff check --select I --fix .

format-check: .venv/.installed ## fail when `make format` would change something
	$(BIN)/ruff format --check .

types: dist/.built ## check the types, strictly, of the package as installed
	rm -rf build/types
	$(BIN)/python -m zipfile -e dist/*.whl build/types
	cd build/types && ../../$(BIN)/mypy --config-file ../../pyproject.toml --cache-dir ../../.mypy_cache \
		$(addprefix -p zibaldone.,$(ROOMS))

wheel: dist/.built ## build the wheel, install it without development tools, and use it
	rm -rf $(WHEEL_VENV)
	$(call make_venv,$(WHEEL_VENV),$(PYTHON))
	$(WHEEL_VENV)/bin/python -m pip install -q dist/*.whl
	$(WHEEL_VENV)/bin/python -I .ci/check_wheel.py

bench: .venv/.installed ## measure speed and memory
	$(BIN)/python bench/run.py $(ARGS)

bench-resume: .venv/.installed ## measure how workers that are killed go on with their plan
	$(BIN)/python bench/resume.py $(ARGS)

screenshots: .venv/.installed .venv/.browser ## take the pictures of the explorer that the README shows
	$(BIN)/python docs/screenshots.py

check: test lint format-check types wheel ## what has to pass before a commit

clean: ## remove all that the targets above made
	rm -rf .venv .venv-* build dist *.egg-info $(CLIENTS)/node_modules
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find $(ROOMS) tests bench .ci -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call make_venv,folder,python): an empty virtual environment, or a plain word on why there is none.
define make_venv
	@$(2) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or newer is needed, and $(2) is not: try make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(2) -c 'import ensurepip' 2>/dev/null || { $(call apt_install,python3-venv); } || { \
		echo "$(2) has no venv module: install it, on Debian with apt-get install python3-venv" >&2; exit 1; }
	$(2) -m venv $(1)
endef

# $(call apt_install,packages): true when apt could install them, which takes root.
apt_install = [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	&& apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(1)

.venv/.installed: pyproject.toml constraints.txt
	$(call make_venv,.venv,$(PYTHON))
	$(BIN)/python -m pip install -q -e '.[dev]'
	@touch $@

.venv-lowest/.installed: export PIP_CONSTRAINT := constraints-lowest.txt
.venv-lowest/.installed: export PIP_BUILD_CONSTRAINT := constraints-lowest.txt
.venv-lowest/.installed: pyproject.toml constraints-lowest.txt
	$(call make_venv,.venv-lowest,$(LOWEST_PYTHON))
	.venv-lowest/bin/python -m pip install -q --no-compile -e . hypothesis pytest pytest-xdist
	@touch $@

# The two distributions hold the same import package, so that one has to leave before the other comes.
.venv-whoosh3/.installed: pyproject.toml constraints.txt
	rm -rf .venv-whoosh3
	$(call make_venv,.venv-whoosh3,$(PYTHON))
	.venv-whoosh3/bin/python -m pip install -q --no-compile -e . hypothesis pytest pytest-xdist
	.venv-whoosh3/bin/python -m pip uninstall -q -y whoosh
	.venv-whoosh3/bin/python -m pip install -q --no-compile whoosh3
	@touch $@

dist/.built: $(SOURCES) | .venv/.installed
	rm -rf build dist
	$(BIN)/python -m build --outdir dist . >build.log 2>&1 || { cat build.log; exit 1; }
	@rm -f build.log
	@touch $@

# Without npm the tests that need it say so and are skipped; nothing else needs Node.
$(CLIENTS)/node_modules/.installed: $(CLIENTS)/package-lock.json
	@command -v npm >/dev/null || { $(call apt_install,nodejs npm); } || true
	@if command -v npm >/dev/null; then \
		(cd $(CLIENTS) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) && touch $@; \
	else \
		echo "npm is not here: the tests with the TypeScript client and with axe-core will be skipped" >&2; \
	fi

# The tests with a real browser use the system's Chromium; nothing is downloaded from its maker.
.venv/.browser: .venv/.installed
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
		|| { $(call apt_install,chromium); } || true
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null; then \
		touch $@; \
	else \
		echo "Chromium is not here: the tests in a browser will be skipped" >&2; \
	fi
