"""Diversifier: learn which words matter when few documents are to cover many subtopics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_whole
from maxmargin.base.named_weights import Weights
from maxmargin.base.predictions import Predictions
from maxmargin.report.findings import Findings
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.diversity.documents import read
from maxmargin.structures.diversity.measures import subtopic_recall
from maxmargin.structures.diversity.subtopics import SubtopicWeights
from maxmargin.structures.diversity.task import THRESHOLDS, Chosen, Diversity
from maxmargin.training.decoding import decoded
from maxmargin.training.options import Options
from maxmargin.training.parameters import task_from
from maxmargin.training.trainer import Trainer


class Diversifier(Trainer):
    """Choose few documents that cover many subtopics, by values of words that are learnt.

    X is a list of queries. Each is a list of candidate documents: texts, or dicts of texts with the same fields (such
    as {"title": …, "body": …}); or a sparse matrix of counts (documents, words), or a dict of such matrices by field;
    or tasks.Documents, which also holds the text of the query and features of documents. Y is for each query a list of
    sets of subtopics, one set per document; a document may have none. The subtopics of new queries are not needed.

    A set of documents is worth the sum of the values of all words that it covers, each counted once, so that a second
    document with the same words adds nothing. The value of a word depends on the share of the candidates that contain
    it (Joachims et al. 2009, section 3.1; Yue and Joachims 2008), never on the word itself, so that the model applies
    to queries with other words too. Documents are chosen greedily, each the one that adds most to those before it.

    The greedy search of training may miss the most violated set. certificate_.dual is a valid lower bound all the same;
    certificate_.upper bounds the objective of the model from above, including outputs that the search may have missed.

    Parameters
    ----------
    {k}
    {thresholds}
    {levels}
    {subtopic_weights}
    {vectorizer}
    C : float
        Weight of the mean structured hinge against ½‖w‖². Ψ counts words, so that useful values are well below 1.
    solver : str or Solver
        The training algorithm; see maxmargin.solvers.
    {options}

    Attributes
    ----------
    coef_ : array
        The weights, in the order of get_feature_names_out().
    weights_ : dict of Weights
        The same by name: words by level and by the least share of documents that contain them, documents by feature.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    Ranker : Ranks rows by their relevance alone.
    maxmargin.metrics.subtopic_recall : Measures predictions.

    Examples
    --------
    >>> from maxmargin import Diversifier
    >>> X = [["apple pie", "apple tart", "stock market"], ["market news", "stock news", "cake pie"]]
    >>> model = Diversifier(k=2).fit(X, [[{"food"}, {"food"}, {"money"}], [{"money"}, {"money"}, {"food"}]])
    >>> len(model.predict(X)[0])
    2
    """

    _described_by = (Diversity,)

    def __init__(
        self,
        k: int = 5,
        thresholds: Sequence[float] = THRESHOLDS,
        levels: Sequence[Any] | None = None,
        subtopic_weights: SubtopicWeights = "documents",
        vectorizer: Any = None,
        C: float = 0.1,
        solver: SolverName | Solver = "one_slack",
        **options: Unpack[Options],
    ):
        self.k = k
        self.thresholds = thresholds
        self.levels = levels
        self.subtopic_weights = subtopic_weights
        self.vectorizer = vectorizer
        super().__init__(C=C, solver=solver, **options)

    def predict(self, X: Any) -> list[list[int]]:
        """Return the numbers of the k chosen documents of each query, in the order in which they were chosen."""
        check_is_fitted(self)
        return Predictions(list(z.documents) for z in decoded(self, X))

    def rank(self, X: Any, n: int | None = None) -> list[NDArray[np.int64]]:
        """Return the documents of each query in the greedy order (all, or the first n), the predicted ones first."""
        check_is_fitted(self)
        if n is not None and (not is_whole(n) or n < 1):
            raise ValueError(f"n must be a whole number of documents, 1 or more, got {n!r}")
        return self.task_.ranked(self.w_, X, None if n is None else int(n))

    def score(self, X: Any, Y: Any) -> float:
        """Return the mean share of subtopics that the k chosen documents cover, weighted as in training.

        Use metrics.subtopic_recall for another k or other weights.
        """
        return float(np.mean(subtopic_recall(Y, self.predict(X), None, self.subtopic_weights)))

    def word_values(self, shares: Any, level: Any = None) -> Array:
        """Return the value of covering a word that these shares of the candidates contain, at a level (None: first)."""
        check_is_fitted(self)
        task = self.task_
        level = tuple(task.levels_[0]) if level is None else level
        field, times = (level, 1) if isinstance(level, str) else level
        names = [tuple(each) for each in task.levels_]
        if (field, times) not in names:
            raise ValueError(f"the model has no level {level!r}; expected one of {', '.join(map(str, task.levels_))}")
        own = task.split_weights(self.w_)["words"][names.index((field, times))]
        given = np.asarray(shares, dtype=float)
        return np.asarray((given[..., None] >= np.asarray(task.thresholds) - 1e-9) @ own)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return a name for each weight: "title >= 15%" is for words that at least 15% of the titles contain."""
        check_is_fitted(self)
        return np.array(self.task_.feature_names(), dtype=object)

    @property
    def coef_(self) -> Array:
        """The weights, in the order of get_feature_names_out()."""
        check_is_fitted(self)
        return self.w_

    def _explained_mistake(self, X: Any, Y: Any, i: int) -> None:
        """Return None, because Y does not consist of outputs."""

    def _full_output(self, x: Any, z: Any) -> Chosen:
        n = len(read(x, self.task_.vectorizer))
        wrong = [d for d in z if not is_whole(d) or not 0 <= d < n]
        if wrong or len(set(z)) != len(z) or not len(z):
            raise ValueError(f"the output is {z!r}; expected different documents, by numbers from 0 to {n - 1}")
        return Chosen(tuple(map(int, z)))

    def _shown_output(self, z: Chosen) -> list[int]:
        return list(z.documents)

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        axes = {
            "words": {"level": list(map(str, task.levels_)), "share": list(task.thresholds)},
            "documents": {"feature": task.document_features()},
        }
        return {kind: Weights(values, **axes[kind]) for kind, values in task.split_weights(w).items()}

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.structures.diversity.findings import document_findings

        return document_findings(self, X, Y)

    def _make_task(self, Y: Any) -> Diversity:
        return task_from(self, Diversity)

    def _remedy_for_zero(self) -> str | None:
        if not self.certificate_.primal > 0:
            return None
        return (
            "All sets of documents are worth the same there. Try a larger C, a larger k (rank shows fewer documents), "
            "or other levels"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags
