"""The block dual: whatever is done to it, its invariants hold and nothing but an improvement changes its value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem.dual.compiled import plane_dual_twin as twin
from strategies import atom_rows, whole
from thorough import examples

from maxmargin.errors import NotSeparable
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.dual.limits import Limits
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes


def empty(n, dim, C, squared=False, weights=None, rescaling="margin", patience=10, **limits):
    """The dual point of a problem, before any plane is known."""
    weights, formulation = np.ones(n) if weights is None else weights, Formulation(rescaling, "l2" if squared else "l1")
    return PlaneDual(dim, DualProblem(weights, formulation, C, Limits(**limits)), patience)


def check(blocks, squared):
    found = twin.read(blocks)
    for i, block in enumerate(found):
        assert (block.alpha >= 0).all(), i
        assert block.alpha.sum() <= blocks.cap[i] * (1 + 1e-9) or (squared and blocks.cap[i] > 0), i
        assert block.gram == pytest.approx(block.rows @ block.rows.T, abs=1e-8), i
        assert len(block.alpha) <= blocks.slots
    assert blocks.w == pytest.approx(twin.weights(found, blocks.dim), abs=1e-8)
    assert blocks.dual == pytest.approx(twin.dual(found, blocks.cap, squared, blocks.dim), rel=1e-8, abs=1e-8)
    assert blocks.alpha_sums == pytest.approx([block.alpha.sum() for block in found])
    assert not blocks._scratch.work.any(), "the scratch vector is zero between calls"
    return found


ACTIONS = st.lists(
    st.sampled_from(["fresh", "fresh", "fresh", "cached", "refresh", "tidy", "move", "shift"]), max_size=15
)


@examples(100, 300)
@given(
    n=st.integers(1, 4),
    dim=st.integers(1, 4),
    squared=st.booleans(),
    rescaling=st.sampled_from(["margin", "slack"]),
    slots=st.integers(2, 4),
    patience=st.integers(0, 3),
    cache_mb=st.sampled_from([0.0, 1024.0]),
    actions=ACTIONS,
    data=st.data(),
)
def test_invariants_hold_after_every_action(n, dim, squared, rescaling, slots, patience, cache_mb, actions, data):
    limits = {"planes_per_example": slots, "cache_mb": cache_mb}
    blocks = empty(n, dim, 2.0, squared, data.draw(whole(n, 0, 2)), rescaling, patience, **limits)
    for action in actions:
        before, w = blocks.dual, blocks.w.copy()
        if action == "fresh":
            order = np.array(data.draw(st.lists(st.integers(0, n - 1), unique=True, min_size=1)))
            planes = Planes(data.draw(whole((len(order), dim))), data.draw(whole(len(order), 0, 3)))
            report = blocks.visit(order, planes, steps=data.draw(st.sampled_from([1, 20])))
            assert blocks.dual - before == pytest.approx(report.gain, abs=1e-9)
        elif action == "cached":
            blocks.visit(np.arange(n))
        elif action == "shift":
            moves = data.draw(whole((n, dim), -1, 1))
            expected = twin.shifted(twin.read(blocks), moves, rescaling)
            blocks.shift(AtomRows.of(moves))
            assert_same_planes(twin.read(blocks), expected)
        elif action == "move":
            held = twin.read(blocks)
            blocks.move_to(blocks.problem._replace(C=data.draw(st.sampled_from([0.1, 2.0, 50.0]))))
            best = twin.best_multiple(held, blocks.cap, squared, dim)
            assert blocks.dual == pytest.approx(best, rel=1e-6, abs=1e-9)
        else:
            getattr(blocks, action)()
            assert blocks.w == pytest.approx(w, abs=1e-9)
            assert blocks.dual == pytest.approx(before, abs=1e-9)
        if action in ("fresh", "cached"):
            assert blocks.dual >= before - 1e-9, "a visit made things worse"
        found = check(blocks, squared)
        if action == "tidy" and cache_mb == 0:
            assert all(len(block.alpha) <= 1 for block in found), "over its limit the cache keeps one plane per example"


def assert_same_planes(found, expected):
    for mine, other in zip(found, expected, strict=True):
        assert mine.rows == pytest.approx(other.rows, abs=1e-9)
        assert np.array_equal(mine.offset, other.offset)
        assert np.array_equal(mine.alpha, other.alpha)


@given(rows=atom_rows(), data=st.data(), squared=st.booleans(), rescaling=st.sampled_from(["margin", "slack"]))
def test_truths_that_move_take_the_planes_along(rows, data, squared, rescaling):
    """Rows over shared atoms, in which an atom may stand twice; some examples do not move."""
    planes, n = rows.rows, rows.rows.shape[0]
    blocks = empty(n, planes.atoms.dim, 3.0, squared, rescaling=rescaling, planes_per_example=2)
    for _ in range(data.draw(st.integers(0, 3))):
        blocks.visit(np.arange(n), Planes(planes, data.draw(whole(n, 0, 3))), steps=3)
        order = np.array(data.draw(st.permutations(range(n))))
        still = AtomRows(planes.atoms, np.zeros(2, dtype=np.int32), planes.indices[:0], planes.values[:0])
        moves = AtomRows.stack([planes, still]).take(
            np.where(np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n))), order, n)
        )
        expected = twin.shifted(twin.read(blocks), moves.toarray(), rescaling)
        blocks.shift(moves)
        found = check(blocks, squared)
        assert_same_planes(found, expected)
        for block, gram in zip(found, twin.grams(expected), strict=True):
            assert block.gram == pytest.approx(np.array(gram).reshape(block.gram.shape), abs=1e-9)


@given(planes=whole((5, 3)), offset=whole(5, 0, 3), squared=st.booleans(), data=st.data())
def test_visit_reaches_the_maximum_of_a_block(planes, offset, squared, data):
    """One example among two; the plain version ascends over all planes at once."""
    blocks = empty(2, 3, 4.0, squared, patience=100, planes_per_example=8)
    blocks.visit(np.array([0]), Planes(data.draw(whole((1, 3))), np.array([2.0])))
    for row, height in zip(planes, offset, strict=True):
        blocks.visit(np.array([1]), Planes(row[None, :], np.array([height])), steps=0)
    blocks.visit(np.array([1]), steps=20_000)
    mine, other = twin.read(blocks)[1], twin.read(blocks)[0]
    alpha, w = twin.ascend(
        mine.rows, mine.offset, np.zeros(len(mine.alpha)), other.alpha @ other.rows, blocks.cap[1], squared
    )
    best = twin.dual([other, mine._replace(alpha=alpha)], blocks.cap, squared, 3)
    assert blocks.dual == pytest.approx(best, rel=1e-7, abs=1e-9)
    assert blocks.w == pytest.approx(w, abs=1e-3)


@given(planes=whole((4, 2)), offset=whole(4, 0, 3), squared=st.booleans())
def test_report_of_heights(planes, offset, squared):
    """The penalty that a visit reports is that of the heights before its steps."""
    blocks = empty(4, 2, 8.0, squared)
    report = blocks.visit(np.arange(4), Planes(planes, offset), steps=0)
    penalty = 0.5 * offset**2 if squared else offset  # w = 0, so a plane's height is its offset
    assert report.penalty == pytest.approx(2.0 * penalty.sum())
    assert report.added == np.count_nonzero(offset)
    assert report.gain == 0


def test_epsilon_keeps_shallow_planes_out():
    blocks = empty(1, 2, 1.0)
    assert blocks.visit(np.array([0]), Planes(np.array([[1.0, 0.0]]), np.array([0.5])), epsilon=0.5).added == 0
    assert blocks.visit(np.array([0]), Planes(np.array([[1.0, 0.0]]), np.array([0.6])), epsilon=0.5).added == 1


def test_idle_planes_are_forgotten():
    blocks = empty(1, 2, 1.0, patience=2)
    blocks.visit(np.array([0]), Planes(np.array([[1.0, 0.0]]), np.array([1.0])), steps=0)
    for count in (1, 1, 0):
        assert len(twin.read(blocks)[0].alpha) == count
        blocks.visit(np.array([0]), steps=0)


@pytest.mark.parametrize("squared", [False, True])
def test_tables_grow_as_needed_and_folding_keeps_the_dual(squared):
    """Many planes per example, far more than there are slots; long rows over shared atoms after short ones."""
    rng = np.random.default_rng(0)
    n, n_labels, n_features = 7, 3, 40
    atoms = Atoms(rng.integers(-1, 2, (20, n_features)).astype(float), n_labels, 5)
    blocks = empty(n, atoms.dim, 10.0, squared, planes_per_example=5)
    best = 0.0
    for length in (1, 2, 30, 300, 3) * 6:
        lengths = rng.integers(0, length + 1, n)
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        indices = rng.integers(0, 5 + 20 * n_labels, indptr[-1]).astype(np.int32)
        rows = AtomRows(atoms, indptr, indices, rng.integers(-2, 3, indptr[-1]).astype(float))
        blocks.visit(rng.permutation(n), Planes(rows, rng.integers(0, 9, n).astype(float)))
        check(blocks, squared)
        assert blocks.dual >= best - 1e-9
        best = blocks.dual
    blocks.refresh()
    assert blocks.dual == pytest.approx(best)


def test_cache_limit_holds_after_tidying():
    rng = np.random.default_rng(0)
    blocks = empty(50, 200, 50.0, planes_per_example=16, cache_mb=0.1)
    for _ in range(12):
        planes = Planes(rng.standard_normal((50, 200)), rng.uniform(1, 2, 50))
        blocks.visit(np.arange(50), planes, steps=3)
        before = blocks.dual
        blocks.tidy()
        assert blocks.dual == pytest.approx(before)
        counts = [len(block.alpha) for block in check(blocks, False)]
        assert blocks._used_mb() <= 0.1 or max(counts) <= 1
    assert max(counts) >= 1


def test_plane_without_features_contradicts_a_hard_margin():
    blocks = empty(3, 2, np.inf)
    with pytest.raises(NotSeparable, match="example 1 cannot be separated"):
        blocks.visit(np.array([1]), Planes(np.zeros((1, 2)), np.array([1.0])))


def test_one_plane_per_example_is_too_few():
    """With room for one plane there is nothing to fold it with, and dropping it would make the bound wrong."""
    with pytest.raises(ValueError, match="a whole number >= 2"):
        empty(1, 2, 1.0, planes_per_example=1)
