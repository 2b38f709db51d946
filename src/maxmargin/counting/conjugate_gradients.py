"""Counting-based training by preconditioned conjugate gradients: for any covariance, many examples, different sets.

The inputs are features, F = Φ W: the given ones for the linear kernel, or else the scaled eigenvectors of K with
eigenvalues v,

    K = Φ Φᵀ,     ΦᵀΦ = diag(v),     v > 0,                                                                         (1)

and the linear system of least_squares.py is solved for W. (In terms of A it is self-adjoint only in ⟨A, B⟩ = tr AᵀKB,
where rounding errors on the null space of K would dominate the remaining error.) The preconditioner solves the system
without its rank-one terms, which is diagonal in the eigenvectors of ΦᵀΦ on one side and of S on the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Real, Whole
from maxmargin.base.files.learnt import InPlace, Keeper, going_on, learnt_of, relearn
from maxmargin.base.files.objects import Fields
from maxmargin.counting.kernel_matrix import decomposed
from maxmargin.counting.least_squares import LeastSquares
from maxmargin.counting.sets.output_set import Eigenspace

DENSE = 1500  # the largest number of features for which the covariance is decomposed
ROUNDING = 1e-14  # a residual that further iterations cannot make smaller


class IteratedSolution(NamedTuple):
    """Coefficients with the number of iterations and the residual."""

    coefficients: Array  # A or W
    iterations: int
    residual: float  # relative to the right side, both preconditioned


class LinearInputs:
    """Input features X of the linear kernel, F = X W."""

    def __init__(self, features: Any, values: Array, vectors: Array):
        self.features, self.values, self.vectors = features, values, vectors

    @classmethod
    def of(cls, X: Any) -> LinearInputs:
        """Decompose XᵀX."""
        return cls(X, *decomposed(np.asarray((X.T @ X).todense() if sparse.issparse(X) else X.T @ X)))

    def rotated(self, V: Array) -> Array:
        """Return V in the basis of the eigenvectors of ΦᵀΦ."""
        return self.vectors.T @ V

    def rotated_back(self, V: Array) -> Array:
        """Return V, given in the basis of the eigenvectors of ΦᵀΦ, in the original basis."""
        return self.vectors @ V

    def applied(self, W: Array) -> Array:
        """Return Φ W."""
        return np.asarray(self.features @ W)

    def adjoint(self, G: Array) -> Array:
        """Return Φᵀ G."""
        return np.asarray(self.features.T @ G)

    def started(self, start: Array) -> Array:
        """Return the W of given coefficients."""
        return start

    def coefficients(self, problem: LeastSquares, W: Array) -> Array:
        """Return the coefficients of the model, given W."""
        return W


class KernelInputs(LinearInputs):
    """Inputs of a kernel, F = K A, through the features (1), which are their own eigenvectors."""

    def __init__(self, features: Array, values: Array):
        self.features, self.values = features, values

    @classmethod
    def of(cls, K: Array) -> KernelInputs:
        """Decompose K."""
        values, vectors = decomposed(K)
        positive = values > 1e-14 * values.max(initial=0.0)
        values = values[positive]
        return cls(vectors[:, positive] * np.sqrt(values), values)

    def rotated(self, V: Array) -> Array:
        return V

    def rotated_back(self, V: Array) -> Array:
        return V

    def started(self, start: Array) -> Array:
        return self.adjoint(start)

    def coefficients(self, problem: LeastSquares, W: Array) -> Array:
        """Return A, on the null space of K too, because the system itself yields A from F = Φ W.

        An error R of W contributes curvature(Φ R) / 2λ to it. The second term removes this error for a curvature of 1.
        """
        from_values = problem.target() - problem.curvature(self.applied(W))  # 2λ A
        lacking = self.adjoint(from_values) - 2 * problem.lam * W
        return (from_values - self.applied(lacking / (2 * problem.lam + self.values)[:, None])) / (2 * problem.lam)


class Iterate:
    """The state of conjugate gradients after an iteration."""

    learnt: ClassVar[Fields] = {
        **dict.fromkeys(("W", "R", "P"), InPlace()),
        **dict.fromkeys(("before", "residual", "tol"), Real(least=0)),
        "iteration": Whole(),
    }

    def __init__(self, W: Array, tol: float):
        self.W, self.R, self.P = np.array(W), np.zeros_like(W), np.zeros_like(W)
        self.before, self.residual, self.tol, self.iteration = 1.0, 1.0, tol, 0


def solve(
    problem: LeastSquares,
    inputs: LinearInputs,
    tol: float,
    max_iter: int,
    start: Array | None = None,
    accept: Callable[[Array], bool] | None = None,
    watch: Callable[[int, float], None] | None = None,
    keeper: Keeper | None = None,
) -> IteratedSolution:
    """Iterate until the preconditioned residual is tol times the first one.

    accept : is then called with the coefficients; if it returns False, iterations continue until the residual is
        a tenth.
    watch : is called with the number of iterations and the residual.
    keeper : receives, after iterations, the state that another process needs to resume.
    """
    target = inputs.adjoint(problem.target())
    precondition = _preconditioner(problem, inputs)
    at = Iterate(np.zeros_like(target) if start is None else inputs.started(start), tol)
    if keeper is not None and keeper.found is not None:
        with going_on():
            relearn(at, keeper.found)
    else:
        at.R[:] = target - 2 * problem.lam * at.W - inputs.adjoint(problem.curvature(inputs.applied(at.W)))
    first = float(np.vdot(target, precondition(target)))
    while at.iteration < max_iter:
        Z = precondition(at.R)
        now = float(np.vdot(at.R, Z))
        at.residual = float(np.sqrt(now / max(first, 1e-300)))
        if watch is not None:
            watch(at.iteration, at.residual)
        if at.residual <= at.tol:
            if accept is None or at.residual <= ROUNDING or accept(inputs.coefficients(problem, at.W)):
                break
            at.tol = at.residual / 10
        at.P = Z + (now / at.before if at.iteration else 0.0) * at.P
        product = 2 * problem.lam * at.P + inputs.adjoint(problem.curvature(inputs.applied(at.P)))
        bend = float(np.vdot(product, at.P))
        if not bend > 0:  # only rounding errors are left
            break
        step = now / bend
        at.W = at.W + step * at.P
        at.R -= step * product
        at.before, at.iteration = now, at.iteration + 1
        if keeper is not None:
            keeper.offer(at.iteration, lambda: learnt_of(at), last=at.iteration >= max_iter)
    return IteratedSolution(inputs.coefficients(problem, at.W), at.iteration, at.residual)


def _preconditioner(problem: LeastSquares, inputs: LinearInputs) -> Callable[[Array], Array]:
    """Return the function R -> W that solves 2λ W + ΦᵀΦ W S n = R, with the output set of the first example for all."""
    scaled = float(problem.counts.mean()) * inputs.values
    first = problem.moments.groups[0][0]
    spaces = first.cov_spectrum()
    if spaces is None and first.dim <= DENSE:
        thetas, V = linalg.eigh(first.covariance())
        divisors = 2 * problem.lam + np.multiply.outer(scaled, np.maximum(thetas, 0.0))
        return lambda R: inputs.rotated_back((inputs.rotated(R) @ V) / divisors) @ V.T
    if spaces is None:  # use one average eigenvalue
        probe = np.random.default_rng(0).choice([-1.0, 1.0], (16, first.dim))
        average = float(np.vdot(probe, first.cov_apply(probe)) / probe.size)
        spaces = [Eigenspace(average, lambda rows: rows)]

    def precondition(R: Array) -> Array:
        rotated, result = inputs.rotated(R), np.zeros_like(R)
        for theta, project in spaces:
            result += project(rotated) / (2 * problem.lam + theta * scaled)[:, None]
        return inputs.rotated_back(result)

    return precondition
