"""Solver: the contract of a training algorithm.

An algorithm is a generator of steps. The loop around it (run.py) measures the objective, keeps the best model, decides
when to stop and writes the certificate: no algorithm marks its own work, and `tol` means the same for all of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from maxmargin.base.files.learnt import Keeper
from maxmargin.base.files.objects import Field, Fields, Sometimes
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.solvers.history import Callback
from maxmargin.solvers.requirements import Requirements, check_requirements
from maxmargin.solvers.run import Run
from maxmargin.solvers.solution import Solution
from maxmargin.solvers.steps import Step


class Solver:
    """The contract of a training algorithm.

    Options are class attributes, declared once with their default; unknown names raise TypeError. An algorithm writes
    `begin` and `advance`, or only `steps` if it cannot continue after a stop.

    Order of calls: `solve` checks the requirements (`requires`), then calls `begin` once and iterates over `advance`.
    It measures the objective, decides when to stop and writes the certificate (run.py). Solvers set nothing in the
    oracle but its count of calls, and may be used for several problems.

    Parameters
    ----------
    tol : float
        The relative duality gap at which training stops.
    max_passes : float
        The limit on oracle calls, in passes over the data.
    options : dict
        Further options of a subclass, by name.

    Examples
    --------
    >>> from maxmargin.solvers import BCFW
    >>> BCFW(tol=1e-3).get_params()["tol"]
    0.001
    """

    tol: float = 1e-2  # relative duality gap at which training stops
    max_passes: float = 1000  # limit on oracle calls, in passes over the data
    certified: ClassVar[bool] = True  # True if steps carry a lower bound
    keeps_last: ClassVar[bool] = False  # True if the model is the last point, not the one of least P(w)
    requires: ClassVar[Requirements] = ()  # requirements on the problem: see requirements.py
    wraps: ClassVar[bool] = False  # True if it trains with another solver
    name: ClassVar[str]  # the name for users
    known: ClassVar[dict[str, type[Solver]]] = {}  # solvers by name: `class Mine(Solver, name="mine")` adds one
    online: ClassVar[bool] = False  # True if training can continue with new examples (partial_fit)
    measure_every: ClassVar[int] = 10  # steps between exact measurements while the guess is far from tol

    def __init_subclass__(cls, name: str | None = None, **others: Any):
        super().__init_subclass__(**others)
        cls.name = cls.__name__ if name is None else name
        if name is not None:
            Solver.known[name] = cls

    def __init__(self, **options: Any):
        for name, value in options.items():
            if name not in self.options():
                raise TypeError(
                    f"{type(self).__name__} has no option {name!r}; it has {', '.join(sorted(self.options()))}"
                )
            setattr(self, name, value)

    saved: ClassVar[Fields] = {}
    saved_as: ClassVar[str] = "__init__"

    @classmethod
    def _saved_parameters(cls) -> Fields:
        return {name: Sometimes(Field()) for name in cls.options()}

    @classmethod
    def options(cls) -> dict[str, Any]:
        """Return the names and defaults of all options."""
        kinds = [pair for c in reversed(cls.__mro__) for pair in inspect.get_annotations(c).items()]
        return {name: getattr(cls, name) for name, kind in kinds if "ClassVar" not in str(kind)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the options, as scikit-learn's clone and GridSearchCV (solver__tol) need them."""
        return {name: getattr(self, name) for name in self.options()}

    def set_params(self, **params: Any) -> Solver:
        """Set options and return the solver."""
        self.__init__(**params)  # type: ignore[misc]
        return self

    def __repr__(self) -> str:
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if not _same(v, type(self).options()[k])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def steps(self, oracle: Any, C: float, seed: int, start: Solution | None) -> Iterator[Step]:
        """Yield the steps of the algorithm. `start` is an earlier solution for the same data, maybe with another C."""
        return self.advance(oracle, C, self.begin(oracle, C, seed, start))

    def begin(self, oracle: Any, C: float, seed: int, start: Solution | None) -> Any:
        """Return the state before the first step: an object that lists its fields for checkpoints (files/learnt.py).

        It has an attribute `memory`, the Memory of the last step. Avoid calling the oracle here, if possible.
        """
        raise NotImplementedError

    def advance(self, oracle: Any, C: float, at: Any) -> Iterator[Step]:
        """Yield the steps from a state on, and keep the state up to date.

        Whenever a step has been yielded, `at` holds everything that later steps need.
        """
        raise NotImplementedError

    @property
    def resumable(self) -> bool:
        """Return whether a stopped run can continue elsewhere: the algorithm has `begin` and `advance`."""
        return type(self).steps is Solver.steps

    def solve(
        self,
        oracle: RiskOracle,
        C: float,
        start: Solution | None = None,
        callback: Callback | None = None,
        seed: int = 0,
        keeper: Keeper | None = None,
    ) -> Solution:
        """Run the algorithm until the gap is within tol; with a keeper, continue an earlier run."""
        check_requirements(self.name, self.requires, oracle, C, self.known)
        if keeper is not None and not self.resumable:
            raise ValueError(
                f"{type(self).__name__} takes no checkpoint: it has no begin and advance (docs/howto/add_a_solver.md)"
            )
        return Run(self, oracle, C, callback, keeper).finish(start, seed)


def _same(value: Any, default: Any) -> bool:
    """Return whether an option has its default value; options may be arrays."""
    return value is default or bool(np.array_equal(value, default))
