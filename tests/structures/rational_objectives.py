"""Objectives of structural SVMs in rational arithmetic, for any task whose outputs can be listed.

Ψ and Δ are those that the task states. They are floating-point numbers, so the objective of given weights is a rational
number, up to roots and logarithms, which are computed with many more digits than floating-point numbers have.
"""

from __future__ import annotations

import warnings
from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt

import numpy as np

from maxmargin.base.search import Search
from maxmargin.problem.contract.tangents import Softness
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.soft_oracle import SoftOracle
from maxmargin.solvers import BCFW, LBFGS, Bundle, NSlack, OneSlack
from maxmargin.testing.problems import written_out

DIGITS = 60
ROOT = 10**60
ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]
SOFT = [Softness(), Softness(1.0, 1.0), Softness(4.0, 1.0)]


class Exact:
    """All outputs of a tiny problem; the objective of any weights is computed without rounding."""

    def __init__(self, task, X, Y, C, outputs=None):
        self.batch = task.setup_and_pack(X, Y)
        self.C = Fraction(C)
        self.examples = []
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            found = written_out(task, x, y, i, 5_000, outputs)
            differences = {}
            for psi, loss in zip(found.psi, found.loss, strict=True):
                # Differences of sums of whole numbers of one scale are exact.
                differences.setdefault(((found.truth - psi).tobytes(), float(loss)), [0, found.truth - psi])[0] += 1
            self.examples.append(
                [
                    (many, Fraction(loss), [(int(j), Fraction(float(row[j]))) for j in np.flatnonzero(row)])
                    for (_, loss), (many, row) in differences.items()
                ]
            )

    def heights(self, w):
        """Count, loss and margin of all different outputs of each example."""
        for example in self.examples:
            yield [(many, loss, sum((w[j] * v for j, v in row), Fraction(0))) for many, loss, row in example]

    def hinge(self, w, formulation):
        """P(w) for max-margin training."""
        w, risk = [Fraction(float(value)) for value in w], Fraction(0)
        for example in self.heights(w):
            worst = Fraction(0)
            for _, loss, margin in example:
                offset = root(loss) if formulation.squared else loss
                worst = max(worst, offset * (1 - margin) if formulation.rescaling == "slack" else offset - margin)
            risk += worst**2 / 2 if formulation.squared else worst
        return sum(value**2 for value in w) / 2 + self.C * risk / len(self.examples)

    def soft(self, w, softness):
        """P(w) for likelihood and softmax-margin training, rounded down to DIGITS digits."""
        w, risk = [Fraction(float(value)) for value in w], Fraction(0)
        sharpness, share = Fraction(softness.sharpness), Fraction(softness.margin)
        for example in self.heights(w):
            exponents = [(many, sharpness * (share * loss - margin)) for many, loss, margin in example]
            top = max(value for _, value in exponents)
            with localcontext() as context:
                context.prec, context.Emin = DIGITS + 10, -(10**9)
                total = sum((many * decimal(value - top).exp() for many, value in exponents), Decimal(0))
                risk += (top + Fraction(total.ln())) / sharpness
        return sum(value**2 for value in w) / 2 + self.C * risk / len(self.examples)


def decimal(value):
    """A rational number with the digits of the context."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def root(value):
    """The square root of a rational number, rounded down to sixty digits."""
    if value == 0:
        return Fraction(0)
    return Fraction(isqrt(value.numerator * value.denominator * ROOT**2), value.denominator * ROOT)


def prove(task, X, Y, C, formulation=None, softness=None, outputs=None, max_passes=40):
    """Check the certificates of several solvers; return how many there were.

    An objective is no higher than stated, and no stated bound exceeds an objective that any solver reaches.
    """
    exact, found = Exact(task, X, Y, C, outputs), []
    if softness is None:
        oracle = lambda: Oracle(exact.batch, formulation)  # noqa: E731
        solvers = [BCFW, NSlack, OneSlack, Bundle]
    else:
        oracle = lambda: SoftOracle(exact.batch, softness)  # noqa: E731
        solvers = [LBFGS, Bundle]
    for kind in solvers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solution = kind(tol=1e-5, max_passes=max_passes).solve(oracle(), C)
        if solution.error is not None:
            raise solution.error
        w = solution.w
        value = exact.hinge(w, formulation) if softness is None else exact.soft(w, softness)
        found.append((kind.__name__, solution.certificate, value))
    best = min(value for _, _, value in found)
    for name, certificate, value in found:
        where = f"{name} on {type(task).__name__}, C = {C}, {formulation or softness}"
        stated = certificate.primal
        if certificate.search is Search.UNDERGENERATING:
            stated = np.inf if certificate.upper is None else certificate.upper
        assert stated == np.inf or value <= Fraction(stated), f"{where}: {float(value)!r} is higher than {stated!r}"
        if certificate.search is not Search.OVERGENERATING:
            assert certificate.dual == -np.inf or Fraction(certificate.dual) <= best, (
                f"{where}: the bound {certificate.dual!r} exceeds {float(best)!r}, which is reached"
            )
        assert certificate.dual <= certificate.primal
        assert not certificate.converged or certificate.relative_gap <= 1e-5 or certificate.primal == 0
    return len(found)
