# Every target works from a fresh clone with only make and python3.
# Paths are relative, and tools run as modules, so that the folder's name may hold spaces.

PYTHON ?= python3
PY := .venv/bin/python
PIP := $(PY) -m pip -qq
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests are read much faster from Python's caches, which clean removes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test proofs test-data test-lowest lint bench docs dist clean
.DELETE_ON_ERROR:

demo: .venv/.installed
	$(PY) -m maxmargin.demo

# Tests that share compiled kernels stay in one process (tests/scheduling.py).
PYTEST := -m pytest -q -n auto

test: .venv/.installed
	$(PY) $(PYTEST)

# All that needs no data set and is not in make test: variants, pages, attacks, digests, more examples of properties;
# and all campaigns of docs/explanation/reliability.md; and the site, whose packages are therefore needed.
proofs: .venv/.installed-docs
	MAXMARGIN_THOROUGH=1 $(PY) $(PYTEST) -m "(slow or thorough) and not data"

# What reads the data sets in the folder that MAXMARGIN_DATA names.
test-data: .venv/.installed
	MAXMARGIN_THOROUGH=1 $(PY) $(PYTEST) -m data

# The lowest versions that pyproject.toml allows. Old packages may warn of what newer Python or packages deprecate, and an
# old hypothesis of random generators that other packages register.
test-lowest: .venv-lowest/.installed
	NUMBA_CACHE_DIR="$(CURDIR)/.venv-lowest/kernels" .venv-lowest/bin/python $(PYTEST) -W ignore::DeprecationWarning -W "ignore:It looks like"

lint: .venv/.installed
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy src benchmarks/loaders

bench: .venv/.installed-bench
	$(PY) -m benchmarks

# The site: build/docs/index.html. No network is needed, warnings are errors, and the examples of the gallery are run.
docs: .venv/.installed-docs
	MPLBACKEND=agg $(PY) -m sphinx -q -W --keep-going -b html -d build/doctrees docs build/docs
	@$(PY) docs/building/check_site.py build/docs

# The files of a release, built and tried: dist has what is published, build/release the notes and the recipe for conda-forge.
dist: .venv/.installed-release
	$(PY) release/build_release.py

# Caches and outputs only; delete the folders .venv and .venv-lowest as well to start from nothing.
clean:
	rm -rf build dist plots docs/gallery docs/reference/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . \( -name '.venv*' -o -name .git \) -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

# The stamps are older than pyproject.toml, or than the file with the version, exactly when an installation is due.
.venv/.installed: pyproject.toml src/maxmargin/__init__.py
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	  echo "$(PYTHON) cannot create virtual environments: install its venv module (on Debian and Ubuntu the package python3-venv) and run make again." >&2; \
	  exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv .venv
	@echo "Installing maxmargin and its tools into .venv ..."
	@$(PIP) install -e '.[dev]'
	@touch $@

.venv/.installed-bench: .venv/.installed
	@echo "Installing the benchmark's packages into .venv ..."
	@$(PIP) install -e '.[bench]'
	@touch $@

.venv/.installed-docs: .venv/.installed
	@echo "Installing the packages that build the site into .venv ..."
	@$(PIP) install -e '.[docs]'
	@touch $@

.venv/.installed-release: .venv/.installed
	@echo "Installing the tools that build a release into .venv ..."
	@$(PIP) install -e '.[release]'
	@touch $@

.venv-lowest/.installed: pyproject.toml .ci/lowest.py
	@.venv-lowest/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv .venv-lowest
	@echo "Installing maxmargin and the lowest versions that it allows into .venv-lowest ..."
	@.venv-lowest/bin/python .ci/lowest.py > .venv-lowest/constraints.txt
	@.venv-lowest/bin/python -m pip -qq install --only-binary :all: -c .venv-lowest/constraints.txt -e '.[test]'
	@touch $@
