"""The search for the most violated output: what it finds is there, and what it claims as a bound is one."""

import numpy as np
import pytest
from example_tasks import Interval, Pairs, Points, every_labelling, interval_data, pair_data
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from thorough import examples

from maxmargin.problem.contract.examples import Examples, dot
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.rescaling import search_rescaled

FORMULATIONS = [Formulation("slack", "l1"), Formulation("margin", "l2"), Formulation("slack", "l2")]
formulations = pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)


def largest(formulation, points):
    return max(0.0, *(formulation.value(loss, margin) for loss, margin in points))


def searched(formulation, points, lam=1.0):
    task = Points(points)
    task.setup([0], [0])
    return search_rescaled(task.pack([0], [0]), formulation, np.ones(1), np.array([lam]))


POINTS = st.lists(
    st.tuples(st.integers(1, 8).map(lambda k: k / 4), st.integers(-12, 12).map(lambda k: k / 4)), min_size=1, max_size=8
)


@formulations
@examples(66, 200)
@given(points=POINTS, lam=st.sampled_from([1e-6, 0.1, 1.0, 30.0, 1e6]))
def test_found_and_bound_enclose_the_truth(formulation, points, lam):
    points = [(0.0, 0.0), *points]
    found = searched(formulation, points, lam)
    height = found.cuts.values(np.ones(1))[0]
    best = largest(formulation, points)
    assert height <= best + 1e-9
    assert found.upper[0] >= best - 1e-9
    heights = [formulation.value(loss, margin) for loss, margin in points]
    assert np.abs(np.array(heights) - height).min() <= 1e-9, "the cut belongs to none of the outputs"
    assert 0 < found.lam[0] < np.inf


@formulations
@examples(33, 100)
@given(loss=hnp.arrays(float, 6, elements=st.integers(1, 20)), margin=st.integers(-10, 5))
def test_one_output_beside_the_truth_is_found_exactly(formulation, loss, margin):
    """Then the maximiser is on the convex hull, and the search closes its bracket around it."""
    points = [(0.0, 0.0), (loss[0], float(margin))]
    found = searched(formulation, points)
    best = largest(formulation, points)
    if best > 0:
        assert found.cuts.values(np.ones(1))[0] == pytest.approx(best)


def test_output_inside_the_hull_is_missed_but_not_denied():
    """The known limit of searching with the margin decoder alone: the middle point is best, and nobody can reach it."""
    points = [(0.0, 0.0), (1.0, 1 - 0.02), (0.49, 1 - 0.49), (0.02, 1 - 1.0)]
    formulation = Formulation("slack", "l1")
    found = searched(formulation, points)
    assert largest(formulation, points) == pytest.approx(0.2401)
    assert found.cuts.values(np.ones(1))[0] == pytest.approx(0.02)
    assert 0.2401 <= found.upper[0] < 0.27


class ListedPairs(Pairs):
    """Pairs whose outputs are listed, for the reference only."""

    def outputs(self, x):
        return every_labelling(x)


class SearchedInterval(Interval):
    def pack(self, X, Y):
        return Examples(self, X, Y)  # which does not list outputs, so that rescaled ones are searched


@formulations
@pytest.mark.parametrize(("task", "data"), [(ListedPairs(), pair_data(8)), (SearchedInterval(), interval_data(8))])
def test_whole_batches(formulation, task, data):
    X, Y = data
    task.setup(X, Y)
    batch, rng = task.pack(X, Y), np.random.default_rng(0)
    for w in (
        np.zeros(task.dim),
        *rng.integers(-2, 3, (4, task.dim)).astype(float),
        *rng.standard_normal((4, task.dim)),
    ):
        found = search_rescaled(batch, formulation, w, np.full(len(X), 0.3))
        heights = found.cuts.values(w)
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            right = dot(task.psi(x, y), w)
            best = max(formulation.value(task.loss(y, z), right - dot(task.psi(x, z), w)) for z in task.outputs(x))
            assert -1e-9 <= heights[i] <= best + 1e-9
            assert best <= found.upper[i] + 1e-9 * (1 + best)


@formulations
def test_start_does_not_matter_much(formulation):
    X, Y = pair_data(8)
    task = Pairs()
    task.setup(X, Y)
    w = np.array([0.3, -0.2, 0.1])
    batch = task.pack(X, Y)
    cold = search_rescaled(batch, formulation, w, np.ones(len(X)))
    warm = search_rescaled(batch, formulation, w, cold.lam)
    assert (warm.upper >= cold.cuts.values(w) - 1e-9).all()
    assert (cold.upper >= warm.cuts.values(w) - 1e-9).all()
