"""Solutions of counting-based training in checkpoints."""

from __future__ import annotations

from typing import Any

from maxmargin.base.files.fields import NumberArray
from maxmargin.base.files.objects import fields_of, restored
from maxmargin.counting.certificate import CountingCertificate
from maxmargin.counting.linear_system import CountingSolution


def plain_solution(solution: CountingSolution) -> dict[str, Any]:
    """Return a solution as plain data."""
    fields = fields_of(CountingCertificate) or {}
    certificate = {name: getattr(solution.certificate, name) for name in fields}
    return {"coefficients": solution.coefficients, "certificate": certificate}


def read_solution(found: Any, shape: tuple[int, int]) -> CountingSolution:
    """Return a solution with coefficients of this shape from the data of a file, or raise a ValueError."""
    if not isinstance(found, dict) or set(found) != {"coefficients", "certificate"}:
        raise ValueError("the checkpoint has a finished training run without a solution")
    if not isinstance(found["certificate"], dict):
        raise ValueError("the checkpoint has no certificate")
    coefficients = NumberArray(float, *shape).read(found["coefficients"], None)
    certificate = restored(CountingCertificate, fields_of(CountingCertificate) or {}, found["certificate"])
    return CountingSolution(coefficients, certificate)
