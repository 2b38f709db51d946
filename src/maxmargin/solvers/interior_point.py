"""The best weights of all remembered planes at once, by a primal-dual interior point method.

Block i has planes (a_k, b_k), and cap_i > 0 is C vᵢ/n. Plain slacks get the truth as one more plane (0, 0) of a block:

    minimise   ½‖w‖² + Σᵢ cap_i ξ_i       subject to  z_k = ξ_i - b_k + ⟨a_k, w⟩ >= 0                 (1)
    maximise   b'α - ½‖A'α‖²              subject to  α >= 0,  Σ_{k in i} α_k = cap_i                 (2)

and for squared slacks, without truths,

    minimise   ½‖w‖² + ½ Σᵢ cap_i ξ_i²    subject to  z >= 0 as above                                 (3)
    maximise   b'α - ½‖A'α‖² - Σᵢ (Σₖ α_k)² / 2cap_i       subject to  α >= 0.                        (4)

Optimality: w = A'α, αz = 0, Σₖ α_k = total_i + ridge_i ξ_i, with (total, ridge) = (cap, 0) in (1) and (0, cap) in (3).
Newton's method on these equations with αz = σμ instead of 0, eliminated down to the space of w: with θ = α/z,
Θ_i = Σₖ θ_k + ridge_i and the means m_i = Σₖ θ_k a_k / Θ_i of the blocks,

    M dw = …,     M = I + Σₖ θ_k (a_k - m_i)(a_k - m_i)' + Σᵢ ridge_i m_i m_i'.                       (5)

The centred form matters: if one plane has all the weight, θ is huge, and a difference of two sums would cancel.
Columns of A are scaled for the linear algebra (which does not change the problem), and if there are fewer planes
than coordinates, coordinates of the span of the planes are used instead.

Mehrotra (SIAM J. Optim. 1992), predictor and corrector with one step length, as convex quadratic programs need.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from maxmargin.base.arrays import Array

ITERATIONS = 60  # limit; 10 to 20 are usual
# The share of the distance to the boundary that a step may go, and the initial height of ξ above the planes.
ATTEMPTS = ((0.995, 1.0), (0.9, 1.0), (0.9, 10.0), (0.9, 1000.0))
SHORT = 1e-8  # steps shorter than this are only rounding


class JointProblem(NamedTuple):
    """Planes in the order of their blocks; every block has at least one."""

    rows: Array  # (N, d) the vectors a
    offset: Array  # (N,) the numbers b
    owner: NDArray[np.intp]  # (N,) the block of every plane, ascending from 0
    cap: Array  # one for each block
    squared: bool | NDArray[np.bool_] = False  # True if slacks are squared, for all blocks or each


class JointPoint(NamedTuple):
    """The best solution found."""

    alpha: Array  # (N,) >= 0, without the truths; the sum over a block may exceed its cap by rounding
    w: Array  # (d,) the weights
    mixture: Array  # (N,) w = Σ mixture · a up to rounding: used if only inner products are known
    gap: float  # relative gap of w and alpha among these planes


def solve(problem: JointProblem, tol: float) -> JointPoint:
    """Return α and w whose gap among these planes is at most tol, if rounding permits.

    If C and the planes are both large, long steps may come so close to the boundary that rounding stops them there.
    Shorter steps from a start farther inside then take more iterations, but converge.
    """
    best: JointPoint | None = None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for boundary, height in ATTEMPTS:
            found = _Newton(problem, boundary, height).run(tol)
            if best is None or found.gap < best.gap:
                best = found
            if best.gap <= 3 * tol:
                break
    assert best is not None
    return best


def multiplications(planes: int, blocks: int, dim: int) -> float:
    """Estimate the cost of a solve: 25 iterations, each with 3 million multiplications besides the linear algebra."""
    d = min(planes, dim)
    return 25.0 * ((planes + blocks) * d * d + d**3 / 3.0 + 3e6) + (2.0 * planes**2 * dim if planes < dim else 0.0)


class _Newton:
    """The iterates α, w, ξ, z of one problem; w is kept as u in scaled coordinates: w_j = u_j / scale_j."""

    def __init__(self, problem: JointProblem, boundary: float, height: float):
        self.boundary = boundary
        self.squared = np.broadcast_to(problem.squared, len(problem.cap))
        planes = _with_truths(problem, ~self.squared)
        self.count = len(problem.offset)  # planes that are not truths come first in `positions`
        self.positions = _positions(problem.owner, ~self.squared)
        self.offset, self.owner, self.cap = planes.offset, planes.owner, planes.cap
        self.starts = np.searchsorted(self.owner, np.arange(len(self.cap)))
        self.total, self.ridge = np.where(self.squared, 0.0, self.cap), np.where(self.squared, self.cap, 0.0)
        self.basis: Array | None = None
        rows = planes.rows
        if self.count < rows.shape[1]:
            self.basis, triangle = linalg.qr(problem.rows.T, mode="economic", check_finite=False)
            rows = np.zeros((len(self.offset), triangle.shape[0]))
            rows[self.positions] = triangle.T
        scale = np.sqrt(np.einsum("ij,ij->j", rows, rows))
        self.scale = np.where(scale > 0, scale, 1.0)
        self.rows, self.unit = rows / self.scale, self.scale**-2.0  # ‖w‖² = Σ unit u²
        self._start(height)

    def _start(self, height: float) -> None:
        """Set w = 0, ξ above all planes, and α to the centres of the simplices (for squared slacks: as ξ determines).

        The iterations establish w = A'α; a start close to the central path matters more than a feasible one.
        """
        counts = np.bincount(self.owner)
        self.u, self.mixture = np.zeros(len(self.unit)), np.zeros(len(self.offset))
        self.heights = self.offset.copy()
        highest = self._highest()
        self.xi = height * (highest + 1e-3 * float(np.max(highest)) + float(np.mean(highest)) + 1e-300)
        self.alpha = ((self.total + self.ridge * self.xi) / counts)[self.owner]
        self.z = self.xi[self.owner] - self.heights

    def run(self, tol: float) -> JointPoint:
        best = self._point(np.inf)
        for _ in range(ITERATIONS):
            gap = self._gap()
            if gap < best.gap:
                best = self._point(gap)
            if gap <= tol or not np.isfinite(gap) or not self._factorise():
                break
            if self._step() < SHORT:
                break
        return best

    def _sums(self, values: Array) -> Array:
        return np.asarray(np.add.reduceat(values, self.starts))

    def _highest(self) -> Array:
        return np.asarray(np.maximum(np.maximum.reduceat(self.heights, self.starts), 0.0))

    def _gap(self) -> float:
        """Return the relative gap of w and α."""
        highest = self._highest()
        norm = float(self.u @ (self.unit * self.u))
        primal = 0.5 * norm + float(self.cap @ np.where(self.squared, 0.5 * highest**2, highest))
        combined = self.rows.T @ self.alpha
        dual = float(self.offset @ self.alpha) - 0.5 * float(combined @ (combined / self.unit))
        if self.squared.any():
            dual -= 0.5 * float(np.sum((self._sums(self.alpha) ** 2 / self.cap)[self.squared]))
        if primal > 0:
            return (primal - dual) / primal
        return 0.0 if primal == 0 else np.inf  # rounding has left no usable number

    def _point(self, gap: float) -> JointPoint:
        w = self.u / self.scale
        if self.basis is not None:
            w = self.basis @ w
        return JointPoint(self.alpha[self.positions], w, self.mixture[self.positions], gap)

    def _factorise(self) -> bool:
        """Compute M of (5) and its Cholesky factor; return False if rounding makes M indefinite."""
        self.theta = self.alpha / self.z
        self.block_theta = self._sums(self.theta) + self.ridge
        shares = self.theta / self.block_theta[self.owner]
        ends = np.append(self.starts, len(self.owner))
        self.means = sparse.csr_array((shares, np.arange(len(shares)), ends)) @ self.rows
        self.root = np.sqrt(self.theta)
        self.centred = self.rows - self.means[self.owner]
        self.centred *= self.root[:, None]
        matrix = self.centred.T @ self.centred
        if self.squared.any():
            weighted = self.means * np.sqrt(self.ridge)[:, None]
            matrix += weighted.T @ weighted
        diagonal = matrix.reshape(-1)[:: len(self.unit) + 1]
        diagonal += self.unit
        for _ in range(3):
            try:
                self.factor = linalg.cho_factor(matrix, lower=True, check_finite=False)
            except linalg.LinAlgError:
                diagonal += 1e-13 * float(np.mean(diagonal))
            else:
                return True
        return False

    def _direction(self, change: Array) -> tuple[Array, Array, Array, Array]:
        """Return (du, dξ, dz, dα) of the Newton step that changes αz/z by this, and reduces infeasibility."""
        above = self.xi[self.owner] - self.heights - self.z
        excess = self._sums(self.alpha) - self.total - self.ridge * self.xi
        adrift = self.rows.T @ self.alpha - self.unit * self.u
        known = change - self.theta * above
        level = (self._sums(known) + excess) / self.block_theta
        right = adrift + self.centred.T @ ((known - self.theta * level[self.owner]) / self.root)
        right += self.means.T @ (self.ridge * level - excess)
        du = self._solved(right)
        du += self._solved(right - self._times(du))  # one refinement
        dxi = level - self.means @ du
        dz = level[self.owner] + (self.centred @ du) / self.root + above
        return du, dxi, dz, change - self.theta * dz

    def _solved(self, right: Array) -> Array:
        return np.asarray(linalg.cho_solve(self.factor, right, check_finite=False))

    def _times(self, du: Array) -> Array:
        product = self.unit * du + self.centred.T @ (self.centred @ du)
        return product + self.means.T @ (self.ridge * (self.means @ du)) if self.squared.any() else product

    def _step(self) -> float:
        """Make a predictor-corrector step and return its length."""
        alpha, z = self.alpha, self.z
        mu = float(np.mean(alpha * z))
        _, _, dz, dalpha = self._direction(-alpha)
        along, across = min(1.0, _longest_step(alpha, dalpha)), min(1.0, _longest_step(z, dz))
        ahead = (alpha + along * dalpha) @ (z + across * dz) / len(z)
        centring = min(1.0, max(float(ahead) / mu, 0.0) ** 3)
        du, dxi, dz, dalpha = self._direction((centring * mu - dalpha * dz) / z - alpha)
        length = min(1.0, self.boundary * min(_longest_step(alpha, dalpha), _longest_step(z, dz)))
        if not length >= SHORT:  # also if it is NaN
            return 0.0
        # dw = A'dα + A'α - w, so the weights of the planes in w change by dα + α - mixture.
        self.mixture += length * (dalpha + alpha - self.mixture)
        self.u += length * du
        self.xi += length * dxi
        self.alpha = alpha + length * dalpha
        self.heights = self.offset - self.rows @ self.u
        self.z = np.maximum(self.xi[self.owner] - self.heights, 1e-3 * (z + length * dz))
        return length


def _longest_step(values: Array, change: Array) -> float:
    """Return the largest step for which all values stay nonnegative."""
    falling = change < 0
    return float(np.min(-values[falling] / change[falling], initial=np.inf))


def _positions(owner: NDArray[np.intp], plain: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the positions of the planes when every block with plain slacks has its truth behind them."""
    return np.arange(len(owner)) + np.append(0, np.cumsum(plain))[owner]


def _with_truths(problem: JointProblem, plain: NDArray[np.bool_]) -> JointProblem:
    """Return the planes with the truths (0, 0) of blocks with plain slacks, block by block."""
    positions = _positions(problem.owner, plain)
    owner = np.sort(np.concatenate([problem.owner, np.flatnonzero(plain)]))
    rows, offset = np.zeros((len(owner), problem.rows.shape[1])), np.zeros(len(owner))
    rows[positions], offset[positions] = problem.rows, problem.offset
    return problem._replace(rows=rows, offset=offset, owner=owner)
