# Every target works from a fresh clone with only make and python3.
# Paths are relative, and tools run as modules, so that the folder's name may hold spaces.

PYTHON ?= python3
PY := .venv/bin/python
PIP := $(PY) -m pip -qq
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests are read much faster from Python's caches, which clean removes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow lint bench clean
.DELETE_ON_ERROR:

demo: .venv/.installed
	$(PY) -m maxmargin.demo

# A file stays in one process, so that what its tests share, and the kernels they compile, are made once.
test: .venv/.installed
	$(PY) -m pytest -q -n auto --dist loadfile

test-slow: .venv/.installed
	MAXMARGIN_THOROUGH=1 $(PY) -m pytest -m "slow or data or thorough"

lint: .venv/.installed
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy src benchmarks/loaders

bench: .venv/.installed-bench
	$(PY) -m benchmarks

# Caches and outputs only; delete the folder .venv as well to start from nothing.
clean:
	rm -rf build dist plots .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . \( -name .venv -o -name .git \) -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

# The stamps are older than pyproject.toml exactly when an installation is due.
.venv/.installed: pyproject.toml
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
