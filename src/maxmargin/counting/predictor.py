"""CountingPredictor: structured outputs, trained by counting outputs instead of searching among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self, Unpack

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Part
from maxmargin.base.files.objects import Fields
from maxmargin.base.predictions import Predictions
from maxmargin.counting.least_squares import as_rows
from maxmargin.counting.moments import Moments
from maxmargin.counting.sets.output_set import DecodedOutput, OutputSet
from maxmargin.counting.trainer import CountingOptions, CountingTrainer, NamedCoordinates, check_output_set
from maxmargin.report.findings import Findings


class CountingPredictor(CountingTrainer):
    """A predictor of structured outputs whose scores ⟨f(x), φ(y)⟩ are trained without any search for outputs.

    Training fits the margins of the correct outputs over *all* outputs of a set by least squares (Gärtner and Vembu
    2009, Eq. 2-3; normalised by the number of outputs as in docs/howto/counting.md):

        min_f  λ‖f‖² + Σᵢ ½ E_z[(1 - ⟨f(xᵢ), φ(yᵢ)⟩ + ⟨f(xᵢ), φ(z)⟩)²],      z uniform in the set.

    This is one linear system, so training is possible even if the search for the best output is NP-hard. Prediction
    decodes: exactly if the set has an exact decoder for its size, otherwise by local search.

    Parameters
    ----------
    output_set : OutputSet
        See maxmargin.counting. `fit` also takes a separate set for every example.
    {options}

    Attributes
    ----------
    alpha_ : float
        The regularisation parameter λ.
    chosen_by_ : str
        How λ was chosen, in words.
    certificate_ : CountingCertificate
        The objective relative to f = 0, a proved lower bound, and the residual of the linear system.
    dual_coef_ : array of shape (n, d) or None
        Coefficients of kernel values, or None if the system was solved for weights.
    coef_ : array of shape (d, n_features)
        The weights of features, for the linear kernel.
    intercept_ : array of shape (d,)
        The weights of the constant feature, for the linear kernel.
    weights_ : dict of Weights
        The same weights by name.
    n_iter_ : int
        The number of iterations of conjugate gradients; 1 for the closed form.
    n_features_in_ : int
        The number of features.

    Examples
    --------
    >>> from maxmargin import CountingPredictor, counting
    >>> X = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]]
    >>> model = CountingPredictor(counting.Permutations(["a", "b", "c"]))
    >>> model.fit(X, [("a", "b", "c"), ("a", "b", "c"), ("c", "b", "a"), ("c", "b", "a")]).predict([[2.0, 0.5]])
    [('c', 'b', 'a')]

    See Also
    --------
    maxmargin.counting : the output sets.
    RoutePredictor : routes through points of interest.
    """

    saved: ClassVar[Fields] = {"output_set": Part(OutputSet)}

    def __init__(
        self,
        output_set: OutputSet,
        kernel: Any = "linear",
        alpha: float | str | None = "loo",
        fit_intercept: bool = False,
        **options: Unpack[CountingOptions],
    ):
        self.output_set = output_set
        super().__init__(kernel=kernel, alpha=alpha, fit_intercept=fit_intercept, **options)

    def fit(self, X: Any, Y: Any, output_sets: Sequence[OutputSet] | None = None, several: bool = False) -> Self:
        """Train on inputs X and outputs Y, one per example; with `several`, a list of correct outputs per example.

        output_sets : one set per example, if they differ; their features must have the same length.
        """
        return self._train(self._inputs(X, reset=True), Y, self._sets(output_sets), several)

    def fit_path(
        self,
        X: Any,
        Y: Any,
        alphas: Sequence[float],
        output_sets: Sequence[OutputSet] | None = None,
        several: bool = False,
    ) -> list[Self]:
        """Fit a model for every value of λ, with one decomposition of the kernel matrix.

        The last model stays in this estimator.
        """
        return self._train_path(self._inputs(X, reset=True), Y, self._sets(output_sets), alphas, several)

    def decision_function(self, X: Any) -> Array:
        """Return f(x), the (n, d) scores of the features of outputs."""
        return self._scores(X)

    def decode(self, X: Any, output_sets: Sequence[OutputSet] | None = None) -> list[DecodedOutput]:
        """Return the best output found for every x, with its score and whether it is proved to be optimal."""
        scores = self._scores(X)
        return self._decoded(self._set_of_each(scores, output_sets), scores)

    def predict(self, X: Any, output_sets: Sequence[OutputSet] | None = None) -> Any:
        """Return the best output for every x; see `decode`."""
        return Predictions(found.y for found in self.decode(X, output_sets))

    def score(self, X: Any, Y: Any, output_sets: Sequence[OutputSet] | None = None) -> float:
        """Return the share of examples whose output is predicted exactly."""
        scores = self._scores(X)
        if len(scores) != len(Y):
            raise ValueError(f"X has {len(scores)} examples but Y has {len(Y)}")
        sets = self._set_of_each(scores, output_sets)
        moments = Moments(sets, len(scores))
        truth, _ = as_rows(moments, Y, several=False)
        found, _ = as_rows(moments, [each.y for each in self._decoded(sets, scores)], several=False)
        return float(np.mean((truth == found).all(1)))

    def _decoded(self, sets: Sequence[OutputSet], scores: Array) -> list[DecodedOutput]:
        return [each.decode(f) for each, f in self._with_progress(list(zip(sets, scores, strict=True)), "outputs")]

    def _findings(self, X: Any, Y: Any, output_sets: Sequence[OutputSet] | None = None) -> Findings:
        from maxmargin.counting.findings import output_findings

        scores = self._scores(X)
        if len(scores) != len(Y):
            raise ValueError(f"X has {len(scores)} examples but Y has {len(Y)}")
        sets = self._set_of_each(scores, output_sets)
        return output_findings(self.output_set, sets, self._decoded(sets, scores), Y)

    def _output_features(self, z: Any) -> Array:
        if self.output_set.dim != self.coef_.shape[0]:
            raise ValueError("training had other output sets, so that outputs of `output_set` have no score")
        return self.output_set.features(z)

    def _coordinates(self, rows: Array) -> dict[str, NamedCoordinates]:
        known = self.output_set.dim == rows.shape[1]  # examples may have had separate sets in training
        return {
            "": NamedCoordinates(rows, {"coordinate": self.output_set.coordinates if known else range(rows.shape[1])})
        }

    def _sets(self, output_sets: Sequence[OutputSet] | None) -> OutputSet | Sequence[OutputSet]:
        """Return the output set, or sets, to train with."""
        check_output_set(self.output_set, "output_set")
        if output_sets is None:
            return self.output_set
        _check_list(output_sets)
        for i, each in enumerate(output_sets):
            check_output_set(each, f"output_sets[{i}]")
        return output_sets

    def _set_of_each(self, scores: Array, output_sets: Sequence[OutputSet] | None) -> Sequence[OutputSet]:
        """Return the output set of every example to decode."""
        sets = [self.output_set] * len(scores) if output_sets is None else output_sets
        _check_list(sets)
        if len(sets) != len(scores):
            raise ValueError(f"{len(sets)} output sets were given for {len(scores)} examples")
        for i, each in enumerate(sets):
            check_output_set(each, f"output_sets[{i}]")
            if each.dim != scores.shape[1]:
                raise ValueError(
                    f"the output set of example {i} has features of length {each.dim}; expected {scores.shape[1]}, as "
                    "in training"
                )
        return sets


def _check_list(output_sets: Any) -> None:
    if isinstance(output_sets, OutputSet):
        raise TypeError(f"output_sets is {output_sets!r}; expected a list with one set per example")
