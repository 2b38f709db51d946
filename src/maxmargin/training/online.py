"""partial_fit, which an estimator has only while its solver can go on with new examples."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from maxmargin.solvers import as_solver


class NoPartialFit(TypeError, AttributeError):  # noqa: N818 - what happened is the better name
    """partial_fit was asked of a solver that cannot go on with new examples; hasattr answers no."""


class online_only:  # noqa: N801 - a decorator
    """A method that an estimator has only while its solver is an online one: scikit-learn's tools ask with hasattr."""

    def __init__(self, method: Callable[..., Any]):
        self.method = method

    def __get__(self, estimator: Any, owner: type) -> Callable[..., Any]:
        if estimator is None:
            return self.method
        if estimator.kernel is not None:
            raise NoPartialFit(
                "partial_fit is not available with a kernel, because every new example would enlarge the model"
            )
        if not as_solver(estimator._named_solver).online:
            raise NoPartialFit(f"partial_fit needs the solver 'perceptron' or 'subgradient', not {estimator.solver!r}")
        return MethodType(self.method, estimator)
