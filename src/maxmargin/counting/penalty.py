"""The choice of λ in counting-based training: the value whose models do best on examples they were not trained on.

The criterion belongs to the problem (`loss_unseen`) and is evaluated for every example under a model trained without
it: for margins, how many outputs score above the correct one; for similarities, the squared errors. Neither needs a
search.

If the closed form applies and every example has one output, this is exact leave-one-out (leave_one_out.py), with one
eigendecomposition for all λ. Otherwise it is cross-validation by conjugate gradients with a few folds.

Both use a random sample of the examples, so that choosing λ is cheap compared with training on many: the best λ of a
sum over examples changes slowly with their number, and the candidates are powers of √10.

The grid is λ = 10^k v E‖c‖²/2, where v is the largest eigenvalue of the kernel matrix, the scale at which λ balances
the curvature. Above the highest value, k = 1, models differ only in length. Predictions therefore do not depend on the
scale of the inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from maxmargin.base.arrays import Array
from maxmargin.counting import conjugate_gradients
from maxmargin.counting.closed_form import ClosedForm
from maxmargin.counting.conjugate_gradients import KernelInputs
from maxmargin.counting.linear_system import DecomposedSystem, LinearSystem

LEFT_OUT = "loo"  # the value of `alpha`
GIVEN = "given"
SAMPLE = 400  # the most examples that are used
PARTS = 3  # folds, if there is no closed form
POWERS = range(1, -8, -1)  # exponents of 10
TOL = 1e-5  # tolerance of the linear systems while λ is chosen


class Penalty(NamedTuple):
    """The regularisation parameter λ, in the convention of the paper."""

    value: float  # the chosen λ
    chosen_by: str  # how it was chosen, in words


def papers_penalty(system: DecomposedSystem) -> Penalty:
    """Return the mean number of correct outputs per example, the λ of the paper."""
    return Penalty(system.system.outputs_per_example, "the mean number of correct outputs")


def chosen_penalty(system: DecomposedSystem) -> Penalty:
    """Return the best λ of the grid and of its neighbours half a power of ten away."""
    whole = system.system
    n, few = whole.moments.n, whole
    if n > SAMPLE:
        few = whole.part(np.sort(np.random.default_rng(0).permutation(n)[:SAMPLE]))
    m, problem = few.moments.n, few.problem(1.0)
    system.line.doing(f"choosing λ on {m:,} examples")
    K = few.kernel_matrix(slice(None)) if few is not whole or system.K is None else system.K
    common = few.moments.common
    spectrum = None if common is None else common.cov_spectrum()
    form = None
    if spectrum is not None and problem.single:
        known = system.closed if few is whole else None
        form = whole.fitted_to.form.of(K, problem.centred, spectrum) if known is None else known
    largest = float(linalg.eigvalsh(K)[-1] if form is None else form.values.max(initial=0.0))
    scale = largest * float(np.vdot(problem.centred, problem.centred)) / len(problem.centred) / 2
    if m < 2 or not scale > 0:  # there is nothing to leave out or to learn
        return papers_penalty(system)
    values = _parts_left_out(few, K, system.max_iter) if form is None else _each_left_out(form)
    losses: dict[float, float] = {}

    def measure(powers: list[float]) -> float:
        """Return the best of all powers so far, the higher one of equal ones."""
        found = values([scale * 10**power for power in powers])
        for power, F in zip(powers, found, strict=True):
            loss = problem.loss_unseen(F)
            losses[power] = loss if np.isfinite(loss) else np.inf
        return min(losses, key=lambda power: (losses[power], -power))

    best = measure([float(power) for power in POWERS])
    best = measure([best + 0.5, best - 0.5])
    how = f"chosen by leaving out {'parts' if form is None else 'each'} of {m:,} examples"
    return Penalty(scale * 10**best * whole.moments.repeats, how)


Values = Callable[[list[float]], list[Array]]  # descending λ -> held-out values


def _each_left_out(form: ClosedForm) -> Values:
    return lambda lams: [form.left_out(lam, TOL) for lam in lams]


def _parts_left_out(system: LinearSystem, K: Array, max_iter: int) -> Values:
    """Return a function that computes held-out values by conjugate gradients; each λ starts from the previous model."""
    n = system.moments.n
    parts = np.array_split(np.random.default_rng(0).permutation(n), min(PARTS, n))

    def values(lams: list[float]) -> list[Array]:
        found = [np.empty((n, system.moments.dim)) for _ in lams]
        for held in parts:
            known = np.setdiff1d(np.arange(n), held)
            inner, inputs, A = system.part(known), KernelInputs.of(K[np.ix_(known, known)]), None
            for F, lam in zip(found, lams, strict=True):
                problem = inner.problem(lam * inner.moments.repeats)
                A = conjugate_gradients.solve(problem, inputs, TOL, max_iter, A).coefficients
                F[held] = K[np.ix_(held, known)] @ A
        return found

    return values
