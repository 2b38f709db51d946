"""The settings that a checkpoint belongs to (parameters, data, software), and descriptions of their differences."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from maxmargin.solvers.base import Solver
from maxmargin.training.checkpoints.user_code import comparable

PACKAGES = ("maxmargin", "numpy", "scipy", "numba")
DATA = "data"  # the name of the fingerprint of the data
CODE = "code"  # the name of the hash of the user's classes and functions
SHORT = 60  # the most characters of a value that is shown
# Parameters that may differ when a fit continues: they affect no result, or only when training ends.
FREE = frozenset(
    (
        "callback",
        "checkpoint",
        "checkpoint_every",
        "executor",
        "max_iter",
        "max_passes",
        "n_jobs",
        "verbose",
        "warm_start",
    )
)


def described(parameters: dict[str, Any]) -> dict[str, str]:
    """Return the parameters that affect the result, as texts that are equal if and only if the values are equal."""
    return {name: _text(value) for name, value in parameters.items() if name not in FREE}


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Solver):
        return described_solver(value)
    import joblib

    try:
        return f"{type(value).__name__} {joblib.hash(value)}"
    except Exception:  # objects that cannot be pickled are described by their class
        return type(value).__name__


def described_solver(solver: Solver) -> str:
    """Return a text that names a solver and all of its options that affect the result."""
    options = ", ".join(f"{name}={text}" for name, text in described(solver.get_params()).items())
    return f"{type(solver).__name__}({options})"


def difference(before: dict[str, str], now: dict[str, str]) -> str | None:
    """Return the first parameter that differs, with both values if they can be shown, or None."""
    for name in sorted(set(before) | set(now)):
        old, new = before.get(name), now.get(name)
        if old != new and name == CODE:
            if old is not None and new is not None and not comparable(old, new):
                continue  # another version of Python, which `surroundings` reports
            return "the code of the task, or of a function or class that it uses, has been changed"
        if old != new and name == DATA:
            return "the data differ (inputs, outputs, their weights, or the data that the task derives from them)"
        if old != new:
            shown = old is not None and new is not None and max(len(old), len(new)) <= SHORT
            return f"{name} was {old} and is now {new}" if shown else f"{name} differs"
    return None


def surroundings() -> dict[str, str]:
    """Return versions and the processor, which may affect the last bits of a result."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "processor": _processor(),
    }


def _processor() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        told = ""
    names = [line.partition(":")[2].strip() for line in told.splitlines() if line.startswith("model name")]
    return f"{platform.machine()} {names[0] if names else platform.processor()}".strip()
