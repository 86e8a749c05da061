# `make play` and `make test` need no other set-up: each creates .venv if it is missing or out of date.

.DELETE_ON_ERROR:
.PHONY: help play table test test-all checked kernels fuzz coverage check format lock clean

VENV := .venv
RUN := $(VENV)/bin/python -m
# pip shows progress on a terminal, but never on stdout, which is for the program's output. Python compiles what is
# imported, a tenth of what is installed.
PIP_INSTALL := $(RUN) pip install --disable-pip-version-check --no-compile $(shell [ -t 2 ] || echo --quiet)
# The lock files list everything that is needed, so pip need not look for more; riichienv declares packages that only
# its viewer for notebooks imports.
INSTALL_LOCKED = $(PIP_INSTALL) --no-deps --require-hashes --requirement
# torch comes in many builds, each with hashes of its own, and the user's pip configuration chooses one.
INSTALL_TORCH := $(PIP_INSTALL) '$(shell sed -n 's/^ *"\(torch[^"]*\)",/\1/p' pyproject.toml)'
# Built by the locked setuptools.
INSTALL_SUZAKU := $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
LOCK := $(RUN) uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
    --no-emit-package torch --custom-compile-command 'make lock' pyproject.toml
# The first of these that runs and is new enough creates .venv; `make PYTHONS=/path/to/python3 play` uses another.
PYTHONS := python3 python3.14 python3.13 python3.12 python3.11
NEW_ENOUGH := -c 'import sys; sys.exit(sys.version_info < (3, 11))'

# Duration of `make fuzz`, and of the fuzz test within `make test-all`.
SECONDS := 600
# pytest starts a process per core; threads of their networks beside them only wait for each other.
ONE_THREAD := OMP_NUM_THREADS=1
# Each process gets tests that lie together, so that what a file's tests share is mostly made once.
ALL_CORES := -n auto --dist worksteal

# Every process of the tests would otherwise compile our sources again.
unexport PYTHONDONTWRITEBYTECODE

# If the environment's Python has been moved or removed, create the environment again.
ifneq ($(shell $(VENV)/bin/python $(NEW_ENOUGH) 2>/dev/null && echo usable),usable)
.PHONY: $(VENV)/.made
endif

help:
	@echo 'make play        play one hanchan against the built-in lobby (ARGS="--games 2" adds flags)'
	@echo 'make table       play against it in the browser'
	@echo 'make test        all checks, then the tests'
	@echo 'make test-all    the same with the slow tests, coverage, and SECONDS of fuzzing'
	@echo 'make fuzz        search for frames that break the Tenhou session (SECONDS=3600 for an hour)'
	@echo 'make coverage    lines and branches that the last `make test-all` did not reach'
	@echo 'make check       formatting, lint, types and import rules only'
	@echo 'make format      format the code'
	@echo 'make lock        pin the newest packages that pyproject.toml allows'
	@echo 'make clean       remove .venv and everything built or cached here (keeps records)'

play: $(VENV)/.ready-to-play
	@$(RUN) bot.cli play $(ARGS)

table: $(VENV)/.ready-to-play
	@$(RUN) bot.cli table $(ARGS)

test: checked
	$(ONE_THREAD) $(RUN) pytest $(ALL_CORES) $(ARGS)

test-all: checked
	FUZZ_SECONDS=$(SECONDS) HYPOTHESIS_PROFILE=full $(ONE_THREAD) $(RUN) pytest $(ALL_CORES) -m '' --cov --cov-report= $(ARGS)
	@$(RUN) tests.coverage_floor

# pip and mypy use one core and the last kernels leave one idle, so they run side by side.
checked: $(VENV)/.ready-to-play
	@$(MAKE) --no-print-directory --jobs 2 check kernels

# Compiled once by all cores, not by each of the test processes. Says no more, so that what `check` prints beside
# it stays together.
kernels: $(VENV)/.ready-to-play
	@echo 'Compiling kernels (takes minutes the first time) …'
	@$(RUN) game.warmup > /dev/null

coverage: $(VENV)/.ready-to-test
	$(RUN) coverage report --show-missing

fuzz: $(VENV)/.ready-to-test
	$(RUN) tests.fuzz --seconds $(SECONDS) $(ARGS)

check: $(VENV)/.ready-to-test
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) mypy
	$(VENV)/bin/lint-imports --no-logo

format: $(VENV)/.ready-to-test
	$(RUN) ruff format .
	$(RUN) ruff check --fix .

$(VENV)/.ready-to-play: $(VENV)/.made pyproject.toml requirements/play.txt
	@echo 'Installing Suzaku and its dependencies into $(VENV) (takes minutes the first time) …' >&2
	@$(INSTALL_LOCKED) requirements/play.txt >&2
	@$(INSTALL_TORCH) >&2
	@$(INSTALL_SUZAKU) >&2
	@touch $@

$(VENV)/.ready-to-test: $(VENV)/.ready-to-play requirements/test.txt
	@echo 'Installing test dependencies into $(VENV) …' >&2
	@$(INSTALL_LOCKED) requirements/test.txt >&2
	@touch $@

$(VENV)/.made:
	@for python in $(PYTHONS); do \
	    if $$python $(NEW_ENOUGH) 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo 'Suzaku needs Python 3.11 or newer, with venv; none of these qualifies: $(PYTHONS).' >&2; \
	    echo 'Install one, or specify yours: make PYTHONS=/path/to/python3 play' >&2; \
	    exit 1; \
	fi; \
	$$found -m venv --clear $(VENV)
	@touch $@

# `make play` gets the same versions as `make test`.
lock: $(VENV)/.made
	$(PIP_INSTALL) 'uv>=0.9'
	$(LOCK) --extra dev --output-file requirements/test.txt
	$(LOCK) --constraints requirements/test.txt --output-file requirements/play.txt

clean:
	rm -rf $(VENV) build dist *.egg-info .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find bot game kit learning policies replays suzaku tests -name __pycache__ -type d -prune -exec rm -rf {} +
