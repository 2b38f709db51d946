"""The method partial_fit, which an estimator has only if its solver can continue with new examples."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, ClassVar

from maxmargin.solvers import as_solver


class NoPartialFit(TypeError, AttributeError):  # noqa: N818 - what happened is the better name
    """partial_fit was requested, but the solver cannot continue with new examples; hasattr returns False."""


class OnlineTraits:
    """A mixin with the reason why an estimator has no partial_fit with any solver; None if it depends on the solver."""

    why_not_online: ClassVar[str | None] = None


class online_only:  # noqa: N801 - a decorator
    """A decorator of methods that an estimator has only if its solver is online; scikit-learn's tools use hasattr."""

    def __init__(self, method: Callable[..., Any]):
        self.method = method

    def __get__(self, estimator: Any, owner: type) -> Callable[..., Any]:
        if estimator is None:
            return self.method
        if estimator.why_not_online is not None:
            raise NoPartialFit(f"{type(estimator).__name__} has no partial_fit, because {estimator.why_not_online}")
        if estimator.kernel is not None:
            raise NoPartialFit(
                "partial_fit is not available with a kernel, because every new example would enlarge the model"
            )
        if not as_solver(estimator._named_solver).online:
            raise NoPartialFit(f"partial_fit needs the solver 'perceptron' or 'subgradient', not {estimator.solver!r}")
        return MethodType(self.method, estimator)
