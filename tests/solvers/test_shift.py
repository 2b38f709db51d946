"""Cuts survive new truths: what trainers remember of one completion is, once shifted, true of another.

Vectors, products, weights and bounds after a shift equal those that are computed afresh from the definition, for all
formulations and for rows of every kind; and no bound exceeds the optimum of the new problem.
"""

from typing import NamedTuple

import numpy as np
import pytest
from example_tasks import Bags, bag_data, partial_sequences
from problem.dual.compiled import plane_dual_twin as twin

from maxmargin.problem.dual.limits import Limits
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.completions import completed, shifts
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.solvers.cuts import Cuts
from maxmargin.tasks import Chain
from maxmargin.testing import brute_force

ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]
formulations = pytest.mark.parametrize("formulation", ALL, ids=str)
PROBLEMS = {
    "dense": (Bags(), *bag_data(7)),
    "csr": (Bags(listed=True), *bag_data(7, seed=1)),
    "atoms": (Chain(classes=[0, 1, 2], costs={0: 2.0}), *partial_sequences(7)),
}
problems = pytest.mark.parametrize("name", PROBLEMS)
WEIGHTS = np.array([1.0, 2.0, 0.0, 0.5, 1.0, 3.0, 1.0])
C = 4.0


class Pair(NamedTuple):
    """A problem under two completions."""

    before: Oracle
    after: Oracle
    at: np.ndarray  # where the second one was completed
    truths: list[np.ndarray]  # Ψ of the truths, of either


def completions(name, formulation):
    task, X, Y = PROBLEMS[name]
    task.setup(X, Y)
    rng = np.random.default_rng(3)
    oracle = Oracle(task.pack(X, Y), formulation, WEIGHTS)
    points = rng.standard_normal((2, task.dim))
    truths = [np.array([written(task, x, task.complete(w, x, y)) for x, y in zip(X, Y, strict=True)]) for w in points]
    assert not np.array_equal(*truths), "nothing would be tested"
    return Pair(completed(oracle, points[0]), completed(oracle, points[1]), points[1], truths)


def written(task, x, z):
    features = task.psi(x, z)
    if not isinstance(features, tuple):
        return features
    full = np.zeros(task.dim)
    np.add.at(full, features[0], features[1])
    return full


def found_outputs(pair, formulation, w):
    """Ψ and loss of the most violated outputs under the first completion."""
    batch = pair.before.batch
    planes = batch.planes(w) if formulation.plain else batch.rescaled_planes(w, formulation)
    return pair.truths[0] - AtomRows.of(planes.dpsi).toarray(), planes.loss


def points(dim):
    rng = np.random.default_rng(5)
    return [np.zeros(dim), *(0.3 * rng.standard_normal((3, dim))), *rng.standard_normal((3, dim))]


def mean_cut(pair, formulation, w):
    """The cut of the risk at w by its definition, with the truths of the second completion put into it."""
    psi, loss = found_outputs(pair, formulation, w)
    a, offset = np.zeros(len(w)), 0.0
    n = len(loss)
    for i in range(n):
        scale = np.sqrt(loss[i]) if formulation.slack == "l2" else loss[i]
        factor = scale if formulation.rescaling == "slack" else 1.0
        height = scale - factor * (pair.truths[0][i] - psi[i]) @ w
        if height <= 0:
            continue
        share = pair.before.weights[i] / n * (height if formulation.slack == "l2" else 1.0)
        a += share * factor * (pair.truths[1][i] - psi[i])
        offset += share * scale - (0.5 * share * height if formulation.slack == "l2" else 0.0)
    return a, offset


@pytest.mark.parametrize("short", [False, True])
@formulations
@problems
def test_cuts_of_the_risk(name, formulation, short, monkeypatch):
    monkeypatch.setattr(Atoms, "reads", lambda self, atoms: 0.0 if short else np.inf)
    pair = completions(name, formulation)
    cuts, dim = Cuts(), pair.before.dim
    for w in points(dim):
        cuts.add(pair.before.mean_plane(w))
    alpha = np.random.default_rng(1).dirichlet(np.ones(len(cuts))) * C * 0.9
    cuts.weigh(alpha)
    cuts.shift(shifts(pair.before, pair.after))
    assert (cuts.vectors.short == short).all()
    expected = [mean_cut(pair, formulation, w) for w in points(dim)]
    vectors = np.array([a for a, _ in expected])
    assert np.column_stack([cuts.dots(unit) for unit in np.eye(dim)]) == pytest.approx(vectors, abs=1e-9)
    assert cuts.offset == pytest.approx([offset for _, offset in expected])
    assert cuts.gram == pytest.approx(vectors @ vectors.T, abs=1e-9)
    assert cuts.combined(dim) == pytest.approx(alpha @ vectors, abs=1e-9)
    w = alpha @ vectors
    linear, square = alpha @ cuts.offset, w @ w
    factor = min(1.0, max(linear / square, 0.0))
    assert cuts.bound(pair.after) == pytest.approx(factor * linear - 0.5 * factor**2 * square, abs=1e-9)
    assert cuts.bound(pair.after) <= optimum(name, formulation, pair).value + 1e-7
    # and they go on as if they had always been cuts of the new problem
    cuts.add(pair.after.mean_plane(points(dim)[1]))
    vectors = np.column_stack([cuts.dots(unit) for unit in np.eye(dim)])
    assert cuts.gram == pytest.approx(vectors @ vectors.T, abs=1e-9)


@formulations
@problems
def test_a_shifted_cut_lies_below_the_new_risk(name, formulation):
    pair = completions(name, formulation)
    cuts = Cuts()
    for w in points(pair.before.dim):
        cuts.add(pair.before.mean_plane(w))
    cuts.shift(shifts(pair.before, pair.after))
    for w in points(pair.before.dim):
        assert (cuts.offset - cuts.dots(w) <= pair.after.risk(w) + 1e-9).all()


@formulations
@problems
def test_cuts_that_were_dropped_and_moved_back(name, formulation):
    """Dropping keeps each cut's own factors, and two moves there and back change nothing."""
    pair = completions(name, formulation)
    cuts, dim = Cuts(), pair.before.dim
    for w in points(dim):
        cuts.add(pair.before.mean_plane(w))
    alpha = np.array([1.0, 0, 1, 0, 0, 1, 0])
    for _ in range(3):
        cuts.weigh(alpha)
    cuts.drop_idle(patience=1)
    assert len(cuts) == 3
    before, gram = np.column_stack([cuts.dots(unit) for unit in np.eye(dim)]), cuts.gram.copy()
    cuts.shift(shifts(pair.before, pair.after))
    expected = [mean_cut(pair, formulation, w)[0] for w, kept in zip(points(dim), alpha, strict=True) if kept]
    assert np.column_stack([cuts.dots(unit) for unit in np.eye(dim)]) == pytest.approx(np.array(expected), abs=1e-9)
    cuts.shift(shifts(pair.after, pair.before))
    assert np.column_stack([cuts.dots(unit) for unit in np.eye(dim)]) == pytest.approx(before, abs=1e-9)
    assert cuts.gram == pytest.approx(gram, abs=1e-9)


def test_no_cuts_to_move():
    pair = completions("dense", ALL[0])
    cuts = Cuts()
    cuts.shift(shifts(pair.before, pair.after))
    assert len(cuts) == 0
    blocks = pair.before.plane_dual(C)
    blocks.shift(shifts(pair.before, pair.after))
    assert blocks.dual == 0


@pytest.mark.parametrize("slots", [2, 3, 50])
@formulations
@problems
def test_planes_of_the_examples(name, formulation, slots):
    """With few slots planes are folded: a mean of planes moves by the mean of their shifts."""
    pair = completions(name, formulation)
    blocks = pair.before.plane_dual(C, Limits(slots))
    everyone = np.arange(pair.before.n)
    for w in [*points(blocks.dim), None]:
        blocks.visit(everyone, pair.before.planes(blocks.w.copy() if w is None else w, everyone))
    held = twin.read(blocks)
    assert max(len(block.alpha) for block in held) > 1
    blocks.shift(shifts(pair.before, pair.after))
    expected = twin.shifted(held, pair.truths[1] - pair.truths[0], formulation.rescaling)
    found = twin.read(blocks)
    for mine, other in zip(found, expected, strict=True):
        assert mine.rows == pytest.approx(other.rows, abs=1e-9)
        assert np.array_equal(mine.offset, other.offset)
        assert np.array_equal(mine.alpha, other.alpha)
    for block, gram in zip(found, twin.grams(expected), strict=True):
        assert block.gram == pytest.approx(np.array(gram).reshape(block.gram.shape), abs=1e-9)
    assert blocks.w == pytest.approx(twin.weights(expected, blocks.dim), abs=1e-9)
    assert blocks.dual == pytest.approx(twin.dual(expected, blocks.cap, formulation.squared, blocks.dim), abs=1e-9)
    best = optimum(name, formulation, pair).value
    assert blocks.dual <= best + 1e-7
    before = blocks.dual
    for _ in range(60):  # and they go on as if they had always been planes of the new problem
        blocks.visit(everyone, pair.after.planes(blocks.w, everyone))
        assert blocks.dual >= before - 1e-9
        before = blocks.dual
    assert best - 0.05 * max(best, 1) <= blocks.dual <= best + 1e-7


@formulations
@problems
def test_a_plane_by_its_definition(name, formulation):
    """The planes that are moved are s(Ψ(truth) - Ψ(z)) with b = s: what the twin takes for granted."""
    pair = completions(name, formulation)
    blocks = pair.before.plane_dual(C)
    everyone = np.arange(pair.before.n)
    w = points(blocks.dim)[1]
    blocks.visit(everyone, pair.before.planes(w, everyone), steps=0)
    blocks.shift(shifts(pair.before, pair.after))
    psi, loss = found_outputs(pair, formulation, w)
    scale = np.sqrt(loss) if formulation.slack == "l2" else loss
    factor = scale if formulation.rescaling == "slack" else np.ones(len(scale))
    for i, block in enumerate(twin.read(blocks)):
        for row, offset in zip(block.rows, block.offset, strict=True):
            assert row == pytest.approx(factor[i] * (pair.truths[1][i] - psi[i]), abs=1e-9)
            assert offset == pytest.approx(scale[i])


def optimum(name, formulation, pair):
    return brute_force(*PROBLEMS[name], C, formulation, WEIGHTS, completed_at=pair.at)
