"""The master problem of cutting-plane and bundle methods: the best combination of the cuts found so far.

A cut i says that the loss at w is at least b_i - ⟨f_i, w⟩. With G_ij = ⟨f_i, f_j⟩ and 0 < C <= inf,

    maximise   D(a) = b'a - ½ a'Ga    subject to   a_i >= 0,   Σ a <= C,                            (1)

the dual of   minimise ½‖w‖² + C max(0, max_i b_i - ⟨f_i, w⟩)   at w = Σ a_i f_i. G is positive semidefinite
and as a rule singular: cuts repeat, almost repeat, vanish, and outnumber the features.

Symbols. g = b - Ga is the gradient of D: g_i is the violation of cut i at w. The slack C - Σ a is the weight
of one more cut, the zero cut (f = 0, b = 0, hence g = 0), so that (1) lives on the simplex of total weight C.

KKT conditions. a is optimal if and only if for some price μ of the total weight
    (K1)  g_i  = μ   for every cut that carries weight, the zero cut included,
    (K2)  g_i <= μ   for every other cut, the zero cut included (so μ >= 0, and μ = 0 while there is slack).
Their violation in one number: D is concave, so that for every feasible point a*
    D(a*) - D(a) <= g'(a* - a) <= C max(0, max_i g_i) - g'a  =: kkt,                                (2)
which is zero exactly at an optimum, is compared with the tolerance, and is returned.

Method: primal active set. A face is a set of cuts that may carry weight. On the face, (K1) is solved by
Newton steps; a step ends early where a weight becomes zero, and that cut leaves. Once (K1) holds, the cut
that violates (K2) most enters. D rises strictly from one entry to the next, so no face is solved twice.
Three measures keep this working on singular and badly scaled problems:
  - One cut of the face, the pivot p, loses the weight that the others gain, so that a step keeps the total. The Newton
    system is then the Gram matrix of the differences f_i - f_p: directions that merely scale the total, along
    which G is often singular, do not occur. While there is slack, the zero cut is the pivot.
  - A tiny ridge makes that matrix definite. It acts as a proximal term around the current point, because the
    right-hand side is the true gradient there, so repeated steps converge to the solution without a ridge.
    A step along a direction of hardly any curvature is prolonged to the maximum of the true D, or to where a
    weight becomes zero.
  - No absolute tolerances: a number is negligible if it is below its own rounding error or below its share of
    the tolerance on kkt. Rescaled data give a rescaled result, and no C is too small or too large.

C = inf. There is slack always. (2) would be void, and compares a only with points up to twice as long as a,
where the length of a is Σ a_i ‖f_i‖. D is unbounded if and only if the cuts contradict each other: there is
d >= 0 with Σ d_i f_i = 0 and b'd > 0, and then no w has b_i <= ⟨f_i, w⟩ for all i. Such a d appears as a step
that nothing ends, or as weights that grow out of proportion to ‖w‖. Both are checked for this very property.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, qr_delete

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Indices = NDArray[np.intp]

EPS = float(np.finfo(np.float64).eps)
ROUNDING = 8 * EPS  # relative error allowed for in an entry of g = b - Ga
FULL = 1e-14  # slack below this fraction of C is none
RIDGE = 1e-12  # fraction of a cut's ‖f‖²: above the rounding errors of G, below the curvatures that matter
TINY = 1e-14  # a cut with ‖f‖² below this fraction of the largest one gets a ridge as if it had that much
CONTRADICTION = 1e-13  # up to this, (‖Σ d_i f_i‖ / Σ d_i ‖f_i‖)² cannot be distinguished from 0 by G
CLASH = 10.0  # factor by which a w that satisfies a contradiction must exceed one that satisfies any single cut
REFINEMENTS = 4  # complete Newton steps on a face before other cuts are considered
STALLS = 5  # successive faces without progress in D or kkt after which iteration stops
ZERO_CUT = -1  # denotes the zero cut as a pivot


class MasterSolution(NamedTuple):
    """Weights of the cuts, and their value and certificate."""

    alpha: Vector  # always feasible
    value: float  # D(alpha), a lower bound of max D
    kkt: float  # max D - D(alpha) is at most this; for C = inf: max D over Σ a_i ‖f_i‖ <= 2 Σ alpha_i ‖f_i‖


class UnboundedMaster(ValueError):  # noqa: N818 - named for the situation, like the exceptions in errors.py
    """An error for C = inf and cuts that contradict each other, so that the dual has no maximum."""


def solve_master(
    gram: NDArray, b: NDArray, C: float, alpha: NDArray | None = None, tol: float = 1e-10
) -> MasterSolution:
    """Maximise b'a - ½ a'Ga over a >= 0, Σ a <= C; see the head of this file.

    Parameters
    ----------
    gram : array of shape (m, m)
        The Gram matrix of the cuts, symmetric and positive semidefinite.
    b : array of shape (m,)
        The constants of the cuts.
    C : float
        The weight of the risk: positive, possibly inf.
    alpha : array or None
        Starting point, typically the last solution; cuts beyond its length start at zero. It is moved into the feasible
        set if it lies outside. The result is never worse than this point, except for rounding.
    tol : float
        Stop as soon as kkt <= tol * value. Rounding may prevent this: kkt / C cannot be expected below about 1e-15
        (max|b| + max G Σ a), which matters if Σ a max G > 1e5 max|b|. The best point is returned then.

    Returns
    -------
    MasterSolution
        The best weights found, their value and the remaining violation kkt of the optimality conditions.

    Raises
    ------
    UnboundedMaster
        If C = inf and the cuts cannot all be satisfied.
    """
    gram = np.ascontiguousarray(gram, dtype=np.float64)
    b = np.ascontiguousarray(b, dtype=np.float64)
    if b.ndim != 1 or b.size == 0 or gram.shape != (b.size, b.size):
        raise ValueError(f"b and gram must be a vector and a matrix to match, not {b.shape} and {gram.shape}")
    if not C > 0:
        raise ValueError(f"C must be positive, not {C}")
    with np.errstate(all="ignore"):  # a step length may overflow if nothing limits the step
        master = _Master(gram, b, float(C))
        before = master.evaluated(_feasible(alpha, b.size, C))
        if not math.isfinite(before.value):
            raise ValueError("gram, b and alpha must be finite")
        if before.kkt <= tol * before.value:
            return before
        after = master.evaluated(_feasible(master.ascend(before.alpha.copy(), tol), b.size, C))
        # If both values are equal up to rounding, the certificate decides.
        unsure = float(before.alpha @ master.rounding(before.alpha)) if after.kkt < before.kkt else 0.0
        return after if after.value > before.value - unsure else before


def _feasible(alpha: NDArray | None, m: int, C: float) -> Vector:
    """Return a copy of alpha, padded with zeros and moved to where a >= 0 and Σ a <= C."""
    a = np.zeros(m)
    if alpha is not None:
        if np.ndim(alpha) != 1 or len(alpha) > m:
            raise ValueError(f"alpha must be a vector of at most {m} weights, not of shape {np.shape(alpha)}")
        np.maximum(alpha, 0.0, out=a[: len(alpha)])
    total = float(a.sum())
    while total > C:  # more than once only if the scaled weights round up
        a *= C / total * (1 - EPS)
        total = float(a.sum())
    return a


class _Master:
    """One problem of the form (1)."""

    def __init__(self, gram: Matrix, b: Vector, C: float) -> None:
        self.gram, self.b, self.C, self.hard = gram, b, C, math.isinf(C)
        self.squares = np.maximum(gram.diagonal(), 0.0)
        self.least_square = TINY * float(self.squares.max()) or 1.0
        self.norms = np.sqrt(self.squares)
        self.rounding_of_b = ROUNDING * np.abs(b)
        # kkt compares a with all points whose weight, in these units, is at most largest_total(a).
        self.units = np.where(self.norms > 0, self.norms, 1.0) if self.hard else np.ones(len(b))

    def evaluated(self, a: Vector) -> MasterSolution:
        g = self.b - self.times(a)
        return MasterSolution(a, self.value(a, g), self.kkt(a, g))

    def times(self, a: Vector) -> Vector:
        """Return Ga without BLAS, whose threads cost far more than such a product when the cores are busy."""
        return np.einsum("ij,j->i", self.gram, a)

    def value(self, a: Vector, g: Vector) -> float:
        return 0.5 * float(a @ (self.b + g))  # b'a - ½ a'Ga, since Ga = b - g

    def kkt(self, a: Vector, g: Vector) -> float:
        top = float((g / self.units).max())
        return max(0.0, (self.largest_total(a) * top if top > 0 else 0.0) - float(g @ a))

    def rounding(self, a: Vector) -> Vector:
        """Return the possible rounding error of g = b - Ga."""
        return self.rounding_of_b + (ROUNDING * float(self.norms @ a)) * self.norms

    def largest_total(self, a: Vector) -> float:
        return (2 * float(self.units @ a) or math.inf) if self.hard else self.C

    def ascend(self, a: Vector, tol: float) -> Vector:
        """Move a, in place, until kkt <= tol * D, or as far as rounding permits."""
        zero = self.norms <= EPS * self.norms.max()
        if self.hard and self.b[zero].max(initial=0.0) > self.rounding_of_b.max():
            raise _unbounded()
        face = _Face(self, ZERO_CUT, np.flatnonzero(a))
        if a.sum() >= self.C * (1 - FULL):
            face = face.with_new_pivot(a)
        steps, stalls, highest, least = 0, 0, -math.inf, math.inf
        for _ in range(100 + 20 * len(a)):
            g = self.b - self.times(a)
            value, kkt = self.value(a, g), self.kkt(a, g)
            if kkt <= tol * value:
                return a
            # Does (K1) hold on the face, up to rounding and the tolerance?
            rounding = self.rounding(a)
            mu, unsure = (0.0, 0.0) if face.pivot == ZERO_CUT else (g[face.pivot], rounding[face.pivot])
            excess = g[face.free] - mu
            share = 0.05 * tol * max(0.0, value) / self.largest_total(a)
            settled = bool((np.abs(excess) <= (rounding + share * self.units)[face.free] + unsure).all())
            if not settled and steps < REFINEMENTS:
                smaller = self.step(a, face, excess)
                steps = steps + 1 if smaller is face else 0
                face = smaller
                continue
            # Which cut off the face violates (K2) most?
            stalls = stalls + 1 if value <= highest and kkt >= least else 0
            if stalls > STALLS:
                break
            highest, least, steps = max(highest, value), min(least, kkt), 0
            violation = g - rounding - (mu + unsure)
            violation[face.free] = -math.inf
            newcomer = int(violation.argmax())
            if face.pivot != ZERO_CUT and -mu > max(unsure, violation[newcomer]):
                face = _Face(self, ZERO_CUT, np.append(face.free, face.pivot))
            elif violation[newcomer] > 0:
                face = face.with_cut(newcomer)
            elif settled:
                break
        self.deny_contradiction(a, float(a @ self.times(a)))
        return a

    def step(self, a: Vector, face: _Face, excess: Vector) -> _Face:
        """Move a, in place, towards (K1) on the face; return the face without the cuts that became zero."""
        free, pivot = face.free, face.pivot
        d = face.newton(excess)
        change = np.append(d, -d.sum())  # the change of the free cuts and of the pivot
        move = np.zeros(len(a))
        move[free] = d
        if pivot == ZERO_CUT:
            weight = max(0.0, self.C - float(a.sum()))
        else:
            weight = a[pivot]
            move[pivot] = change[-1]
        limits = np.full(len(change), math.inf)  # the step lengths at which the weights become zero
        np.divide(np.append(a[free], weight), -change, out=limits, where=change < 0)
        length, slope = 1.0, float(excess @ d)
        if slope - float(face.ridge @ (d * d)) < 0.01 * slope:  # almost all curvature comes from the ridge
            curvature = max(float(move @ self.times(move)), EPS * float(self.norms @ np.abs(move)) ** 2)
            length = slope / curvature if curvature > 0 else math.inf
            if limits.min() == math.inf:
                self.deny_contradiction(move, curvature)
        length = min(length, float(limits.min()))
        a += length * move
        leaving = limits <= length * (1 + 4 * EPS)
        if not leaving.any():
            return face
        a[free[leaving[:-1]]] = 0.0
        if leaving[-1] and pivot != ZERO_CUT:
            a[pivot] = 0.0
        smaller = face.without(leaving[:-1])
        return smaller.with_new_pivot(a) if leaving[-1] else smaller

    def deny_contradiction(self, d: Vector, square: float) -> None:
        """Raise UnboundedMaster if C = inf and d >= 0, with ‖Σ d_i f_i‖² = square, is a contradiction."""
        length = float(self.norms @ d)
        if not self.hard or square > CONTRADICTION * length**2 or length == 0:
            return
        # A w that satisfies the cuts satisfies ⟨Σ d_i f_i, w⟩ >= b'd as well, so it is at least this long.
        together = float(self.b @ d) / math.sqrt(max(square, EPS * length**2))
        alone = float((self.b / self.units).max())
        if together > CLASH * alone:
            raise _unbounded()


def _unbounded() -> UnboundedMaster:
    what = "some nonnegative combination of them demands that zero be positive"
    return UnboundedMaster(f"C = inf, but the cuts cannot all be satisfied: {what}")


class _Face:
    """The cuts that may carry weight, a pivot and the free ones, with the matrix of their Newton system.

    factor is upper triangular; factorᵀ factor = Gram matrix of the differences to the pivot + ridge.
    """

    def __init__(self, master: _Master, pivot: int, free: Indices) -> None:
        self.master, self.pivot, self.free = master, pivot, free
        self.factor: Matrix | None = None  # not computed yet
        least = master.least_square if pivot == ZERO_CUT else max(master.least_square, master.squares[pivot])
        self.ridge = RIDGE * np.maximum(master.squares[free], least)

    def newton(self, excess: Vector) -> Vector:
        """Return the changes of the free weights that equalise g on the face, up to the ridge."""
        if self.factor is None:
            self.factor = self._factorised()
        return lapack.dpotrs(self.factor, excess, lower=0)[0]

    def _factorised(self) -> Matrix:
        gram, free = self.master.gram, self.free
        while True:
            matrix = gram.take(free, axis=0).take(free, axis=1)
            if self.pivot != ZERO_CUT:
                to_pivot = gram[self.pivot].take(free)
                matrix -= to_pivot
                matrix -= (to_pivot - gram[self.pivot, self.pivot])[:, None]
            matrix.reshape(-1)[:: len(free) + 1] += self.ridge
            # The transpose of this symmetric matrix has the memory layout that LAPACK needs to work without a copy.
            factor, failure = lapack.dpotrf(matrix.T, lower=0, clean=1, overwrite_a=1)
            if not failure:
                return factor
            self.ridge = 100 * self.ridge  # rounding errors make G indefinite

    def with_cut(self, cut: int) -> _Face:
        """Return the face with one more free cut, at the cost of a triangular solve."""
        larger = _Face(self.master, self.pivot, np.append(self.free, cut))
        if self.factor is None:
            return larger
        gram, k = self.master.gram, len(self.free)
        column, square = gram[cut].take(self.free), gram[cut, cut]
        if self.pivot != ZERO_CUT:
            row = gram[self.pivot]
            column += row[self.pivot] - row[cut] - row.take(self.free)
            square += row[self.pivot] - 2 * row[cut]
        column = lapack.dtrtrs(self.factor, column, trans=1)[0]
        remainder = square + larger.ridge[-1] - float(column @ column)
        if remainder > 0.1 * larger.ridge[-1]:  # otherwise rounding errors dominate, and the matrix is factorised again
            larger.ridge[:-1] = self.ridge
            larger.factor = np.zeros((k + 1, k + 1), order="F")
            larger.factor[:k, :k] = self.factor
            larger.factor[:k, k] = column
            larger.factor[k, k] = math.sqrt(remainder)
        return larger

    def without(self, leaving: NDArray[np.bool_]) -> _Face:
        """Return the face with fewer free cuts; removing a single one usually needs no new factorisation."""
        smaller = _Face(self.master, self.pivot, self.free[~leaving])
        positions = np.flatnonzero(leaving)
        if self.factor is not None and len(positions) == 1 and len(smaller.free) > 0:
            # Delete a column from a QR decomposition. Q is not used, so any matrix may take its place.
            unused = np.eye(len(self.free), order="F")
            triangle = qr_delete(unused, self.factor, positions[0], which="col", check_finite=False)[1]
            smaller.factor = np.asfortranarray(triangle[:-1])
            smaller.ridge = self.ridge[~leaving]
        return smaller

    def with_new_pivot(self, a: Vector) -> _Face:
        """Return the face whose pivot, of weight zero, is replaced by the heaviest cut, the last to become zero."""
        heaviest = int(a[self.free].argmax())
        return _Face(self.master, int(self.free[heaviest]), np.delete(self.free, heaviest))
