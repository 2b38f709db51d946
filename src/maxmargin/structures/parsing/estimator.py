"""Parser: parse trees by a weighted grammar that is trained with a large margin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Self, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.base.errors import Uncalibrated, warn_caller
from maxmargin.base.named_weights import Weights, WithWeightLayout
from maxmargin.base.predictions import Predictions
from maxmargin.problem.contract.task import Task
from maxmargin.report.findings import Findings, Section
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.parsing.losses import TreeMeasure
from maxmargin.structures.parsing.parseval import parseval
from maxmargin.structures.parsing.sentences import check_length, tree_of_sentence
from maxmargin.structures.parsing.task import Grammar, Inputs, OnFailure
from maxmargin.structures.parsing.trees import Bracket, Tree
from maxmargin.training.decoding import decoded
from maxmargin.training.explaining import Explains
from maxmargin.training.options import Options
from maxmargin.training.parameters import task_from
from maxmargin.training.probabilistic import Calibration, ProbabilisticTrainer


class ParsesSentences(Explains, WithWeightLayout):
    """A mixin for parsers, which have a grammar task_ and its weights w_."""

    def predict(self, X: Any) -> list[Tree]:
        """Return the best tree of every sentence."""
        check_is_fitted(self)
        return Predictions(self.task_.decode(self.w_, X))

    def decision_function(self, X: Any) -> Array:
        """Return the score of the best tree of every sentence, or -inf if the grammar has none."""
        check_is_fitted(self)
        return self.task_.scores(self.w_, X)

    def predict_nbest(self, X: Any, n: int) -> list[list[tuple[Tree, float]]]:
        """Return the n best trees of every sentence with their scores, best first; fewer if there are fewer trees."""
        check_is_fitted(self)
        return self.task_.n_best(self.w_, X, check_whole("n", n, least=1))

    def score(self, X: Any, Y: Any) -> float:
        """Return the labelled F1 over all sentences, as EVALB computes it (see metrics.parseval): higher is better."""
        return parseval(*self._to_compare(X, Y)).f1

    def _to_compare(self, X: Any, Y: Any) -> tuple[list[Tree], list[Tree]]:
        """Return the true trees, and the predicted ones over the same words."""
        found = self.predict(X)
        if len(found) != len(Y):
            raise ValueError(f"X has {len(found)} sentences but Y has {len(Y)}")
        true = [tree_of_sentence(y, i) for i, y in enumerate(Y)]
        for i, (true_tree, found_tree) in enumerate(zip(true, found, strict=True)):
            check_length(len(found_tree), true_tree, i)
        # Where sentences have no words, the found trees show something else in their place.
        return true, [tree.with_words(y.words()) for y, tree in zip(true, found, strict=True)]

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.structures.parsing.findings import tree_findings

        return tree_findings(self, X, *self._to_compare(X, Y))

    def _learnt(self) -> list[Section]:
        from maxmargin.structures.parsing.findings import learnt_rules

        return learnt_rules(self)

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        parts, names = task.parts(w), task.weight_names()
        named = {
            "rules": Weights(list(parts["rules"].values()), rule=names["rules"]),
            "roots": Weights(list(parts["roots"].values()), root=names["roots"]),
        }
        if parts["spans"]:
            features = [f"{kind}={value}" for kind, values in names["spans"].items() for value in values]
            named["spans"] = Weights(np.vstack(list(parts["spans"].values())), feature=features, rule=names["rules"])
        if parts["words"].size:
            of_words, tags = names["words"]
            of_words = range(len(parts["words"])) if of_words is None else of_words  # columns of matrices have no names
            named["words"] = Weights(parts["words"], feature=of_words, tag=tags)
        return named

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


class SpanConfidence(NamedTuple):
    """A phrase of a predicted tree, over the words begin:end, and its probability."""

    begin: int
    end: int
    label: str
    probability: float


class Parser(ParsesSentences, ProbabilisticTrainer):
    """Parse sentences into constituency trees by a weighted context-free grammar that is trained with a large margin.

    It minimises ½‖w‖² + C · mean over sentences of max_z [Δ(y, z) - ⟨w, δΨ(x, y, z)⟩].

    X is a list of sentences and Y a list of their trees: Tree, bracket strings, or nltk trees. The grammar consists of
    the rules of these trees. tasks.Grammar defines Ψ and Δ.

    Parameters
    ----------
    {inputs}
    {measure}
    {horizontal}
    {vertical}
    {rules}
    {span_features}
    {f1_words}
    {on_failure}
    C : float
        Weight of the mean slack against ½‖w‖².
    solver : str, Solver or None
        None: "bcfw" for the hinge, "lbfgs" for the other objectives.
    objective : "hinge", "likelihood" or "softmax_margin"
        The loss that is added to ½‖w‖²: C times the mean structured hinge, the negative mean log-likelihood of trees (a
        conditional random field), or the softmax-margin between them, which needs measure="hamming".
    sharpness : float
        The sharpness of "softmax_margin": the larger, the nearer to the hinge.
    calibrate : int or None
        Probabilities: find temperature_ by cross-validation in this many parts; None leaves that to calibrate_on(X, Y).
    {options}

    Attributes
    ----------
    temperature_ : float
        The number by which scores are divided to be logarithms of probabilities.
    weights_ : dict of Weights
        "rules", "roots", "spans" (features × rules) and "words" (features × tags). A tag that has the name of a label
        stands in quotes.
    w_ : array
        All weights as one vector.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    PCFG : The probabilistic grammar of maximum likelihood, as a baseline.
    DependencyParser : Dependency trees.

    Examples
    --------
    >>> from maxmargin import Parser
    >>> trees = ["(S (NP (D the) (N dog)) (V barks))", "(S (N Rex) (V barks))"]
    >>> model = Parser().fit([["D", "N", "V"], ["N", "V"]], trees)
    >>> str(model.predict([["D", "N", "V"]])[0])
    '(S (NP (D D) (N N)) (V V))'
    """

    _described_by = (Grammar,)

    def __init__(
        self,
        inputs: Inputs = "tags",
        measure: TreeMeasure = "hamming",
        horizontal: int | None = 0,
        vertical: int = 1,
        rules: Any = None,
        span_features: str | Sequence[str] = "auto",
        f1_words: int = 20,
        on_failure: OnFailure = "error",
        C: float = 100.0,
        solver: SolverName | Solver | None = None,
        **options: Unpack[Options],
    ):
        self.inputs = inputs
        self.measure = measure
        self.horizontal = horizontal
        self.vertical = vertical
        self.rules = rules
        self.span_features = span_features
        self.f1_words = f1_words
        self.on_failure = on_failure
        super().__init__(C=C, solver=solver, **options)

    def predict(self, X: Any) -> list[Tree]:
        """Return the best tree of every sentence."""
        return decoded(self, X)

    def predict_confidence(self, X: Any, of: Literal["span", "tree"] = "span") -> Any:
        """Return the probabilities of the predictions.

        of="span": for every x the list of the phrases of its tree, each with its first word, the one past its last, its
        label and the probability that the tree has this phrase. of="tree": an array of the probabilities of all trees.
        A sentence that the grammar cannot parse (on_failure="flat") has a tree of probability 0.
        """
        if of not in ("span", "tree"):
            raise ValueError(f"of must be 'span' or 'tree', got {of!r}")
        sums, found = self._sums(X), self.predict(X)
        if of == "tree":
            return np.exp(sums.best_log_probabilities())
        each = zip(found, sums.marginals(), strict=True)
        return Predictions([_confidence(bracket, p.spans) for bracket in tree.brackets()] for tree, p in each)

    def _calibration(self, unseen: list[tuple[Self, Any, Any]]) -> Calibration:
        """Warn if some true trees have no derivation, because these say nothing about the temperature."""
        impossible = [~np.isfinite(model._sums_at(1.0, X).log_probabilities(Y)) for model, X, Y in unseen]
        lost, n = sum(map(np.count_nonzero, impossible)), sum(map(len, impossible))
        if lost:
            warn_caller(
                f"{lost} of {n} trees for calibration use rules that are not in the grammar, and were left out; "
                "probabilities are relative to the trees of the grammar",
                Uncalibrated,
            )
        return super()._calibration(unseen)

    def _make_task(self, Y: Any) -> Task:
        return task_from(self, Grammar)


def _confidence(bracket: Bracket, probabilities: dict[Bracket, float]) -> SpanConfidence:
    label, begin, end = bracket
    return SpanConfidence(begin, end, label, probabilities.get(bracket, 0.0))
