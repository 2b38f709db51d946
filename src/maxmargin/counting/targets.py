"""The targets that scores of outputs can be fitted to, by name."""

from __future__ import annotations

from typing import Literal, NamedTuple

from maxmargin.counting.closed_form import ClosedForm
from maxmargin.counting.least_squares import LeastSquares
from maxmargin.counting.similarities import SimilarityForm, SimilarityLeastSquares

TargetName = Literal["margin", "similarity"]


class Target(NamedTuple):
    """A least squares problem, and its closed-form solution if the covariance has few eigenvalues."""

    problem: type[LeastSquares]
    form: type[ClosedForm]


MARGIN = Target(LeastSquares, ClosedForm)
TARGETS = {"margin": MARGIN, "similarity": Target(SimilarityLeastSquares, SimilarityForm)}
