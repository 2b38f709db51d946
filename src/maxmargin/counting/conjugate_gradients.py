"""Counting-based training by preconditioned conjugate gradients: any covariance, many examples, sets that differ.

The linear system of problem.py is solved either for the kernel coefficients A (one row per example), where it is
self-adjoint and positive definite in the inner product ⟨A, B⟩ = tr AᵀKB, so that K is multiplied once per iteration
and never inverted; or, for linear inputs F = X W, for W itself. The preconditioner solves the system without its rank
one terms, which is diagonal in the eigenvectors of K (or XᵀX) on one side and of S on the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import linalg, sparse

from maxmargin.counting.kernel_matrix import decomposed
from maxmargin.counting.output_set import Eigenspace
from maxmargin.counting.problem import Problem
from maxmargin.task import Array

DENSE = 1500  # features up to which the covariance is decomposed


class Solved(NamedTuple):
    """Coefficients and how they were found."""

    coefficients: Array  # A or W
    iterations: int
    residual: float  # relative to the right side, both preconditioned


class Inputs(Protocol):
    """How coefficients become values F at the training inputs."""

    side: tuple[Array, Array]  # eigenvalues and eigenvectors of the matrix on the left of the preconditioner

    def values(self, V: Array) -> Array:
        """F of these coefficients."""

    def adjoint(self, G: Array) -> Array:
        """The gradient with respect to coefficients, from that with respect to F."""

    def inner(self, U: Array, V: Array, values_of_v: Array) -> float:
        """The inner product in which the system is self-adjoint."""

    def polished(self, problem: Problem, V: Array, F: Array) -> Array:
        """The coefficients, cleaned of what the inner product does not see."""


class Kernel:
    """F = K A."""

    def __init__(self, K: Array):
        self.K = K
        self.side = decomposed(K)

    def values(self, V: Array) -> Array:
        return self.K @ V

    def adjoint(self, G: Array) -> Array:
        return G

    def inner(self, U: Array, V: Array, values_of_v: Array) -> float:
        return float(np.vdot(U, values_of_v))

    def polished(self, problem: Problem, V: Array, F: Array) -> Array:
        """Where K is singular, parts of A that it maps to 0 are invisible: the system itself tells them from F."""
        values, vectors = self.side
        unseen = vectors[:, values <= 1e-12 * values.max(initial=0.0)]
        told = (problem.target() - problem.curvature(F)) / (2 * problem.lam)
        return V + unseen @ (unseen.T @ (told - V))


class Linear:
    """F = X W."""

    def __init__(self, X: Any):
        self.X = X
        self.side = decomposed(np.asarray((X.T @ X).todense() if sparse.issparse(X) else X.T @ X))

    def values(self, V: Array) -> Array:
        return np.asarray(self.X @ V)

    def adjoint(self, G: Array) -> Array:
        return np.asarray(self.X.T @ G)

    def inner(self, U: Array, V: Array, values_of_v: Array) -> float:
        return float(np.vdot(U, V))

    def polished(self, problem: Problem, V: Array, F: Array) -> Array:
        return V


def solve(
    problem: Problem,
    inputs: Inputs,
    tol: float,
    max_iter: int,
    start: Array | None = None,
    watch: Callable[[int, float], None] | None = None,
) -> Solved:
    """Iterate until the preconditioned residual is tol times the first one."""
    target = inputs.adjoint(problem.target())
    precondition = _preconditioner(problem, inputs)
    V = np.zeros_like(target) if start is None else start.copy()
    F = inputs.values(V)
    R = target - 2 * problem.lam * V - inputs.adjoint(problem.curvature(F))
    P, FP = np.zeros_like(R), np.zeros_like(F)
    Z = precondition(target)
    first = inputs.inner(target, Z, inputs.values(Z))
    before, residual, iteration = 1.0, 1.0, 0
    while iteration < max_iter:
        Z = precondition(R)
        FZ = inputs.values(Z)
        now = inputs.inner(R, Z, FZ)
        residual = float(np.sqrt(max(now, 0.0) / max(first, 1e-300)))
        if watch is not None and iteration:
            watch(iteration, residual)
        if residual <= tol:
            break
        share = now / before if iteration else 0.0
        P, FP = Z + share * P, FZ + share * FP
        product = 2 * problem.lam * P + inputs.adjoint(problem.curvature(FP))
        step = now / inputs.inner(product, P, FP)
        V += step * P
        F += step * FP
        R -= step * product
        before, iteration = now, iteration + 1
    return Solved(inputs.polished(problem, V, F), iteration, residual)


def _preconditioner(problem: Problem, inputs: Inputs) -> Callable[[Array], Array]:
    """R -> the solution of 2λ V + (side) V S n = R, where the examples' sets are taken to be the first one."""
    values, vectors = inputs.side
    scaled = float(problem.counts.mean()) * values
    first = problem.moments.groups[0][0]
    spaces = first.cov_spectrum()
    if spaces is None and first.dim <= DENSE:
        thetas, V = linalg.eigh(first.covariance())
        divisors = 2 * problem.lam + np.multiply.outer(scaled, np.maximum(thetas, 0.0))
        return lambda R: vectors @ ((vectors.T @ R @ V) / divisors) @ V.T
    if spaces is None:  # one average eigenvalue
        probe = np.random.default_rng(0).choice([-1.0, 1.0], (16, first.dim))
        average = float(np.vdot(probe, first.cov_apply(probe)) / probe.size)
        spaces = [Eigenspace(average, lambda rows: rows)]

    def precondition(R: Array) -> Array:
        rotated = vectors.T @ R
        return vectors @ sum(
            project(rotated) / (2 * problem.lam + theta * scaled)[:, None] for theta, project in spaces
        )

    return precondition
