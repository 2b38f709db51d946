"""Spreading changes of coefficients over all scores, with the kernel rows that are there."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernels.compiled import plane_dual_twin as twin
from strategies import whole

from maxmargin.kernels.compiled.plane_dual import spread
from maxmargin.kernels.compiled.row_cache import RowCache
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.compiled.plane_tables import PlaneTables


@st.composite
def pending(draw):
    """One example with planes over some atoms, changes at some of these, and a symmetric matrix."""
    n_units, n_labels, direct = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(0, 2))
    atoms = draw(st.lists(st.integers(0, direct + n_units * n_labels - 1), min_size=1, max_size=8))
    cuts = sorted(draw(st.lists(st.integers(0, len(atoms)), max_size=3)))
    bounds = np.array([0, *cuts, len(atoms)])
    delta = np.zeros(direct + n_units * n_labels)
    delta[atoms] = draw(whole(len(atoms)))
    gram = draw(whole((n_units, n_units)))
    there = draw(st.lists(st.booleans(), min_size=n_units, max_size=n_units))
    return n_units, n_labels, direct, np.array(atoms, dtype=np.int32), bounds, delta, gram + gram.T, np.array(there)


@given(problem=pending(), data=st.data())
def test_spread(problem, data):
    n_units, n_labels, direct, indices, bounds, delta, gram, there = problem
    w, seen = data.draw(whole(len(delta))), data.draw(whole(len(delta)))
    expected = twin.spread(direct, n_labels, gram, delta, w, seen)
    cache = RowCache(
        store=np.where(there[:, None], gram, np.nan),
        slot_of=np.where(there, np.arange(n_units), -1),
        complete=there.copy(),
        last_use=np.zeros(n_units, dtype=np.int64),
        clock=np.zeros(1, dtype=np.int64),
    )
    tables = PlaneTables.empty(1, 0, 0, 0)._replace(
        filled=np.array([len(bounds) - 1]),
        start=bounds[:-1],
        length=np.diff(bounds).astype(np.int32),
        indices=indices,
    )
    atoms = Atoms(np.eye(n_units), n_labels, direct).arrays
    waiting = [int(c - direct) // n_labels for c in dict.fromkeys(indices.tolist()) if c >= direct and delta[c] != 0]
    missing = -1
    for _ in range(n_units + 1):
        missing = spread(0, atoms, delta, w, seen, cache, tables)
        if missing < 0:
            break
        assert missing == next(u for u in waiting if not cache.complete[u])
        cache.store[missing], cache.slot_of[missing], cache.complete[missing] = gram[missing], missing, True
    assert missing == -1
    assert not delta.any()
    assert np.array_equal(w, expected[0])
    assert np.array_equal(seen, expected[1])
    used = set(waiting)
    assert {u for u in range(n_units) if cache.last_use[u] > 0} == used
    assert len({cache.last_use[u] for u in used}) == len(used)
