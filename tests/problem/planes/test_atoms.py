"""Rows over atoms: how many numbers they would have if they were written out."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from maxmargin.problem.planes.atoms import AtomRows, Atoms


@pytest.mark.parametrize("units", [np.zeros((0, 0)), np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [3.0, 4.0, 5.0]])])
def test_numbers_of_explicit_rows(units):
    atoms = Atoms(units, 2, 5)
    indices = np.arange(atoms.count, dtype=np.int32)
    rows = AtomRows(atoms, np.array([0, 3, atoms.count], dtype=np.int32), indices, np.ones(atoms.count))
    assert rows.n_entries == 5 + 2 * np.count_nonzero(units)
    assert AtomRows(atoms, np.array([0, 0], dtype=np.int32), indices[:0], np.ones(0)).n_entries == 0


@pytest.mark.parametrize("name", ["lengths", "peaks"])
def test_threads_see_whole_numbers_of_atoms(name):
    """What is computed at the first question is whole for whoever asks meanwhile."""
    units = np.random.default_rng(0).standard_normal((20_000, 30))
    expected = np.sqrt((units**2).sum(axis=1)) if name == "lengths" else np.abs(units).max(axis=0)
    for _ in range(20):
        atoms = Atoms(units, 2, 5)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _, atoms=atoms: getattr(atoms, name).copy(), range(8)))
        for each in found:
            np.testing.assert_allclose(each, expected, rtol=1e-12)
