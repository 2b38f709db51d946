"""Decisions: learn the costs of an optimiser so that its decisions are good (predict-then-optimise)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Flag, Text, Whole
from maxmargin.base.files.objects import Fields
from maxmargin.base.predictions import Predictions
from maxmargin.base.search import Search
from maxmargin.kernels.units import UnitTask
from maxmargin.problem.contract.pieces import Pieces, Unit
from maxmargin.structures.decisions.answers import Optimisers
from maxmargin.structures.decisions.batch import DecisionBatch
from maxmargin.structures.decisions.cases import Case, Cases
from maxmargin.structures.decisions.observations import (
    FACTORS,
    Observed,
    checked_measure,
    observed,
    part_counts,
    split,
)

Sense = Literal["min", "max"]
DecisionMeasure = Literal["regret", "parts"]


class Decisions(UnitTask):
    """Decision-focused learning of the costs of an optimiser (predict-then-optimise).

    The optimiser returns the decision z, a number for every part, that is best at the costs ĉ(w, x), linear in w:

        ⟨w, Ψ(x, z)⟩ = -κ σ ĉ(w, x)·z,      ĉ_p = ⟨w, φ_p⟩ or ⟨w_p, x⟩                                              (1)
        Δ(y, z)      = a·(z - y)                                                                                    (2)

    with σ = 1 for an optimiser that minimises and -1 for one that maximises. κ and a depend on the measure: with
    "regret" κ = 2 and a = σc for the true costs c, which is SPO+; with "parts" κ = 1 and Δ counts the parts that are
    decided otherwise than in Y (observations.py). Training calls the optimiser at the costs κĉ - λσa, so it must accept
    costs of any sign.

    X is an (n, F) matrix, an (n, P, F) array, or a list of (P, F) matrices (cases.py).

    Parameters
    ----------
    optimiser : callable, object or list
        A function of costs that returns the best decision; answers.py lists the attributes that it may have. Or a list
        of these, one per example.
    measure : "regret" or "parts"
        The loss. "regret": Y are costs, and the loss of a decision is its cost above the best one. "parts": Y are
        decisions of 0 and 1, and the loss is the number of parts that are decided otherwise; parts that are NaN or None
        in Y are latent, and training completes them with the best decision.
    sense : "min", "max" or None
        Whether the optimiser minimises or maximises; None takes its own attribute `sense`, or "min".
    kernel : None, str, callable or Kernel
        A kernel of feature rows (maxmargin.kernels) instead of linear costs.

    See Also
    --------
    maxmargin.CostLearner : The estimator.
    maxmargin.optimisers : Optimisers that are ready to use.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> task = tasks.Decisions(lambda c: [1.0, 0.0] if c[0] < c[1] else [0.0, 1.0])  # the cheaper of two
    >>> X, costs = np.array([[1.0], [2.0]]), np.array([[1.0, 2.0], [3.0, 2.0]])
    >>> task.setup(X, costs)
    >>> task.decode(np.array([1.5, 1.0]), X).tolist()  # predicted costs 1.5 x and x
    [[0.0, 1.0], [0.0, 1.0]]
    """

    saved: ClassVar[Fields] = {
        "measure": Text(*FACTORS),
        "n_features_": Whole(1),
        "of_parts_": Flag(),
        "n_parts_": Whole(1),
    }

    def __init__(
        self, optimiser: Any, measure: DecisionMeasure = "regret", sense: Sense | None = None, kernel: Any = None
    ):
        self.optimiser = optimiser
        self.measure = measure
        self.sense = sense
        self.kernel = kernel

    def _check_saved(self) -> None:
        self._check_length(self.n_features_, self._n_labels, 0)

    @property
    def factor(self) -> float:
        """The factor κ of (1)."""
        return FACTORS[self.measure]

    def setup(self, X: Any, Y: Sequence[Any]) -> None:
        checked_measure(self.measure)
        optimisers = Optimisers(self.optimiser, self.sense)
        optimisers.refuse_nonnegative()
        self.search = Search.EXACT if optimisers.exact else Search.UNDERGENERATING
        cases, counts = self._cases(X), part_counts(Y)
        if len(cases) == 0 or len(counts) == 0:
            raise ValueError("no examples given: X or Y is empty; expected at least one example")
        self.n_features_, self.of_parts_ = cases.n_features, cases.bounds is not None
        self.n_parts_ = int(counts[0])
        self._check_sizes(cases, counts)
        optimisers.check_sizes(counts)
        self.latent = self.measure == "parts" and any(_unknown(y) for y in Y)
        self._set_dim(cases.checked().rows, self._n_labels, 0)

    def setup_and_pack(self, X: Any, Y: Sequence[Any]) -> DecisionBatch:
        self.setup(X, Y)
        batch = self.pack(X, Y)
        batch.check_optimiser()
        return batch

    def pack(self, X: Any, Y: Sequence[Any]) -> DecisionBatch:
        cases, counts = self._cases(X), part_counts(Y)
        self._check_sizes(cases, counts)
        optimisers = self._optimisers(cases)
        bounds = np.append(0, np.cumsum(counts)).astype(np.int64)
        each = np.arange(len(cases))
        owner = np.repeat(each, counts) if self.of_parts_ else each
        atoms = self._unit_atoms(cases.checked().rows, self._n_labels, 0, owner)
        return DecisionBatch(self, atoms, bounds, observed(Y, counts, self.measure, optimisers), optimisers)

    def observed(self, X: Any, Y: Sequence[Any]) -> list[Observed]:
        """Return Y as labels with decisions; if Y are costs, these are the best ones."""
        cases, counts = self._cases(X), part_counts(Y)
        return split(observed(Y, counts, checked_measure(self.measure), self._optimisers(cases)), counts)

    def costs(self, w: Array, X: Any) -> Array | list[Array]:
        """Compute ĉ of every part: (n, P), or a list with one array per example."""
        cases = self._cases(X)
        return self._by_example(self._flat_costs(w, cases), cases)

    def decode(self, w: Array, X: Any) -> Any:
        cases = self._cases(X)
        optimisers, sizes = self._optimisers(cases), cases.sizes(self.n_parts_)
        optimisers.check_sizes(sizes)
        return self._by_example(self._answers(optimisers, self._flat_costs(w, cases), sizes, range(len(cases))), cases)

    # --- the plain form: one example at a time; y is an Observed

    def psi(self, x: Any, z: Any) -> Array:
        self._refuse_kernel("psi(x, z)")
        case, decision = _case(x), _decision(z)
        rows = _dense(case.features)
        scaled = -self.factor * Optimisers(self.optimiser, self.sense).sign * decision
        return scaled @ rows if self.of_parts_ else np.outer(rows.ravel(), scaled).ravel()

    def pieces(self, x: Any, z: Any) -> Pieces:
        """Return Ψ(x, z) by parts of the decision."""
        self._refuse_kernel("psi(x, z)")
        features, decision = sparse.csr_array(np.atleast_2d(_dense(_case(x).features))), _decision(z)
        n_parts = features.shape[0] if self.of_parts_ else self.n_parts_
        if decision.shape != (n_parts,):
            raise ValueError(f"the decision has shape {decision.shape}; expected ({n_parts},), a number for every part")
        scaled = -self.factor * Optimisers(self.optimiser, self.sense).sign * decision
        units = [Unit("part", p) for p in range(n_parts)]
        if self.of_parts_:
            return Pieces.of_rows(units, sparse.diags_array(scaled) @ features)
        (row,) = features.toarray()
        at = np.flatnonzero(row)
        return Pieces.of((unit, (at * n_parts + p, row[at] * scaled[p])) for p, unit in enumerate(units))

    def loss(self, y: Observed, z: Any) -> float:
        difference = np.where(y.added == 0, 0.0, _decision(z) - y.decision)
        return max(0.0, float(y.added @ difference))  # negative by rounding only: the batch checks this

    def argmax(self, w: Array, x: Any, y: Observed | None = None) -> Array:
        costs, optimisers = self.factor * self._own_costs(w, x), self._optimisers_of(x)
        if y is not None:
            costs = costs - optimisers.sign * y.added
        return self._answers(optimisers, costs, np.array([len(costs)]), [0])

    def complete(self, w: Array, x: Any, y: Observed) -> Array:
        if not self.latent:
            return y.decision
        alone = Cases(*self._alone(x))
        return self.pack(alone, [y]).completed(w).truth

    # --- inside

    @property
    def _n_labels(self) -> int:
        return 1 if self.of_parts_ else self.n_parts_

    def _cases(self, X: Any) -> Cases:
        return Cases.of(X, optimisers=None if callable(self.optimiser) else self.optimiser)

    def _optimisers(self, cases: Cases) -> Optimisers:
        return Optimisers(self.optimiser if cases.optimisers is None else cases.optimisers, self.sense)

    def _optimisers_of(self, x: Any) -> Optimisers:
        own = _case(x).optimiser
        return Optimisers(self.optimiser if own is None else [own], self.sense)

    def _alone(self, x: Any) -> tuple[Any, NDArray[np.int64] | None, list[Any] | None]:
        case = _case(x)
        rows = case.features if sparse.issparse(case.features) else np.atleast_2d(np.asarray(case.features))
        bounds = np.array([0, rows.shape[0]]) if self.of_parts_ else None
        return rows, bounds, None if case.optimiser is None else [case.optimiser]

    def _own_costs(self, w: Array, x: Any) -> Array:
        return self._flat_costs(w, Cases(*self._alone(x)))

    def _flat_costs(self, w: Array, cases: Cases) -> Array:
        if (cases.bounds is not None) != self.of_parts_:
            kinds = {True: "parts, (n, P, F) or a list of matrices", False: "whole examples, (n, F)"}
            raise ValueError(
                f"X has features of {kinds[not self.of_parts_]}; training had those of {kinds[self.of_parts_]}"
            )
        if cases.n_features != self.n_features_:
            raise ValueError(f"X has {cases.n_features} features; expected {self.n_features_} as in training")
        return self._unit_scores(w, cases.checked().rows, self._n_labels, 0).ravel()

    def _answers(self, optimisers: Optimisers, costs: Array, sizes: NDArray[np.int64], ids: Sequence[int]) -> Array:
        return optimisers.answers(costs, sizes, ids, whole=self.measure == "parts")

    def _by_example(self, flat: Array, cases: Cases) -> Any:
        if cases.is_array:
            return flat.reshape(len(cases), -1)
        return Predictions(np.split(flat, np.cumsum(cases.sizes(self.n_parts_))[:-1]))

    def _check_sizes(self, cases: Cases, counts: NDArray[np.int64]) -> None:
        if len(cases) != len(counts):
            raise ValueError(f"X has {len(cases)} examples but Y has {len(counts)}; expected one label per example")
        sizes = cases.sizes(self.n_parts_)
        if not np.array_equal(sizes, counts):
            i = int(np.argmax(sizes != counts))
            raise ValueError(f"Y of example {i} has {counts[i]} numbers; expected {sizes[i]}, one per part")


def _case(x: Any) -> Case:
    return x if isinstance(x, Case) else Case(x)


def _dense(features: Any) -> Array:
    return features.toarray() if sparse.issparse(features) else np.asarray(features, dtype=float)


def _decision(z: Any) -> Array:
    return np.asarray(z.decision if isinstance(z, Observed) else z, dtype=float)


def _unknown(y: Any) -> bool:
    """Return whether some part of a decision is not known."""
    try:
        return bool(np.isnan(np.asarray(y.decision if isinstance(y, Observed) else y, dtype=float)).any())
    except (TypeError, ValueError):
        return False  # reading the labels raises the error
