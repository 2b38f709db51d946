"""Cuts written out and over atoms: the same numbers by two routes."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from strategies import whole
from thorough import examples

from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.mean_plane import MeanPlane
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.solvers import Bundle, OneSlack
from maxmargin.solvers.cut_vectors import CutVectors
from maxmargin.solvers.cuts import Cuts
from maxmargin.tasks import Contingency, Multiclass, Ranking

RNG = np.random.default_rng(0)
SPARSE = sparse.random_array((30, 60), density=0.05, rng=RNG, format="csr")  # few numbers, many features


@st.composite
def planes(draw):
    """Atoms with coordinates and units, and cuts over them in which an atom may stand twice or none at all."""
    n_units, n_features, n_labels, direct = draw(st.tuples(*(st.integers(1, 3) for _ in range(4))))
    atoms = Atoms(draw(whole((n_units, n_features))), n_labels, direct)
    cuts = []
    for _ in range(draw(st.integers(1, 8))):
        indices = draw(st.lists(st.integers(0, atoms.count - 1), max_size=5))
        values = draw(whole(len(indices)))
        ends = np.array([0, len(indices)], dtype=np.int32)
        row = AtomRows(atoms, ends, np.array(indices, dtype=np.int32), values)
        cuts.append(MeanPlane(row.toarray()[0], 0.0, 0.0, row))
    return atoms, cuts


@given(planes(), st.data())
def test_same_products_and_combinations(drawn, data):
    atoms, cuts = drawn
    vectors = CutVectors()
    kept, short = np.zeros((0, atoms.dim)), []
    for plane in cuts:
        short.append(data.draw(st.booleans()))
        kept = np.vstack([kept, plane.a])
        atoms.reads = lambda _, few=short[-1]: 0.0 if few else np.inf
        np.testing.assert_allclose(vectors.add(plane), kept @ plane.a)
        if data.draw(st.booleans()):
            which = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=len(kept), max_size=len(kept))))
            kept, short = kept[which], [short[t] for t in which]
            vectors.keep(which)
        assert vectors.short.tolist() == short
        v, alpha = data.draw(whole(atoms.dim)), data.draw(whole(len(kept), 0, 3))
        np.testing.assert_allclose(vectors.dots(v), kept @ v, atol=1e-12)
        np.testing.assert_allclose(vectors.combined(alpha, atoms.dim), alpha @ kept, atol=1e-12)


def test_the_shorter_form_is_chosen():
    y = RNG.integers(0, 2, 30)
    task = Contingency("f1")
    for X, short in ((SPARSE, True), (RNG.standard_normal((60, 3)), False)):
        labels = np.resize(y, X.shape[0])
        task.setup([X], [labels])
        oracle = Oracle(task.pack([X], [labels]))
        cuts = Cuts()
        cuts.add(oracle.mean_plane(np.zeros(oracle.dim)))
        assert cuts.vectors.short.tolist() == [short]


def test_a_cut_of_many_new_atoms_is_written_out_and_short_ones_are_not():
    atoms = Atoms(sparse.random_array((30, 60), density=0.2, rng=RNG, format="csr"), 1, 0)
    vectors = CutVectors()
    for units in (np.arange(2), np.arange(30), np.arange(3)):
        row = AtomRows(atoms, np.array([0, len(units)], dtype=np.int32), units.astype(np.int32), np.ones(len(units)))
        vectors.add(MeanPlane(row.toarray()[0], 0.0, 0.0, row))
    assert vectors.short.tolist() == [True, False, True]


def test_idle_cuts_are_forgotten():
    cuts = Cuts()
    for t in range(40):
        cuts.add(MeanPlane(np.eye(40)[t], 1.0 + t, 0.0))
        alpha = np.zeros(len(cuts))
        alpha[-1] = 1.0
        cuts.weigh(alpha)
        cuts.drop_idle(patience=3)
    assert len(cuts) < 10
    assert cuts.offset[-1] == 40
    np.testing.assert_array_equal(cuts.gram, np.eye(len(cuts)))
    np.testing.assert_array_equal(cuts.combined(40), np.eye(40)[39])
    space = SimpleNamespace(least=0.0, square=lambda w: float(w @ w))
    oracle = SimpleNamespace(geometry=None, dim=40, space=space)
    assert cuts.bound(oracle) == pytest.approx(40 - 0.5)


PROBLEMS = {
    "contingency": (Contingency("f1"), [SPARSE], [RNG.integers(0, 2, 30)]),
    "ranking": (Ranking("map"), [SPARSE[:12], SPARSE[12:]], [RNG.integers(0, 2, 12), RNG.integers(0, 2, 18)]),
    "multiclass": (Multiclass(), SPARSE, RNG.integers(0, 3, 30)),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("formulation", [Formulation(), Formulation("slack", "l2")], ids=str)
@pytest.mark.parametrize("solver", [OneSlack(tol=1e-4), OneSlack(tol=1e-4, patience=2), Bundle(tol=1e-4)], ids=repr)
def test_same_certificate_either_way(name, formulation, solver, monkeypatch):
    task, X, Y = PROBLEMS[name]
    task.setup(X, Y)

    def solve():
        oracle = Oracle(task.pack(X, Y), formulation)
        return oracle, solver.solve(oracle, 50.0)

    oracle, here = solve()
    assert oracle.mean_plane(here.w).row is not None
    monkeypatch.setattr(Atoms, "reads", lambda self, atoms: np.inf)
    oracle, there = solve()
    assert oracle.mean_plane(there.w).row is None
    for solution in (here, there):
        certificate = solution.certificate
        if certificate.converged:
            assert certificate.relative_gap <= 1e-4
    a, b = here.certificate, there.certificate
    assert a.converged == b.converged
    # both bounds hold for the one problem, whatever the rounding on the way
    assert max(a.dual, b.dual) <= min(a.primal, b.primal) * (1 + 1e-9)
    assert a.primal == pytest.approx(b.primal, rel=2e-4 if a.converged else 2e-2)


@examples(5, 10)
@given(planes())
def test_mean_plane_has_both_forms(drawn):
    atoms, cuts = drawn
    stacked = AtomRows.stack([plane.row for plane in cuts])
    share = np.linspace(-1, 1, len(cuts))
    row = stacked.scaled(share).summed()
    assert row.shape == (1, atoms.dim)
    np.testing.assert_allclose(row.toarray()[0], share @ stacked.toarray(), atol=1e-12)


@examples(8, 20)
@given(planes(), st.data())
def test_atoms_of_some_units_are_those_of_all(drawn, data):
    """Numbered anew, written out, and back."""
    atoms, _ = drawn
    units = np.array(data.draw(st.lists(st.integers(0, atoms.n_units - 1), min_size=1, max_size=4)))
    part = atoms.taken(units)
    indices = np.array(data.draw(st.lists(st.integers(0, part.count - 1), max_size=6)), dtype=np.int32)
    rows = AtomRows(part, np.array([0, len(indices)], dtype=np.int32), indices, data.draw(whole(len(indices))))
    np.testing.assert_array_equal(rows.toarray(), rows.whole().toarray())
    assert rows.whole().atoms is atoms
    np.testing.assert_array_equal(part.lengths, atoms.lengths[units])
    gathered = atoms.gathered(rows.whole().indices)
    w, total = data.draw(whole(atoms.dim)), np.zeros(atoms.dim)
    gathered.add_to(total, rows.values)
    np.testing.assert_allclose(total, rows.toarray()[0])
    assert gathered.dots(w) @ rows.values == pytest.approx((rows @ w)[0])
