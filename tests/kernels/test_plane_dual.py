"""The dual with a kernel makes the steps of the dual over the kernel's features, whatever its cache holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_problems import ALL, TASKS, exact_map, oracle_of, units_of, with_units
from problem.dual.compiled import plane_dual_twin as twin
from thorough import examples

from maxmargin.errors import NotSeparable
from maxmargin.kernels import Polynomial
from maxmargin.problem.dual.limits import Limits
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.tasks import Multiclass

KERNEL = Polynomial(2, gamma=1.0, coef0=1.0)


def both(name, formulation, C=3.0, slots=4, cache_mb=1024.0, sample_weight=None, ties=True):
    """The same empty dual, over a kernel and over its features."""
    make, data = TASKS[name]
    X, Y = data(ties=ties)
    features = exact_map(KERNEL.fit(units_of(X)).values(units_of(X), units_of(X)))
    kernel = Polynomial(2, gamma=1.0, coef0=1.0, cache_mb=cache_mb)
    oracles = [
        oracle_of(make(kernel), X, Y, formulation, sample_weight),
        oracle_of(make(None), with_units(X, features), Y, formulation, sample_weight),
    ]
    return oracles, [oracle.plane_dual(C, Limits(slots)) for oracle in oracles]


def check(blocks):
    """The invariants, from the definition."""
    atoms = blocks._atoms
    gram = atoms.kernel.values(atoms.own, atoms.own)
    direct, n_labels = atoms.arrays.direct, atoms.arrays.n_labels
    metric = np.eye(atoms.dim)
    metric[direct:, direct:] = np.kron(gram, np.eye(n_labels))
    found = twin.read(blocks)
    w = twin.weights(found, blocks.dim)
    assert blocks.w == pytest.approx(w, abs=1e-8)
    assert blocks.seen == pytest.approx(metric @ w, abs=1e-7)
    linear = sum(block.alpha @ block.offset for block in found)
    if blocks.squared:
        linear -= sum(b.alpha.sum() ** 2 / (2 * cap) for b, cap in zip(found, blocks.cap, strict=True) if cap > 0)
    assert blocks.dual == pytest.approx(linear - 0.5 * w @ metric @ w, rel=1e-8, abs=1e-8)
    for block in found:
        assert block.gram == pytest.approx(block.rows @ metric @ block.rows.T, abs=1e-8)
    assert not blocks._scratch.work.any()
    assert not blocks._delta.any()


ACTIONS = st.lists(st.sampled_from(["fresh", "fresh", "cached", "refresh", "tidy", "move"]), max_size=8)


def budget(name, rows):
    """MemoryBudget for so many kernel rows; of chains the products within examples must fit in any case."""
    n_units = units_of(TASKS[name][1]()[0]).shape[0]
    return max(8 * n_units * (rows + 0.5) / 2**20, 350 / 2**20 if name == "chain" else 0.0)


@examples(20, 60)
@given(
    name=st.sampled_from(sorted(TASKS)),
    formulation=st.sampled_from(ALL),
    slots=st.integers(2, 4),
    rows=st.sampled_from([1, 2, 100]),
    actions=ACTIONS,
    seed=st.integers(0, 100),
)
def test_invariants_hold_after_every_action(name, formulation, slots, rows, actions, seed):
    oracles, (blocks, _) = both(name, formulation, slots=slots, cache_mb=budget(name, rows))
    rng = np.random.default_rng(seed)
    for action in actions:
        before, order = blocks.dual, rng.permutation(blocks.n)
        if action == "fresh":
            report = blocks.visit(order, oracles[0].planes(blocks.w, order))
        elif action == "cached":
            report = blocks.visit(order, steps=3)
        else:
            act(blocks, action, oracles[0], seed)
            report = None
        check(blocks)
        if report is not None:
            assert report.gain >= -1e-12
            assert blocks.dual == pytest.approx(before + report.gain)


def act(blocks, action, oracle, seed):
    if action == "move":
        blocks.move_to(blocks.problem._replace(C=3.0 + seed))
    else:
        getattr(blocks, action)()


@examples(16, 40)
@given(name=st.sampled_from(sorted(TASKS)), formulation=st.sampled_from(ALL), actions=ACTIONS, seed=st.integers(0, 100))
def test_same_dual_as_over_the_features(name, formulation, actions, seed):
    """Every block is ascended to its optimum, where w is unique: on the way there ties are decided by rounding."""
    oracles, pair = both(name, formulation, slots=64, cache_mb=budget(name, 3), ties=False)
    rng = np.random.default_rng(seed)
    for action in actions:
        order = rng.permutation(pair[0].n)
        planes = oracles[0].planes(pair[0].w, order)  # the same for both: other maxima may be as high
        for blocks, oracle in zip(pair, oracles, strict=True):
            if action == "fresh":
                blocks.visit(order, planes._replace(dpsi=same_rows(planes.dpsi, oracle)), steps=20_000)
            elif action == "cached":
                blocks.visit(order, steps=20_000)
            else:
                act(blocks, action, oracle, seed)
        assert pair[0].dual == pytest.approx(pair[1].dual, rel=1e-6, abs=1e-9)


def same_rows(rows, oracle):
    """Planes over the kernel's atoms as planes over the atoms of its features: their numbers are the same."""
    return AtomRows(oracle.batch.atoms, rows.indptr, rows.indices, rows.values)


@pytest.mark.parametrize("name", ["multiclass", "chain"])
def test_a_tiny_cache_changes_no_bit(name):
    found = []
    for cache_mb in (1024.0, budget(name, 1)):
        oracles, (blocks, _) = both(name, ALL[0], cache_mb=cache_mb)
        rng = np.random.default_rng(0)
        for _ in range(5):
            order = rng.permutation(blocks.n)
            blocks.visit(order, oracles[0].planes(blocks.w, order))
            blocks.visit(order)
        blocks.refresh()
        found.append((blocks.w.copy(), blocks.seen.copy(), blocks.dual, blocks._atoms.rows))
    assert found[1][3].capacity < found[0][3].n
    assert found[1][3].evaluations > found[0][3].evaluations
    for part in range(3):
        assert np.array_equal(found[0][part], found[1][part])


def test_heights_are_looked_up_in_what_is_kept():
    oracles, (blocks, _) = both("multiclass", ALL[0])
    order = np.arange(blocks.n)
    blocks.visit(order, oracles[0].planes(blocks.w, order))
    before = blocks._atoms.rows.evaluations
    kept = oracles[0].slacks(blocks.w)
    assert blocks._atoms.rows.evaluations == before
    assert oracles[0].slacks(blocks.w.copy()) == pytest.approx(kept)


def test_a_hard_margin_that_cannot_be_is_noticed():
    oracle = oracle_of(Multiclass(kernel=KERNEL), np.array([[0.0], [1.0], [0.0], [2.0]]), [0, 1, 1, 0])
    blocks = oracle.plane_dual(np.inf)
    order = np.arange(4)
    for _ in range(2):
        blocks.visit(order, oracle.planes(blocks.w, order))
    with pytest.raises(NotSeparable, match="constraints found so far contradict each other"):
        blocks.check_separable()


def test_weights_of_zero_take_no_part():
    weights = np.ones(14)
    weights[[2, 3]] = 0.0
    oracles, (kernel, plain) = both("multiclass", ALL[0], sample_weight=weights, slots=64, ties=False)
    order = np.arange(14)
    for _ in range(3):
        planes = oracles[0].planes(kernel.w, order)
        kernel.visit(order, planes, steps=20_000)
        plain.visit(order, planes._replace(dpsi=same_rows(planes.dpsi, oracles[1])), steps=20_000)
    assert kernel.dual == pytest.approx(plain.dual, rel=1e-6)
    assert not kernel._atoms.coefficients(kernel.w)[[2, 3]].any()
