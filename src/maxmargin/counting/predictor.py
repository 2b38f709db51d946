"""CountingPredictor: structured outputs learnt by counting them instead of searching among them."""

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
    """Learn scores ⟨f(x), φ(y)⟩ of outputs y from a set whose moments are known in closed form.

    Training fits the margins of the right outputs over *all* outputs of the set by least squares (Gärtner and Vembu
    2009, Eq. 2-3; normalised by the number of outputs as in docs/counting.md):

        min_f  λ‖f‖² + Σᵢ ½ E_z[(1 - ⟨f(xᵢ), φ(yᵢ)⟩ + ⟨f(xᵢ), φ(z)⟩)²],      z uniform in the set,

    which is one linear system: no search for the best output takes place, so it works where that search is NP-hard.
    Prediction decodes: exactly where the set has an exact decoder for its size, else by local search.

    Parameters
    ----------
    output_set : OutputSet
        See maxmargin.counting. `fit` also takes a set of its own for every example.
    kernel : str or callable
        "linear", "poly", "rbf" and the other kernels of scikit-learn, a function of two rows, or "precomputed".
    alpha : "loo", float or None
        λ. "loo": the one of a grid, as wide as the kernel matrix says, whose models put the fewest outputs above the
        right one (of similarities: have the smallest squares) at examples that they were trained without: leave-one-out
        in closed form, on up to 400 training examples, where the closed form below is known and examples have one right
        output each, else by parts of these. None is the paper's, the mean number of right outputs per example.
    gamma : float or None
    degree : float
    coef0 : float
        Of the kernels that have them, as in scikit-learn.
    kernel_params : dict or None
        Further arguments of a kernel function.
    fit_intercept : bool
        Whether to add a constant to the kernel.
    target : "margin" or "similarity"
        What is fitted: the paper's margins of 1, as above, or the similarity of every output with the right one, i.e.
        ½ E_z[(⟨φ(yᵢ) - μ, φ(z) - μ⟩ - ⟨f(xᵢ), φ(z) - μ⟩)²]: better where labels are noisy.
    solver : "auto", "closed" or "cg"
        The closed form (for sets whose covariance has few eigenvalues, cubic in the number of examples) or conjugate
        gradients; "auto" takes the former where it can, up to 3,000 examples, and up to 500 for the linear kernel of
        fewer features than examples.
    tol : float
        Relative residual at which conjugate gradients stop.
    max_iter : int
        Their limit.
    verbose : bool or int
        Show progress on standard error, of training and of `decode`, whose search may be hard; see StructuredSVM.
    checkpoint : str, path or None
        A file from which a training that was stopped goes on; see StructuredSVM.
    checkpoint_every : float or str
        Seconds between two writings of it, or iterations of conjugate gradients as in "10 passes".

    Attributes
    ----------
    alpha_ : λ, and chosen_by_ : how it was found, in words.
    certificate_ : objective (less that of f = 0), proved lower bound, and residual of the linear system.
    dual_coef_ : (n, d) coefficients of kernel values, or None where weights were solved for.
    coef_ : (d, n_features) weights and intercept_ : (d,), for the linear kernel; weights_ : the same by name.
    n_iter_ : steps of conjugate gradients; 1 for the closed form.
    n_features_in_.
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
        """Train on inputs X and outputs Y, one per example; with `several`, a list of right outputs per example.

        output_sets : one set per example, where they differ; their features must have one length.
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
        """A fitted model for every λ; the kernel matrix is decomposed once. The last one stays in this estimator."""
        return self._train_path(self._inputs(X, reset=True), Y, self._sets(output_sets), alphas, several)

    def decision_function(self, X: Any) -> Array:
        """(n, d): f(x), the scores of the features of outputs."""
        return self._scores(X)

    def decode(self, X: Any, output_sets: Sequence[OutputSet] | None = None) -> list[DecodedOutput]:
        """The best output of every x that the set's decoder finds, with its score and whether none is better."""
        scores = self._scores(X)
        return self._decoded(self._set_of_each(scores, output_sets), scores)

    def predict(self, X: Any, output_sets: Sequence[OutputSet] | None = None) -> Any:
        """The best output of every x; see `decode`."""
        return Predictions(found.y for found in self.decode(X, output_sets))

    def score(self, X: Any, Y: Any, output_sets: Sequence[OutputSet] | None = None) -> float:
        """The share of examples whose output is predicted exactly."""
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

        return output_findings(self, X, Y, output_sets)

    def _coordinates(self, rows: Array) -> dict[str, NamedCoordinates]:
        known = self.output_set.dim == rows.shape[1]  # examples may have had sets of their own
        return {
            "": NamedCoordinates(rows, {"coordinate": self.output_set.coordinates if known else range(rows.shape[1])})
        }

    def _sets(self, output_sets: Sequence[OutputSet] | None) -> OutputSet | Sequence[OutputSet]:
        """What to train with."""
        check_output_set(self.output_set, "output_set")
        if output_sets is None:
            return self.output_set
        _check_list(output_sets)
        for i, each in enumerate(output_sets):
            check_output_set(each, f"output_sets[{i}]")
        return output_sets

    def _set_of_each(self, scores: Array, output_sets: Sequence[OutputSet] | None) -> Sequence[OutputSet]:
        """What to decode these scores in."""
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
