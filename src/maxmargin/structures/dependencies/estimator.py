"""DependencyParser: the head, and optionally the label, of every word."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Literal, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.named_weights import Weights
from maxmargin.base.predictions import Predictions
from maxmargin.problem.contract.task import Task
from maxmargin.report.findings import Findings
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.dependencies.arc_templates import feature_names
from maxmargin.structures.dependencies.given_arcs import GivenArcs
from maxmargin.structures.dependencies.heads import read_heads
from maxmargin.structures.dependencies.measures import attachment_scores
from maxmargin.structures.dependencies.task import ArcMeasure, Dependencies
from maxmargin.training.decoding import decoded
from maxmargin.training.options import Options
from maxmargin.training.parameters import task_from
from maxmargin.training.probabilistic import ProbabilisticTrainer


class DependencyParser(ProbabilisticTrainer):
    """Parse sentences into dependency trees by scores of arcs that are trained with a large margin.

    It minimises ½‖w‖² + C · mean over sentences of max_z [Δ(y, z) - ⟨w, Ψ(x, y) - Ψ(x, z)⟩].

    X is a list of sentences, each a list of tokens (form, tag), of dicts with "form" and "tag", or a
    formats.ConlluSentence. Y is a list of trees, each a list with the head of every word: 0 for the root, or the number
    of a word, counted from 1. With pairs (head, label) instead of heads, labels are learnt and predicted as well.
    tasks.Dependencies defines Ψ and Δ; the search is exact.

    Parameters
    ----------
    {projective}
    {single_root}
    {measure}
    {features}
    {min_count}
    {hash_bits}
    {most_decodes}
    C : float
        Weight of the mean slack against ½‖w‖².
    solver : str, Solver or None
        None: "bcfw" for the hinge, "lbfgs" for other objectives.
    objective : "hinge", "likelihood" or "softmax_margin"
        The term that C multiplies: the mean structured hinge, the negative mean log-likelihood of trees, or the
        softmax-margin between them.
    sharpness : float
        For "softmax_margin": the larger, the closer to the hinge.
    calibrate : int or None
        Number of folds of the cross-validation that finds temperature_; None leaves that to calibrate_on(X, Y).
    {options}

    Attributes
    ----------
    classes_ : list or None
        The labels; None if trees have none.
    weights_ : dict of Weights
        "arcs" (features) and "labels" (features × labels); "features" for your own features. Not with hash_bits.
    temperature_ : float
        The divisor of scores in the logarithms of probabilities.
    w_ : array
        All weights as one vector.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    Parser : Constituency trees.
    maxmargin.tasks.Dependencies : The task, with its formulas.

    Examples
    --------
    >>> from maxmargin import DependencyParser
    >>> X = [[("the", "D"), ("dog", "N"), ("barks", "V")], [("a", "D"), ("cat", "N"), ("sleeps", "V")]]
    >>> model = DependencyParser().fit(X, [[2, 3, 0], [2, 3, 0]])
    >>> [list(heads) for heads in model.predict([[("the", "D"), ("cat", "N"), ("barks", "V")]])]
    [[2, 3, 0]]
    """

    _described_by = (Dependencies,)

    def __init__(
        self,
        projective: bool = False,
        single_root: bool = True,
        measure: ArcMeasure = "hamming",
        features: Callable[[Any], Any] | None = None,
        min_count: int = 1,
        hash_bits: int | None = None,
        most_decodes: int = 200,
        C: float = 100.0,
        solver: SolverName | Solver | None = None,
        **options: Unpack[Options],
    ):
        self.projective = projective
        self.single_root = single_root
        self.measure = measure
        self.features = features
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.most_decodes = most_decodes
        super().__init__(C=C, solver=solver, **options)

    def predict(self, X: Any) -> list[list[Any]]:
        """Return the best tree of every sentence."""
        check_is_fitted(self)
        return Predictions(decoded(self, X))

    def predict_confidence(self, X: Any, of: Literal["head", "arc", "tree"] = "head") -> Any:
        """Return the probabilities of the predictions.

        of="head": the head of every word, a list of arrays; of="arc": the head together with its label; of="tree": the
        whole tree of every sentence, one array.
        """
        found = self.predict(X)
        if of == "tree":
            return np.minimum(np.exp(self._sums(X).log_probabilities(found)), 1.0)
        if of not in ("head", "arc"):
            raise ValueError(f"of must be 'head', 'arc' or 'tree', got {of!r}")
        numbers = {label: k for k, label in enumerate(self.classes_ or ())}
        each: list[Array] = []
        for marginals, y in zip(self._sums(X).marginals(), found, strict=True):
            tree = read_heads(y, "the predicted tree")
            at: Any = (np.arange(len(tree.heads)), tree.heads)
            if of == "arc" and tree.labels is not None:
                each.append(marginals.labels[*at, [numbers[label] for label in tree.labels]])
            else:
                each.append(marginals.heads[at])
        return Predictions(each)

    def score(self, X: Any, Y: Any) -> float:
        """Return UAS, the share of words with the right head. metrics.attachment_scores has more."""
        return attachment_scores(Y, self.predict(X)).uas

    @property
    def classes_(self) -> list[Hashable] | None:
        """The labels, in the order of the weights; None if trees have none."""
        check_is_fitted(self)
        return self.task_.classes_

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        arcs, labels = task.arcs_, task.classes_
        if isinstance(arcs, GivenArcs):
            if labels is None:
                return {"features": Weights(w, feature=range(len(w)))}
            values = w.reshape(arcs.n_features, len(labels))
            return {"features": Weights(values, feature=range(arcs.n_features), label=labels)}
        if self.hash_bits is not None:
            raise AttributeError(
                "DependencyParser with hash_bits has no names of weights, because all features in a bucket share its "
                "weight; hash_bits=None gives every feature its own weight"
            )
        named = {"arcs": Weights(w[: arcs.first], feature=feature_names(arcs.keys, arcs.lexicon))}
        if labels is not None:
            values = w[arcs.first :].reshape(-1, len(labels))
            named["labels"] = Weights(values, feature=feature_names(arcs.label_keys, arcs.lexicon), label=labels)
        return named

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.structures.dependencies.findings import arc_findings

        return arc_findings(self, X, Y)

    def _make_task(self, Y: Any) -> Task:
        return task_from(self, Dependencies)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.dict = True
        return tags
