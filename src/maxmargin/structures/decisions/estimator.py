"""CostLearner: learn the costs of any optimiser from data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Self, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.named_weights import Weights, column_names
from maxmargin.inputs.matrices import validated
from maxmargin.kernels.functions import WithConstant
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.dual.objective import Certificate
from maxmargin.problem.oracle.sample_weights import normalised_weights
from maxmargin.report.findings import Findings
from maxmargin.report.scoring.agreement import Agreement, share_right
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.decisions.batch import DecisionBatch
from maxmargin.structures.decisions.cases import Cases
from maxmargin.structures.decisions.measures import decision_regret
from maxmargin.structures.decisions.task import DecisionMeasure, Decisions, Sense
from maxmargin.training.decoding import decoded
from maxmargin.training.explaining import as_row
from maxmargin.training.feature_weights import refuse_kernel
from maxmargin.training.online import online_only
from maxmargin.training.options import Options
from maxmargin.training.parameters import task_from
from maxmargin.training.trainer import Trainer


class CostLearner(Trainer):
    """Learn to predict the costs of an optimiser so that its decisions are good (predict-then-optimise).

    The optimiser is a function that takes costs, one per part of a decision, and returns the best decision: the edges
    of a shortest path, the items in a knapsack, the pairs of a matching, or the variables of any MILP. Costs are
    predicted from features. Training does not minimise the error of predicted costs, but a convex bound on the regret,
    the true cost of decisions by predicted costs above the best ones: SPO+ (Elmachtoub and Grigas 2022),

        ½‖w‖² + C · mean_i max_z [(cᵢ - 2ĉᵢ)·z + 2ĉᵢ·zᵢ* - cᵢ·zᵢ*],

    which is a structured hinge whose loss is the regret. Training calls the optimiser at the costs 2ĉ - c.

    X is an (n, F) matrix of features of whole examples (every part then has weights of its own), or the features of
    every part: an (n, P, F) array, or a list of (P, F) matrices, dense or sparse (all parts then share their weights).
    Y are (n, P) observed costs, or decisions; lists of arrays if examples differ in their numbers of parts.

    Parameters
    ----------
    optimiser : callable, or list of callables
        optimiser(costs) -> z, a number for every part. It must find the best decision at costs of any sign and size. It
        may have the attributes `sense`, `exact` (False: it may miss the best), `nonnegative` (True: it needs costs
        >= 0), `same_size` (True: all decisions have the same Σz, so that a constant may be added to all costs),
        `n_parts`, `solve_many` ((n, P) costs -> (n, P) decisions) and `check` (raises, or returns False, if z is no
        decision). A list has one for each training example; `predict` is then given `optimisers`.
    {measure}
    {sense}
    features : callable or None
        features(x) -> (P, F) matrix, if X is a list of other objects.
    {fit_intercept}
    {kernel}
    C : float
        Weight of the mean hinge against ½‖w‖². It grows with the unit that costs are measured in.
    solver : str or Solver
        The training algorithm; see maxmargin.solvers.
    prior : None, "least_squares", array or dict
        The point towards which w is regularised, instead of 0: ½‖w - prior‖². "least_squares" are the weights that
        predict the costs best, so that models go from regression (C small) to SPO+ (C large). Not with a kernel.
    {tol}
    {options}

    Attributes
    ----------
    coef_ : array of shape (parts, features) or (features,)
        The weights of features of whole examples, or of features of parts.
    intercept_ : array of shape (parts,) or float
        The weights of the constant feature.
    weights_ : dict of Weights
        The same by name.
    n_features_in_ : int
        The number of features of whole examples.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    maxmargin.optimisers : Optimisers that are ready to use.
    maxmargin.metrics.regret : Measures decisions.

    Notes
    -----
    With n_jobs, the optimiser is called in several threads at once.

    Examples
    --------
    >>> from maxmargin import CostLearner
    >>> X, costs = [[0.0], [1.0], [2.0]], [[1.0, 2.0], [2.0, 1.5], [3.0, 1.0]]
    >>> model = CostLearner(lambda c: [1.0, 0.0] if c[0] < c[1] else [0.0, 1.0]).fit(X, costs)  # the cheaper of two
    >>> model.predict([[0.0], [2.0]]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    _described_by = (Decisions,)

    _default_tol = 1e-2
    calls_user_code = True

    def __init__(
        self,
        optimiser: Any,
        measure: DecisionMeasure = "regret",
        sense: Sense | None = None,
        features: Callable[[Any], Any] | None = None,
        fit_intercept: bool = True,
        kernel: Any = None,
        C: float = 100.0,
        solver: SolverName | Solver = "bcfw",
        **options: Unpack[Options],
    ):
        self.optimiser = optimiser
        self.measure = measure
        self.sense = sense
        self.features = features
        self.fit_intercept = fit_intercept
        self.kernel = kernel
        super().__init__(C=C, solver=solver, **options)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on features X and costs (or decisions) y. After an error or Ctrl-C the best model so far is kept."""
        return super().fit(self._cases(X, self._listed()), _labels(y), sample_weight)

    def path(self, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> Iterator[Self]:
        """Yield the models of `fit_path` one by one."""
        return super().path(self._cases(X, self._listed()), _labels(y), Cs, sample_weight)

    @online_only
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make one more pass of an online solver ("perceptron", "subgradient") over new examples."""
        task = getattr(self, "task_", None)
        return self._fit_more(task, self._cases(X, self._listed(), reset=task is None), _labels(y), sample_weight)

    def certify(self, X: Any, y: Any, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
        """Measure how far the current weights are from the optimum on these data; see StructuredSVM.certify."""
        check_is_fitted(self)
        return super().certify(self._cases(X, self._listed(), reset=False), _labels(y), sample_weight, tol)

    def predict(self, X: Any, optimisers: Sequence[Any] | None = None) -> Any:
        """Return the optimiser's decisions at predicted costs: (n, P), or a list of arrays if X is a list.

        optimisers : one for each x, required if training had one for each; None uses the optimiser of training.
        """
        check_is_fitted(self)
        if optimisers is None and self._listed() is not None:
            raise ValueError("training had an optimiser for every example; pass optimisers=, one for each x")
        return decoded(self, self._cases(X, optimisers, reset=False))

    def predict_costs(self, X: Any) -> Any:
        """Return the predicted costs: (n, P), or a list of arrays if X is a list."""
        check_is_fitted(self)
        return self.task_.costs(self.w_, self._cases(X, None, reset=False))

    def score(self, X: Any, y: Any, optimisers: Sequence[Any] | None = None) -> float:
        """Return 1 - the normalised regret (metrics.regret) if y are costs, else the share of right parts."""
        found, Y = self.predict(X, optimisers), _labels(y)
        if self.measure == "regret":
            return 1 - decision_regret(Y, found, self.optimiser if optimisers is None else optimisers, self.sense)
        return share_right(list(found), list(Y), _agreement, "example", "part")

    @property
    def coef_(self) -> Array:
        """The weights, of shape (parts, features), or (features,) if features are of parts."""
        weights = self._weights()
        n = len(weights) - self.fit_intercept
        return weights[:n, 0] if self.task_.of_parts_ else weights[:n].T

    @property
    def intercept_(self) -> Any:
        """The weight of the constant feature of every part; one number if features are of parts."""
        weights = self._weights()
        last = weights[-1] if self.fit_intercept else np.zeros(weights.shape[1])
        return float(last[0]) if self.task_.of_parts_ else last

    def _weights(self) -> Array:
        """Return the weights as a matrix (features, weight vectors); the constant feature is last."""
        check_is_fitted(self)
        refuse_kernel(self)
        return self.w_.reshape(self.task_.n_features_, -1)

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        refuse_kernel(self)
        weights = w.reshape(task.n_features_, -1)
        n = len(weights) - self.fit_intercept
        if task.of_parts_:
            named = {"features": Weights(weights[:n, 0], feature=range(n))}
            constant = Weights(weights[n:, 0], feature=["constant"] * self.fit_intercept)
        else:
            parts: Sequence[Hashable] = range(task.n_parts_)
            named = {"features": Weights(weights[:n], feature=column_names(self), part=parts)}
            constant = Weights(weights[-1], part=parts)
        return {**named, "intercept": constant} if self.fit_intercept else named

    def _one_input(self, x: Any) -> tuple[Any, Any]:
        if self._listed() is not None:
            raise ValueError("training had an optimiser for every example, which explain does not take")
        given = [x] if self.features is not None or self.task_.of_parts_ else as_row(x)
        cases = self._cases(given, None, reset=False)
        return cases, cases[0]

    def _explained_mistake(self, X: Any, Y: Any, i: int) -> None:
        """Return None, because Y does not consist of outputs."""

    def _full_output(self, x: Any, z: Any) -> Any:
        return np.asarray(z, dtype=float)

    def _listed(self) -> Sequence[Any] | None:
        """Return the optimisers if there is one for every example, and None otherwise."""
        return self.optimiser if isinstance(self.optimiser, list | tuple) else None

    def _cases(self, X: Any, optimisers: Sequence[Any] | None, reset: bool = True) -> Cases:
        if self.features is not None and not callable(self.features):
            raise TypeError(f"features must be None or a function features(x) -> matrix, got {self.features!r}")
        if self.features is None and not _is_of_parts(X):
            X = validated(
                self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, allow_nd=True, reset=reset
            )
        elif reset:
            for name in ("n_features_in_", "feature_names_in_"):  # set by an earlier fit to a matrix
                self.__dict__.pop(name, None)
        cases = Cases.of(X, self.features, optimisers)
        constant = self.fit_intercept and self.kernel is None
        if not reset and cases.n_features + constant != self.task_.n_features_:
            expected = self.task_.n_features_ - constant
            raise ValueError(f"X has parts of {cases.n_features} features; expected {expected} as in training")
        return cases.checked().with_constant() if constant else cases

    def _prior(self, task: Any, batch: Batch, sample_weight: Any) -> Any:
        """Return the prior. The task keeps least-squares weights, so that certify uses the same as training."""
        if not isinstance(self.prior, str):
            return self.prior
        if self.prior != "least_squares":
            raise ValueError(f'prior must be "least_squares" or weights, got {self.prior!r}')
        if self.measure != "regret":
            raise ValueError(
                'prior="least_squares" predicts costs, but with measure="parts" Y has no costs; pass weights as prior'
            )
        if self.kernel is not None:
            raise ValueError(
                'prior="least_squares" needs weights of features, which a model with a kernel does not have; '
                "use prior=None"
            )
        if not hasattr(task, "prior_"):
            assert isinstance(batch, DecisionBatch)
            task.prior_ = batch.regressed(normalised_weights(sample_weight, len(batch)), self.fit_intercept)
        return task.prior_

    def _findings(self, X: Any, Y: Any, optimisers: Sequence[Any] | None = None) -> Findings:
        from maxmargin.structures.decisions.findings import decision_findings

        return decision_findings(self, X, Y, optimisers)

    def _make_task(self, Y: Any) -> Decisions:
        constant = self.fit_intercept and self.kernel is not None
        return task_from(self, Decisions, kernel=WithConstant(self.kernel) if constant else self.kernel)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.target_tags.multi_output = tags.target_tags.two_d_labels = True
        tags.target_tags.single_output = False
        tags.input_tags.sparse = True
        return tags


def _is_of_parts(X: Any) -> bool:
    """Return whether X has more than two axes, so that it is not a matrix of whole examples."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and len(np.shape(X[0])) == 2
    return len(getattr(X, "shape", ())) == 3


def _labels(Y: Any) -> Any:
    """Return a table as an array."""
    if Y is None:
        raise ValueError("CostLearner requires y to be passed, but the target y is None")
    return Y if isinstance(Y, list | tuple) else np.asarray(Y)


def _agreement(found: Array, y: Any) -> Agreement:
    truth = np.asarray(y, dtype=float)
    if truth.shape != found.shape:
        raise ValueError(f"Y has the shape {truth.shape}; expected ({len(found)},), one number per decided part")
    known = ~np.isnan(truth)
    return Agreement(int(np.count_nonzero(found[known] == truth[known])), int(np.count_nonzero(known)))
