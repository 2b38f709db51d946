"""A self-check of the accelerating modules with the installed versions of numba and llvmlite; see accelerated.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.compiled import prefetch_instruction, vector_instructions
from maxmargin.base.compiled.inlined_kernels import inlined


def check() -> None:
    """Compile a kernel that calls another one and uses the instructions; raise an exception if its result is wrong."""
    half: Any = inlined(lambda x: 0.5 * x, cache=False)
    fetch: Any = prefetch_instruction.fetch
    label_maxima: Any = vector_instructions.label_maxima
    weight: Any = vector_instructions.weight

    def best(values: Any, table: Any, limits: Any, row: Any) -> Any:
        fetch(values, 0, len(values))
        label_maxima(values, np.uint64(len(values)), table, np.uint64(len(row)), row)
        return half(weight(row, limits, np.uint64(1)))

    row, table = np.zeros(5), np.arange(10.0).reshape(2, 5)
    found = inlined(best, cache=False)(np.array([7.0, 1.0]), table, (0.0, 6.0), row)
    if found != 3.0 or row.tolist() != [7.0, 8.0, 9.0, 10.0, 11.0] or half.signatures:
        raise RuntimeError("accelerated kernels do not work with this version of numba")
