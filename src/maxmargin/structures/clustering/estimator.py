"""Clusterer: learn from clustered examples how to cluster new sets of items."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.named_weights import Weights
from maxmargin.base.predictions import Predictions
from maxmargin.problem.contract.task import Task
from maxmargin.report.findings import Findings
from maxmargin.solvers import CCCP, Solver, as_solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.clustering.correlation import ClusterMeasure, Correlation, Method
from maxmargin.structures.clustering.forest import STARTS, Forest, Linked
from maxmargin.structures.clustering.forest_batch import ForestBatch
from maxmargin.structures.clustering.labels import Clusters
from maxmargin.structures.clustering.measures import b_cubed
from maxmargin.structures.clustering.pairs import read_all
from maxmargin.training.decoding import decoded
from maxmargin.training.options import Options
from maxmargin.training.parameters import task_from
from maxmargin.training.problem import Problem
from maxmargin.training.trainer import Trainer

Linkage = Literal["forest", "correlation"]

# the parameters that only one linkage has, with their defaults
LINKAGES: dict[str, dict[str, Any]] = {
    "forest": {"penalty": 1.0, "start": None},
    "correlation": {"method": "greedy", "measure": "pairs"},
}


class Link(NamedTuple):
    """Two items that a prediction holds together, and the score of their pair."""

    first: int  # the number of one item
    second: int  # the number of the other item
    score: float


class Clusterer(Trainer):
    """Cluster sets of items by scores of pairs, which are learnt from sets whose clusters are known.

    X is a list of sets of items: tasks.Pairs, or (n, n, F) arrays with a feature vector for every pair of n items. Y is
    a list of clusterings, each a list of labels, one per item; which labels they are does not matter.

    linkage="forest": a cluster is held together by its strongest links, as in single-link clustering: the clusters are
    the trees of the maximum spanning forest of the pairs with a positive score. The links of a true cluster are latent
    and found in training (tasks.Forest; Yu and Joachims 2009, section 5.2), so two members of a cluster need not look
    alike if other members connect them. Training solves a sequence of convex problems and ends in a local optimum.

    linkage="correlation": all pairs of a cluster count for or against it: the clusters are those with the highest total
    score of pairs (tasks.Correlation; Finley and Joachims 2005), so that one wrong link does not join two clusters.
    Training is one convex problem, but finding the best clustering is NP-hard: `certificate_` says what is proved.

    Features are used as they are: scale them to comparable sizes, because ½‖w‖² treats them alike.

    Parameters
    ----------
    linkage : "forest" or "correlation"
        The model of a cluster: a tree of strong links ("forest"), or all of its pairs ("correlation"). Parameters of
        one linkage are refused with the other.
    {penalty}
    start : None, "chain", "random" or array
        For "forest": the links that training begins with, which decide the local optimum that it ends in. None: the
        best ones at weights that separate pairs inside clusters from all others by least squares. An array: the best
        ones at these weights. "chain": every item with the next one of its cluster, for items in a meaningful order (as
        in the paper). "random": random spanning trees. Of several restarts, solvers.CCCP(restarts=5), all but the first
        are random; from "chain" all would be the same.
    {method}
    {measure}
    fit_intercept : bool
        Whether a constant is learnt that is added to all scores. Without it, or a constant feature among yours, no
        threshold for linking can be learnt.
    C : float
        Weight of the mean structured hinge against ½‖w‖². The loss counts links, or items, so that sets of many items
        weigh more.
    solver : str or Solver
        Solver of the convex problems; for "forest" a solvers.CCCP object also sets rounds and restarts.
    {options}

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        The weights of the features of pairs.
    intercept_ : float
        The constant, or 0.
    weights_ : dict of Weights
        Both by name.
    n_features_in_ : int
        The number of features of a pair.
    feature_names_in_ : array
        Their names, if the pairs have them.
    rounds_ : list of solvers.Round
        For linkage="forest", one entry per round; see solvers.CCCP.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    maxmargin.tasks.Correlation, maxmargin.tasks.Forest : The tasks, with their formulas.
    maxmargin.metrics.b_cubed : Measures predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Clusterer
    >>> near = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])[:, :, None]  # similarities of three items
    >>> model = Clusterer("correlation").fit([near, near], [[0, 0, 1], [0, 0, 1]])
    >>> [found.tolist() for found in model.predict([near])]
    [[0, 0, 1]]
    """

    _described_by = (Forest, Correlation)

    def __init__(
        self,
        linkage: Linkage = "forest",
        penalty: float = 1.0,
        start: Any = None,
        method: Method = "greedy",
        measure: ClusterMeasure = "pairs",
        fit_intercept: bool = True,
        C: float = 10.0,
        solver: SolverName | Solver = "bundle",
        **options: Unpack[Options],
    ):
        self.linkage = linkage
        self.penalty = penalty
        self.start = start
        self.method = method
        self.measure = measure
        self.fit_intercept = fit_intercept
        super().__init__(C=C, solver=solver, **options)

    def predict(self, X: Any) -> list[Clusters]:
        """Return the cluster of every item, numbered 0, 1, … in order of appearance, for each set."""
        check_is_fitted(self)
        return Predictions(self.task_.label(z) for z in decoded(self, X))

    def links(self, X: Any) -> list[list[Link]]:
        """Return, for each set, the pairs that hold its predicted clusters together, the strongest first.

        With linkage="forest" these are the links of the predicted forest; cutting all links below a higher threshold
        gives the clusters at that threshold. With "correlation" they are all listed pairs in one cluster, also those
        with a negative score.
        """
        check_is_fitted(self)
        found = []
        for z, scores in zip(decoded(self, X), self.decision_function(X), strict=True):
            rows = z.rows if isinstance(z, Linked) else np.flatnonzero(z.together)
            links = [Link(i, j, float(scores[row])) for (i, j), row in zip(z.x.pairs[rows].tolist(), rows, strict=True)]
            found.append(sorted(links, key=lambda link: -link.score))
        return found

    def decision_function(self, X: Any) -> list[Array]:
        """Return the score of every pair, in the order of Pairs.pairs (for arrays, of np.triu_indices(n, 1))."""
        check_is_fitted(self)
        examples = read_all(X)
        return self.task_.table(examples).scores(self.w_, np.arange(len(examples)))

    def score(self, X: Any, Y: Any) -> float:
        """Return the B³ F1 score over the items of all sets; higher is better. `maxmargin.metrics` has other scores.

        B³ weighs every item the same, and neither one large cluster nor single items score high by themselves.
        """
        return b_cubed(Y, self.predict(X)).f1

    @property
    def coef_(self) -> Array:
        """The weights of the pair features, an array of shape (n_features,)."""
        check_is_fitted(self)
        return self.task_.split_weights(self.w_)["features"]

    @property
    def intercept_(self) -> float:
        """The constant that is added to all scores."""
        check_is_fitted(self)
        return float(self.task_.split_weights(self.w_).get("intercept", (0.0,))[0])

    @property
    def n_features_in_(self) -> int:
        """The number of features per pair."""
        check_is_fitted(self)
        return int(self.task_.n_features_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features of pairs."""
        check_is_fitted(self)
        if self.task_.feature_names_ is None:
            raise AttributeError(
                "the features of the training pairs have no names; pass feature_names to tasks.Pairs to name them"
            )
        return np.array(self.task_.feature_names_, dtype=object)

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        columns = range(task.n_features_) if task.feature_names_ is None else task.feature_names_
        names = {"features": columns, "intercept": ["constant"]}
        return {kind: Weights(values, feature=names[kind]) for kind, values in task.split_weights(w).items()}

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.structures.clustering.findings import cluster_findings

        return cluster_findings(self, X, Y)

    def _make_task(self, Y: Any) -> Task:
        if self.linkage not in LINKAGES:
            known = ", ".join(map(repr, LINKAGES))
            raise ValueError(f"linkage must be one of {known}, got {self.linkage!r}")
        for other, parameters in LINKAGES.items():
            for name, default in parameters.items():
                given = getattr(self, name)
                if other != self.linkage and given is not default and (default is None or given != default):
                    own = " and ".join(LINKAGES[self.linkage])
                    raise ValueError(
                        f"{name}={given!r} belongs to linkage={other!r}; linkage={self.linkage!r} takes {own}"
                    )
        if self.linkage == "correlation":
            return task_from(self, Correlation)
        if isinstance(self.start, str) and self.start not in STARTS:
            raise ValueError(f"start must be None, 'chain', 'random' or an array of weights, got {self.start!r}")
        start = self.start if isinstance(self.start, str) else "random"  # for restarts after one from given weights
        solver = as_solver(self.solver)
        if start == "chain" and isinstance(solver, CCCP) and solver.restarts != 1:
            raise ValueError(
                f"restarts={solver.restarts} needs start='random', because all runs from 'chain' would be the same"
            )
        return task_from(self, Forest, start=start)

    def _first_weights(self, problem: Problem, C: float) -> Array | None:
        """Return the weights that were given, or those that separate pairs inside clusters by least squares."""
        if self.start is not None:
            return None if isinstance(self.start, str) else self.start
        from sklearn.linear_model import Ridge

        batch = problem.batch
        assert isinstance(batch, ForestBatch)
        weights = np.zeros(len(batch.table))
        weights[batch.ids] = problem.oracle.weights
        targets = np.where(batch.flat_inside, 1.0, -1.0)
        model = Ridge(fit_intercept=False, solver="lsqr")  # the constant is a column of the matrix
        model.fit(batch.table.matrix, targets, np.repeat(weights, np.diff(batch.table.bounds)))
        return np.asarray(model.coef_, dtype=float)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags
