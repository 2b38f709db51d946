"""Stacked scores: the scores of a classifier of single nodes replace their features.

A classifier is more confident on the nodes that it was trained on than on others, and a model trained on such scores
would trust them too much. In training every graph is therefore scored by a classifier that was trained on the others
(folds of whole graphs, Wolpert 1992); a classifier trained on all graphs scores new ones.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_whole
from maxmargin.base.progress_line import LiveLine
from maxmargin.inputs.labels.labels import label_set
from maxmargin.structures.graphs.node_labels import NodeLabels, read_all_labels
from maxmargin.structures.graphs.nodes import Nodes, read_all, stacked_features

LEAST = 1e-3  # added to every probability: below it, classes are equally improbable


class StackedScores:
    """A classifier of nodes, trained on all graphs, and the folds in which it scored them as unseen."""

    def __init__(self, classifier: Any, folds: Any, seed: int):
        if not hasattr(classifier, "predict_proba") and not hasattr(classifier, "decision_function"):
            raise ValueError(f"stack must be a classifier with predict_proba or decision_function, got {classifier!r}")
        if not is_whole(folds) or folds < 2:
            raise ValueError(f"stack_folds must be a whole number >= 2, got {folds!r}")
        self._classifier, self.folds, self.seed = classifier, int(folds), seed

    def fit_transform(self, X: Any, Y: Any, classes: Any, line: LiveLine) -> list[Nodes]:
        """Return the graphs with scores by classifiers that were not trained on them."""
        graphs = read_all(X)
        labels = read_all_labels(graphs, Y)
        self.classes: list[Hashable] = label_set(classes, [k for y in labels for k in y.kinds if k is not None])
        informative = np.flatnonzero([y.known.any() for y in labels])
        if len(informative) < self.folds:
            raise ValueError(
                f"stack needs a labelled graph in each of stack_folds={self.folds} folds, but only {len(informative)} "
                "graphs have labels; use fewer folds, or train the classifier on other graphs and use its scores as "
                "features"
            )
        self.n_features = graphs[0].n_features
        fold = np.zeros(len(graphs), dtype=np.intp)
        fold[informative] = np.random.default_rng(self.seed).permutation(len(informative)) % self.folds
        scored: list[Any] = [None] * len(graphs)
        for k in range(self.folds):
            line.show(f"scores of unseen nodes: fold {k + 1} of {self.folds}")
            seen, unseen = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            model = self._fitted([graphs[i] for i in seen], [labels[i] for i in seen])
            for i, x in zip(unseen, self._scored(model, [graphs[i] for i in unseen]), strict=True):
                scored[i] = x
        line.show("training the classifier on all nodes")
        self.classifier = self._fitted(graphs, labels)
        return scored

    def transform(self, X: Any) -> list[Nodes]:
        """Return new graphs with the scores of the classifier that was trained on all training graphs."""
        graphs = read_all(X)
        for i, x in enumerate(graphs):
            if x.n_features != self.n_features:
                raise ValueError(
                    f"graph {i} has {x.n_features} features per node; expected {self.n_features} as in training"
                )
        return self._scored(self.classifier, graphs)

    @property
    def names(self) -> list[str]:
        """The names of the features of nodes."""
        return [*(f"score of {label}" for label in self.classes), "constant"]

    def _fitted(self, graphs: list[Nodes], labels: list[NodeLabels]) -> Any:
        numbers = {label: k for k, label in enumerate(self.classes)}
        known = np.concatenate([y.known for y in labels])
        truth = np.concatenate([y.numbers(numbers) for y in labels])
        return clone(self._classifier).fit(stacked_features(graphs)[known], truth[known])

    def _scored(self, model: Any, graphs: list[Nodes]) -> list[Nodes]:
        if not graphs:
            return []
        rows = np.column_stack([self._scores(model, stacked_features(graphs)), np.ones(sum(map(len, graphs)))])
        ends = np.cumsum([len(x) for x in graphs])[:-1]
        return [x.with_features(own) for x, own in zip(graphs, np.split(rows, ends), strict=True)]

    def _scores(self, model: Any, features: Any) -> Array:
        """Return (nodes, K) log-probabilities or other scores; classes that the model has not seen get the lowest."""
        columns: NDArray[np.intp] = np.asarray(model.classes_, dtype=np.intp)
        if hasattr(model, "predict_proba"):
            scores = np.full((features.shape[0], len(self.classes)), np.log(LEAST))
            scores[:, columns] = np.log(LEAST + np.asarray(model.predict_proba(features)))
            return scores
        found = np.asarray(model.decision_function(features), dtype=np.float64)
        if found.ndim == 1:
            found = np.column_stack([-found, found])
        if found.shape[1] != len(columns):
            raise ValueError(
                f"the decision_function of {model!r} has {found.shape[1]} columns for {len(columns)} classes; stack "
                "needs one score per class (decision_function_shape='ovr')"
            )
        scores = np.repeat(found.min(axis=1, keepdims=True), len(self.classes), axis=1)
        scores[:, columns] = found
        return scores
