"""Classes with a kernel, whole blocks at once: the same optimum as with planes one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import examples

from maxmargin.kernels import RBF, Linear
from maxmargin.kernels.plane_dual import KernelPlaneDual
from maxmargin.problem.dual.limits import Limits
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW
from maxmargin.structures.classes.kernel_class_dual import KernelClassDual
from maxmargin.tasks import Multiclass

SMALL = 0.01  # MB, too little for joint rounds


def solved(X, y, kernel, C, tol, cache_mb, costs=None):
    task = Multiclass(kernel=kernel, costs=costs)
    task.setup(X, y)
    oracle = Oracle(task.pack(X, y))
    return oracle, BCFW(tol=tol, cache_mb=cache_mb).solve(oracle, C)


@examples(6, 15)
@given(st.integers(0, 10**6), st.integers(25, 60), st.integers(2, 4), st.sampled_from([0.1, 10.0, 300.0]))
def test_same_optimum_as_with_planes(seed, n, K, C):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, 3)) * 10.0 ** rng.integers(-1, 2), np.arange(n) % K
    kernel = RBF(0.5) if seed % 2 else Linear()
    (oracle, here), (_, there) = (solved(X, y, kernel, C, 1e-3, mb) for mb in (SMALL, 1024.0))
    assert isinstance(here.memory, KernelClassDual)
    assert isinstance(there.memory, KernelPlaneDual)
    a, b = here.certificate, there.certificate
    assert max(a.dual, b.dual) <= min(a.primal, b.primal)
    assert a.primal == pytest.approx(oracle.objective(here.w.copy(), oracle.risk(here.w.copy()), C), rel=1e-9)
    if a.converged and b.converged:
        assert a.primal == pytest.approx(b.primal, rel=2e-3)


def test_most_problems_converge():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 5)), rng.integers(0, 4, 200)
    _, solution = solved(X, y, RBF(0.3), 200.0, 1e-3, 0.1)
    assert isinstance(solution.memory, KernelClassDual)
    assert solution.certificate.converged


@pytest.mark.parametrize("rows", [1, 3, 40])
def test_any_room_for_rows_will_do(rows):
    """The same steps, whichever rows of the kernel matrix fit into memory."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((40, 3)), np.arange(40) % 3
    few, all_of_them = (
        solved(X, y, RBF(0.5, cache_mb=8 * 40 * each / 2**20 * 1.01), 30.0, 1e-2, SMALL)[1] for each in (rows, 40)
    )
    assert few.w == pytest.approx(all_of_them.w, rel=1e-6, abs=1e-9)
    assert few.certificate.dual == pytest.approx(all_of_them.certificate.dual)


def test_scores_are_those_of_the_weights():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((50, 3)), np.arange(50) % 3
    _, solution = solved(X, y, RBF(0.5), 30.0, 1e-2, SMALL)
    blocks = solution.memory
    expected = RBF(0.5).fit(X).values(X, X) @ blocks.w.reshape(50, 3)
    assert pytest.approx(expected) == blocks.seen.T
    value = blocks.dual
    blocks.refresh()
    assert blocks.dual == pytest.approx(value)
    assert blocks.bound() <= blocks.dual * (1 + 1e-12)
    blocks.move_to(blocks.problem._replace(C=3.0))
    assert (blocks.alpha.sum(axis=1) <= 3.0 / 50 * (1 + 1e-12)).all()


def test_rows_that_change_nothing_are_not_computed():
    """Far from the others, in large classes: a few examples hold the boundary."""
    rng = np.random.default_rng(3)
    y = np.arange(1500) % 2
    X = np.column_stack([8.0 * y - 4.0, np.zeros(1500)]) + rng.standard_normal((1500, 2))
    _, solution = solved(X, y, RBF(0.05), 1500.0, 1e-2, 1.0)
    assert isinstance(solution.memory, KernelClassDual)
    rows = solution.memory.classes.atoms.rows
    assert np.count_nonzero(rows.complete) < 1000


def test_the_same_point_over_planes():
    """With the products of the kernel, not with those of the coefficients."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), np.arange(40) % 3
    task = Multiclass(kernel=RBF(0.5))
    oracle = Oracle(task.setup_and_pack(X, y))
    blocks = oracle.block_dual(100.0, Limits(cache_mb=SMALL))
    assert isinstance(blocks, KernelClassDual)
    for _ in range(3):
        blocks.search(oracle, rng.permutation(40), 16)
        blocks.revisit(oracle, rng)
    planes = PlaneDual.of(blocks)
    assert isinstance(planes, KernelPlaneDual)
    assert planes.dual == pytest.approx(blocks.dual, rel=1e-9)
    assert planes.bound() <= solved(X, y, RBF(0.5), 100.0, 1e-3, 1024.0)[1].certificate.primal
    assert planes.visit(np.arange(40)).gain > 0
