"""Ranker: learning to rank, by scores that put the relevant rows of every query first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.checks import refuse_complex
from maxmargin.base.files.fields import NumberArray, OneOf
from maxmargin.base.files.objects import Fields, Sometimes
from maxmargin.base.named_weights import Weights, column_names
from maxmargin.inputs.labels.labels import plain
from maxmargin.inputs.matrices import validated, without_duplicates
from maxmargin.inputs.packed.packed_data import PackedData, given_examples
from maxmargin.inputs.packed.packed_matrix import PackedMatrix
from maxmargin.kernels.named import is_precomputed
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Certificate
from maxmargin.problem.oracle.sample_weights import normalised_weights
from maxmargin.report.findings import Findings
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.ranking.contingency import Contingency
from maxmargin.structures.ranking.explained_rows import ExplainsOrder
from maxmargin.structures.ranking.first_weights import checked_start, relevance_classifier
from maxmargin.structures.ranking.groups import Groups, query_ids
from maxmargin.structures.ranking.measures import checked_k
from maxmargin.structures.ranking.packed_queries import PackedQueries
from maxmargin.structures.ranking.query_scores import RANKED_BY, RankerMeasure, query_scores
from maxmargin.structures.ranking.ranking import GRADE, Features, Ranking, Surrogate
from maxmargin.structures.ranking.topk import TopK
from maxmargin.structures.ranking.topk_batch import TopKBatch
from maxmargin.structures.ranking.zero_weights import remedy_for_zero
from maxmargin.training.feature_weights import refuse_kernel
from maxmargin.training.nothing_learnt import remedy
from maxmargin.training.options import Options
from maxmargin.training.parameters import task_from
from maxmargin.training.problem import Problem
from maxmargin.training.trainer import Trainer


class Ranker(ExplainsOrder, Trainer):
    """Learn to rank: a linear score that puts the relevant rows of every query first.

    It minimises ½‖w‖² + C · mean over queries of max_z [Δ(y, z) - ⟨w, Ψ(X, y) - Ψ(X, z)⟩].

    z is any ranking of the query's rows, Δ one minus the measure; tasks.Ranking and tasks.Contingency define Ψ and Δ. A
    query's structured hinge is at least one minus the measure of its ranking by the learnt scores, with two exceptions:
    "precision_at_k" considers predictions with k positives, which the truth need not have, and "ndcg" with
    surrogate="pairs" is a weighted sum over pairs, which bounds 1 - NDCG only up to a factor of the query.

    With measure="precision_at_k" and latent=True the score must put only k relevant rows of every query first, instead
    of all, and training finds out which (tasks.TopK; Yu and Joachims 2009, section 5.3). This is the better model if
    queries have many more relevant rows than k, some of them hard to distinguish from others: these no longer influence
    the weights. The problem then has many local optima. Training begins at `start` and ends near it; from arbitrary
    weights it may end far above the best one, even at w = 0, because random relevant rows do not score higher than the
    best of the others (a NothingLearnt warning then says so).

    Parameters
    ----------
    measure : str
        "map" (mean average precision; Yue et al. 2007), "ndcg", "roc_auc" (the share of pairs in the right order:
        RankSVM with queries of equal weight), "precision_at_k".
    k : int or None
        For "precision_at_k" (queries with fewer rows are shown whole) and, if given, the depth of "ndcg", which `score`
        measures and surrogate="listwise" is trained for; surrogate="pairs" is the same at every depth.
    {relevant}
    {surrogate}
    {features}
    latent : bool
        For "precision_at_k": whether training chooses the relevant rows that should come first. No query may then have
        fewer than k rows.
    start : None, or array of shape (n_features,)
        The weights that latent training begins at, such as the coef_ of another Ranker. None first trains a classifier
        of relevant rows: ½‖w‖² + C · mean over queries of the mean squared hinge over their rows, with an intercept.
        The best C of this classifier and the best C of the ranking may differ, so choose both by validation.
    {kernel}
    C : float
        Weight of the mean slack against ½‖w‖². The default is for features between 0 and 1, for which 30 to 300 was
        best; for features of variance 1 begin at 1.
    {tol}
    {options}

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        The weights.
    weights_ : dict of Weights
        The same by name.
    start_ : array
        With latent=True: the weights that training began at.
    rounds_ : list of solvers.Round
        With latent=True: one entry per outer round; see solvers.CCCP.
    n_features_in_ : int
        The number of features.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    MeasureSVC : A measure of one sample.
    Diversifier : Few documents for many subtopics.
    maxmargin.metrics.query_scores : The measure of every query.

    Notes
    -----
    Queries whose rows all have the same relevance have zero loss.

    Examples
    --------
    >>> from maxmargin import Ranker
    >>> X, relevance, qid = [[0.9], [0.1], [0.4], [0.8], [0.2]], [1, 0, 0, 1, 0], [0, 0, 0, 1, 1]
    >>> model = Ranker("map").fit(X, relevance, qid=qid)
    >>> model.rank([[0.3], [0.7]]).tolist()
    [1, 0]
    """

    _described_by = (Ranking,)

    _default_tol = 1e-3

    _packed = PackedQueries

    why_not_online = "all rows of a query must be known at once"

    saved: ClassVar[Fields] = {"start_": Sometimes(OneOf(None, NumberArray(float, None)))}

    def __init__(
        self,
        measure: RankerMeasure = "map",
        k: int | None = None,
        relevant: float = 1,
        surrogate: Surrogate = "pairs",
        features: Features = "pairs",
        latent: bool = False,
        start: Any = None,
        C: float = 100.0,
        kernel: Any = None,
        solver: SolverName | Solver = "one_slack",
        **options: Unpack[Options],
    ):
        self.measure = measure
        self.k = k
        self.relevant = relevant
        self.surrogate = surrogate
        self.features = features
        self.latent = latent
        self.start = start
        self.kernel = kernel
        super().__init__(C=C, solver=solver, **options)

    def fit(  # type: ignore[override]
        self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None
    ) -> Self:
        """Train on the rows of a dense or sparse (n, F) matrix with relevance y.

        Rows with the same qid belong to one query, in any order; without qid all rows are one query. The weight of a
        query is that of its rows, which must be equal. Packed rows replace X, y and qid.
        """
        return super().fit(*self._queries(X, y, qid, sample_weight))

    def path(  # type: ignore[override]
        self, X: Any, y: Any, Cs: Any, qid: Any = None, sample_weight: Any = None
    ) -> Iterator[Self]:
        """Yield the models of `fit_path` one by one."""
        groups, Y, weights = self._queries(X, y, qid, sample_weight)
        return super().path(groups, Y, Cs, weights)

    def certify(  # type: ignore[override]
        self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None, tol: float = 1e-2
    ) -> Certificate:
        """Measure how far the current weights are from the optimum on these data; see StructuredSVM.certify."""
        check_is_fitted(self)
        return super().certify(*self._queries(X, y, qid, sample_weight, reset=False), tol)

    def predict(self, X: Any) -> Array:
        """Return the (n,) scores of rows; within a query, rows with higher scores come first."""
        check_is_fitted(self)
        return np.asarray(self.task_.row_scores(self.w_, self._matrix(X)))

    def rank(self, X: Any, qid: Any = None) -> NDArray[np.int64]:
        """Return all row numbers, query by query in order of appearance, the best row of each query first."""
        X, _, qid, _ = self._given(X, None, qid, None)
        scores = self.predict(X)
        groups = Groups.by(scores[:, None], query_ids(qid, len(scores)))[0]
        queries = [groups.members(g) for g in range(len(groups))]
        return np.concatenate([rows[np.argsort(-scores[rows], kind="stable")] for rows in queries])

    def score(self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None) -> float:
        """Return the mean measure over all queries that have one (see metrics.query_scores): higher is better.

        Queries may have weights, given as for `fit`.
        """
        X, y, qid, sample_weight = self._given(X, y, qid, sample_weight)
        scores = self.predict(X)
        values = query_scores(y, scores, qid, self.measure, self.k, self.relevant)
        weights = _query_weights(sample_weight, *Groups.by(scores[:, None], query_ids(qid, len(scores))))
        counted = ~np.isnan(values) & (weights > 0)
        if not counted.any():
            raise ValueError(
                f"measure {self.measure!r} is not defined for any query (see metrics.query_scores); expected a query "
                "with relevant rows and others"
            )
        return float(np.average(values[counted], weights=weights[counted]))

    @property
    def coef_(self) -> Array:
        """The weights, an array of shape (n_features,)."""
        check_is_fitted(self)
        refuse_kernel(self)
        return self.w_

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        refuse_kernel(self)
        return {"features": Weights(w, feature=column_names(self))}

    def to_solr(self, name: str, feature_names: Sequence[str] | None = None, store: str | None = None) -> str:
        """Return the weights as a LinearModel of Apache Solr's learning-to-rank module, in JSON.

        Features are named as in the training table, or as given here, in the order of its columns; they must be the
        names in Solr's feature store. Solr uses the features as it extracts them, so train on the same ones, without
        normalisation.
        """
        check_is_fitted(self)
        refuse_kernel(self)
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", [f"x{k}" for k in range(self.n_features_in_)])
        names = [str(f) for f in feature_names]
        if len(names) != len(self.w_) or len(set(names)) != len(names):
            raise ValueError(
                f"{len(set(names))} different feature names were given for {len(self.w_)} features; expected one each"
            )
        model = {
            "class": "org.apache.solr.ltr.model.LinearModel",
            "name": name,
            **({} if store is None else {"store": store}),
            "features": [{"name": feature} for feature in names],
            "params": {"weights": dict(zip(names, self.w_.tolist(), strict=True))},
        }
        return json.dumps(model, indent=2)

    def _given(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> tuple[Any, Any, Any, Any]:
        """Return rows, levels, queries and weights; packed rows contain all of them."""
        rows, y, sample_weight = given_examples(self._packed, X, y, sample_weight)
        if not isinstance(X, PackedQueries):
            return rows, y, qid, sample_weight
        if qid is not None:
            raise ValueError("packed rows contain their queries; leave out qid")
        return rows, y, X.queries, sample_weight

    def _queries(
        self, X: Any, y: Any, qid: Any, sample_weight: Any, reset: bool = True
    ) -> tuple[Groups, list[Array], Array | None]:
        """Return one structured example per query: its rows, their levels, and the weights of queries."""
        self._check_options()
        if reset and not self.latent:
            self.__dict__.pop("start_", None)  # an attribute of an earlier training
        X, y, qid, sample_weight = self._given(X, y, qid, sample_weight)
        X, y = self._matrix(X, y, reset)
        groups, names = Groups.by(X, query_ids(qid, len(y)))
        self._check_rows(y, groups, names)
        levels = groups.of_rows(y)
        if self.measure == "precision_at_k":
            levels = [(values >= self.relevant).astype(float) for values in levels]
            if all(np.ptp(values) == 0 for values in levels):
                which = f"both relevant rows (>= {self.relevant:g}) and others"
                raise ValueError(f"no query has {which}; expected at least one such query")
        return groups, levels, None if sample_weight is None else _query_weights(sample_weight, groups, names)

    def _check_options(self) -> None:
        """Raise a ValueError if parameters do not fit together."""
        if self.measure not in RANKED_BY:
            raise ValueError(f"measure must be one of {', '.join(map(repr, RANKED_BY))}, got {self.measure!r}")
        if self.measure == "precision_at_k":
            for name in ("surrogate", "features"):
                if getattr(self, name) != "pairs":
                    raise ValueError(f"{name} is for measure 'ndcg' only, not for 'precision_at_k'")
        if self.latent and self.measure != "precision_at_k":
            raise ValueError(f"latent=True is for measure 'precision_at_k' only, not for {self.measure!r}")
        if self.latent and self.kernel is not None:
            raise ValueError("latent=True does not take a kernel; use kernel=None or latent=False")
        if self.start is not None and not self.latent:
            raise ValueError(
                "start is for latent=True only; the other problems are convex and do not depend on a start"
            )

    def _check_rows(self, y: Array, groups: Groups, names: NDArray[Any]) -> None:
        """Check rows with errors that name rows and queries by the user's numbers, which tasks do not know."""
        strange = (y < 0) | (y > GRADE)
        if self.measure == "ndcg" and strange.any():
            i = int(np.argmax(strange))
            found = f"row {i}: the relevance is {y[i]:g}"
            raise ValueError(f"{found}; gains 2^relevance - 1 need a relevance from 0 to {GRADE}")
        if self.latent:
            short = np.flatnonzero(groups.sizes < checked_k(self.k, self.measure))
            if len(short):
                found = f"query {plain(names[short[0]])!r} has {groups.sizes[short[0]]} rows"
                raise ValueError(f"{found}; latent=True expects at least k = {self.k} in every query")

    def _matrix(self, X: Any, y: Any = "no_validation", reset: bool = False) -> Any:
        if isinstance(X, PackedData):
            X = given_examples(self._packed, X, None, None)[0]
        if isinstance(X, PackedMatrix):
            X.describe(self, reset)
            return X if isinstance(y, str) else (X, y)
        options: Any = {"accept_sparse": "csr", "dtype": np.float64, "reset": reset}
        refuse_complex("X", X)
        if isinstance(y, str):
            return validated(self, X, **options)
        X, y = validated(self, X, y, y_numeric=True, ensure_min_samples=2, **options)
        return (sparse.csr_array(without_duplicates(X)) if sparse.issparse(X) else X), np.asarray(y, dtype=float)

    def _remedy_for_zero(self) -> str:
        return remedy(self.certificate_) if self.latent else remedy_for_zero(self.measure)

    def _findings(self, X: Any, Y: Any, qid: Any = None) -> Findings:
        from maxmargin.structures.ranking.findings import query_findings

        return query_findings(self, X, Y, qid)

    def _make_task(self, Y: Any) -> Task:
        if self.latent:
            return task_from(self, TopK)
        return task_from(self, Contingency) if self.measure == "precision_at_k" else task_from(self, Ranking)

    def _first_weights(self, problem: Problem, C: float) -> Array | None:
        """Return the weights at which latent training begins, and keep them in `start_`."""
        if not isfinite(C):  # latent training refuses it with an error of its own
            return None
        if self.start is None:
            assert isinstance(problem.batch, TopKBatch)
            if problem.batch.source is not None:
                raise ValueError(
                    "latent=True computes its first weights with all rows in memory, which packed rows are not; pass "
                    "start=, such as the coef_ of a Ranker without latent"
                )
            self.start_ = relevance_classifier(problem.batch, problem.oracle.weights, C)
        else:
            self.start_ = checked_start(self.start, problem.oracle.dim)
        return self.start_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags


def _query_weights(sample_weight: Any, groups: Groups, names: NDArray[Any]) -> Array:
    """Return the weight of every query, which all of its rows must have."""
    if sample_weight is None:
        return np.ones(len(groups))
    each = groups.of_rows(normalised_weights(sample_weight, len(groups.rows)))
    for name, weights in zip(names, each, strict=True):
        if np.ptp(weights) > 0:
            raise ValueError(
                f"the rows of query {plain(name)!r} have different weights; expected one weight for all rows of a query"
            )
    return np.array([weights[0] for weights in each])
