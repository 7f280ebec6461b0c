# Needs python3 (3.11 or newer) and make; everything else is installed into .venv and .venv-bench, which belong to make.

PYTHON ?= python3
SCRIPT ?= examples/tour.py
ARGS ?=
# how many processes run the tests: a number, or auto for one a core
WORKERS ?= auto
# how they share the tests out: each has its stretch, and takes from the others when it is through
DIST ?= worksteal
# the percentage of gradtape/core that CORE_TESTS have to reach, unless ARGS may have chosen some of them
CORE_COVERAGE ?= $(if $(ARGS),0,99)
# what gradtape is compared with; one that cannot be installed is left out of the comparison
RIVALS ?= autograd torch==2.13.0 jax numba
# whose numbers and printed results gradtape's stand-ins, layers and bridges are compared with
ORIGINALS ?= autograd torch==2.13.0 jax tensorflow-cpu pymanopt scikit-learn pytensor

# the libraries whose programs are watched: make watched LIBRARIES="torch==2.4.1 tensorflow-cpu==2.19.1 jax==0.4.30"
LIBRARIES ?= torch==2.13.0 tensorflow-cpu jax

# the two distributions: gradtape, and the stand-ins
PROJECTS := pyproject.toml packages/standins/pyproject.toml gradtape/version.py
DOCTESTS := gradtape packages/standins/gradtape_standins
TESTS := tests packages/standins/tests
# The tests of the core count its coverage, which makes a test take twice its time; no other test does. Random programs
# and programs of very many steps would take minutes, and reach nothing that the rest does not.
UNCOUNTED := tests/semantics/test_memory.py $(wildcard tests/semantics/test_random_*.py)
CORE_TESTS := gradtape/core tests/core $(filter-out $(UNCOUNTED),$(wildcard tests/semantics/test_*.py))

# the Pythons that make dist tries the built distributions with; those that are not there are named
PYTHONS ?= python3.11 python3.12 python3.13 python3.14

VENV := .venv
BENCH_VENV := .venv-bench
ORIGINALS_VENV := .venv-originals
WATCHED_VENV := .venv-watched
OLDEST_VENV := .venv-oldest
NEWEST_VENV := .venv-newest
DIST_VENV := .venv-dist
DOCS_VENV := .venv-docs
# modules are compiled when they are imported, which is a part of those that are installed; once, if what is compiled may
# be written: the tests start hundreds of processes
unexport PYTHONDONTWRITEBYTECODE
PIP := -m pip install --quiet --disable-pip-version-check --no-compile
# changes when the tree moves or PYTHON becomes another one: both leave an environment that points elsewhere
IDENTITY := $(shell { pwd; $(PYTHON) --version; } 2>&1 | cksum | cut -d ' ' -f 1)
CHOICE := $(shell echo '$(RIVALS)' | cksum | cut -d ' ' -f 1)
WATCHED_CHOICE := $(shell echo '$(LIBRARIES)' | cksum | cut -d ' ' -f 1)
ORIGINALS_CHOICE := $(shell echo '$(ORIGINALS)' | cksum | cut -d ' ' -f 1)

.DEFAULT_GOAL := help
.PHONY: help run test machines oldest newest lint style format outputs docs docs-environment examples exam watched watched-environment mutate bench eagerbench jitbench opsbench odebench programs limit training distributed conformance dist clean
.DELETE_ON_ERROR:

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1@/p' Makefile | while IFS=@ read -r target does; do \
		printf '  make %-11s %s\n' "$$target" "$$does"; \
	done

run: $(VENV)/.run ## run SCRIPT (examples/tour.py) with ARGS, and explain: make run SCRIPT=mine.py ARGS="--steps 10"
	@test -f "$(SCRIPT)" || { echo "make run: there is no file $(SCRIPT); give one that exists: make run SCRIPT=mine.py" >&2; exit 1; }
	@$(VENV)/bin/python -m gradtape run "$(SCRIPT)" -- $(ARGS)

# two runs of pytest, each test in one of them; status 5 is that ARGS have chosen no test of a run
test: style ## ruff, then mypy beside all tests: CORE_TESTS with coverage, then the others; ARGS are for both: ARGS="-k sin"
	@$(VENV)/bin/python -m mypy >$(VENV)/mypy.log 2>&1 & typing=$$!; typed=0; counted=0; others=0; \
	run="$(VENV)/bin/python -m pytest -n $(WORKERS) --dist $(DIST) --doctest-modules"; \
	$$run $(CORE_TESTS) \
		--cov=gradtape/core --cov-report=term-missing --cov-fail-under=$(CORE_COVERAGE) $(ARGS) || counted=$$?; \
	$$run $(DOCTESTS) $(TESTS) $(CORE_TESTS:%=--ignore=%) $(ARGS) || others=$$?; \
	wait $$typing || typed=$$?; cat $(VENV)/mypy.log; \
	case "$$typed $$counted $$others" in "0 0 0" | "0 0 5" | "0 5 0") ;; *) exit 1 ;; esac

machines: $(VENV)/.test ## the tests of numbers, as older and newer processors run them; ARGS="--whole Haswell"
	@$(VENV)/bin/python -m tests.machines --workers $(WORKERS) $(ARGS)

oldest: $(OLDEST_VENV)/.test ## the tests with the oldest dependencies that are declared: make oldest PYTHON=python3.11
	$(OLDEST_VENV)/bin/python -m pytest -n $(WORKERS) --dist $(DIST) $(TESTS) $(ARGS)

newest: $(NEWEST_VENV)/.test ## the tests with the newest dependencies that there are: make newest PYTHON=python3.13
	$(NEWEST_VENV)/bin/python -m pytest -n $(WORKERS) --dist $(DIST) $(TESTS) $(ARGS)

lint: style ## ruff and mypy only
	$(VENV)/bin/python -m mypy

style: $(VENV)/.test
	$(VENV)/bin/python -m ruff check
	$(VENV)/bin/python -m ruff format --check

format: $(VENV)/.test ## put the code into the project's style
	$(VENV)/bin/python -m ruff check --fix
	$(VENV)/bin/python -m ruff format

outputs: $(VENV)/.test ## write under the code in README.md and docs/ what it prints now; look at the difference
	$(VENV)/bin/python tests/test_public_names.py
	$(VENV)/bin/python tests/test_coverage_page.py
	$(VENV)/bin/python tests/explain/model/test_pages.py
	$(VENV)/bin/python tests/test_docs.py
	$(VENV)/bin/python -m tools.message_picture
	$(VENV)/bin/python -m tools.report_picture

docs: $(DOCS_VENV)/.docs ## build the site into docs/_build/html, without a network; a warning fails it; ARGS=--fresh
	@$(DOCS_VENV)/bin/python -m tools.docs_site $(ARGS)

docs-environment: $(DOCS_VENV)/.docs

examples: $(VENV)/.test ## run every program of examples/ and its gallery, eager and compiled: ARGS="--only heat,kalman"
	@$(VENV)/bin/python tools/run_examples.py $(ARGS)

ifdef LIBRARY
exam: $(WATCHED_VENV)/.libraries-$(WATCHED_CHOICE)
	@$(WATCHED_VENV)/bin/python exam/run.py --library $(LIBRARY) $(ARGS)
else
exam: $(VENV)/.run ## mark the explanations on the programs of exam/; ARGS="--only GT101", LIBRARY=torch, tensorflow or jax
	@$(VENV)/bin/python exam/run.py $(ARGS)
endif

watched-environment: $(WATCHED_VENV)/.libraries-$(WATCHED_CHOICE)

watched: $(WATCHED_VENV)/.libraries-$(WATCHED_CHOICE) ## the tests of programs for the real LIBRARIES (PyTorch, TensorFlow, JAX)
	@$(WATCHED_VENV)/bin/python -m pytest -n $(WORKERS) --dist $(DIST) tests/watching $(ARGS)

mutate: $(VENV)/.test ## break every rule of the operation table, and see that the tests notice
	@$(VENV)/bin/python -m tests.ops.mutate $(ARGS)

bench: eagerbench jitbench programs ## measure against the RIVALS, in an environment of their own; an hour

eagerbench: $(BENCH_VENV)/.rivals-$(CHOICE) ## of that, eager mode only: ARGS="--rows chain,mlp"
	@$(BENCH_VENV)/bin/python benchmarks/eager.py $(ARGS)

jitbench: $(BENCH_VENV)/.rivals-$(CHOICE) ## of that, compiled functions only
	@$(BENCH_VENV)/bin/python benchmarks/jit.py $(ARGS)

odebench: $(BENCH_VENV)/.rivals-$(CHOICE) ## adaptive differential equations, against diffrax too: RIVALS="jax diffrax"
	@$(BENCH_VENV)/bin/python benchmarks/odes.py $(ARGS)

programs: $(BENCH_VENV)/.rivals-$(CHOICE) ## of that, NumPy programs with writes in place only: ARGS="--only lu,adi"
	@$(BENCH_VENV)/bin/python benchmarks/programs/run.py $(ARGS)

limit: $(BENCH_VENV)/.rivals-$(CHOICE) ## the distance from hand-written C++, and the RIVALS: ARGS="--only gmm,gp --plot limit.svg"
	@$(BENCH_VENV)/bin/python benchmarks/limit/run.py $(ARGS)

training: $(BENCH_VENV)/.rivals-$(CHOICE) ## whole training steps, optimiser included, and the RIVALS: ARGS="--only mlp,lstm"
	@$(BENCH_VENV)/bin/python benchmarks/training.py $(ARGS)

distributed: $(VENV)/.test ## gradients over Dask: the slow tests (workers killed, little memory), then the table of costs; minutes
	@$(VENV)/bin/python -m pytest -m slow tests/distributed
	@$(VENV)/bin/python benchmarks/over_dask.py $(ARGS)

opsbench: $(BENCH_VENV)/.rivals-$(CHOICE) ## the same for single operations
	@$(BENCH_VENV)/bin/python benchmarks/ops.py $(ARGS)

conformance: $(ORIGINALS_VENV)/.originals-$(ORIGINALS_CHOICE) ## compare stand-ins, layers and bridges with the ORIGINALS
	@$(ORIGINALS_VENV)/bin/python packages/standins/tests/conformance.py $(ARGS)
	@$(ORIGINALS_VENV)/bin/python -m tests.nn.conformance
	@$(ORIGINALS_VENV)/bin/python -m tests.bridges.conformance

dist: $(DIST_VENV)/.build ## wheels and sdists of both distributions in dist/, each installed and tried with the PYTHONS
	@rm -rf dist
	@$(DIST_VENV)/bin/python -m build --outdir dist .
	@$(DIST_VENV)/bin/python -m build --outdir dist packages/standins
	@$(DIST_VENV)/bin/python tools/try_distributions.py dist $(PYTHONS)

clean: ## remove the environments, caches and build results
	rm -rf $(VENV) $(BENCH_VENV) $(ORIGINALS_VENV) $(WATCHED_VENV) $(OLDEST_VENV) $(NEWEST_VENV) $(DOCS_VENV) $(DIST_VENV)
	rm -rf docs/_build build dist .coverage .coverage.* htmlcov
	rm -rf .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# -- environments: a stamp file says what is in them, so that a second run starts at once

define make_environment
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "gradtape needs Python 3.11 or newer; '$(PYTHON)' is: $$($(PYTHON) --version 2>&1 || true)" >&2; \
		echo "  fix: name another one, for example: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@echo "creating $(@D)"
	@$(PYTHON) -m venv --clear $(@D) || { \
		echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu it is in the package python3-venv" >&2; exit 1; }
	@touch $@
endef

$(VENV)/.python-$(IDENTITY):
	$(make_environment)

$(BENCH_VENV)/.python-$(IDENTITY):
	$(make_environment)

$(ORIGINALS_VENV)/.python-$(IDENTITY):
	$(make_environment)

$(WATCHED_VENV)/.python-$(IDENTITY):
	$(make_environment)

$(OLDEST_VENV)/.python-$(IDENTITY):
	$(make_environment)

$(NEWEST_VENV)/.python-$(IDENTITY):
	$(make_environment)

$(DIST_VENV)/.python-$(IDENTITY):
	$(make_environment)

$(DOCS_VENV)/.python-$(IDENTITY):
	$(make_environment)

$(VENV)/.run: $(VENV)/.python-$(IDENTITY) $(PROJECTS)
	@echo "installing gradtape and its stand-ins into $(VENV)"
	@$(VENV)/bin/python $(PIP) --editable '.[tour]' --editable packages/standins
	@touch $@

$(VENV)/.test: $(VENV)/.python-$(IDENTITY) $(PROJECTS)
	@echo "installing gradtape, its stand-ins and what their tests need into $(VENV)"
	@$(VENV)/bin/python $(PIP) --editable '.[test]' --editable packages/standins
	@touch $@

$(OLDEST_VENV)/.test: $(OLDEST_VENV)/.python-$(IDENTITY) $(PROJECTS) tests/oldest.txt
	@echo "installing gradtape, its stand-ins, their oldest dependencies and what their tests need into $(OLDEST_VENV)"
	@$(OLDEST_VENV)/bin/python $(PIP) --constraint tests/oldest.txt --editable '.[test]' --editable packages/standins
	@touch $@

$(NEWEST_VENV)/.test: $(NEWEST_VENV)/.python-$(IDENTITY) $(PROJECTS)
	@echo "installing gradtape, its stand-ins, their newest dependencies and what their tests need into $(NEWEST_VENV)"
	@$(NEWEST_VENV)/bin/python $(PIP) --upgrade --upgrade-strategy eager --editable '.[test]' --editable packages/standins
	@touch $@

$(DIST_VENV)/.build: $(DIST_VENV)/.python-$(IDENTITY)
	@$(DIST_VENV)/bin/python $(PIP) build
	@touch $@

$(DOCS_VENV)/.docs: $(DOCS_VENV)/.python-$(IDENTITY) $(PROJECTS)
	@echo "installing gradtape and what builds its site into $(DOCS_VENV)"
	@$(DOCS_VENV)/bin/python $(PIP) --editable '.[dask,docs,gallery,train]'
	@touch $@

# the stamp is left out while something is missing, so that the next run tries again
define install_beside
	@echo "installing gradtape, its stand-ins, $(1) into $(@D)"
	@$(@D)/bin/python $(PIP) --editable '.[test]' --editable packages/standins
	@missing=; for other in $(1); do \
		$(@D)/bin/python $(PIP) "$$other" || missing="$$missing $$other"; \
	done; \
	if test -n "$$missing"; then echo "not installed, and so not compared with:$$missing" >&2; else touch $@; fi
endef

$(BENCH_VENV)/.rivals-$(CHOICE): $(BENCH_VENV)/.python-$(IDENTITY) $(PROJECTS)
	$(call install_beside,$(RIVALS))

$(ORIGINALS_VENV)/.originals-$(ORIGINALS_CHOICE): $(ORIGINALS_VENV)/.python-$(IDENTITY) $(PROJECTS)
	$(call install_beside,$(ORIGINALS))

$(WATCHED_VENV)/.libraries-$(WATCHED_CHOICE): $(WATCHED_VENV)/.python-$(IDENTITY) $(PROJECTS)
	$(call install_beside,$(LIBRARIES))
