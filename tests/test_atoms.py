"""Rows over atoms: how many numbers they would have if they were written out."""

import numpy as np
import pytest

from maxmargin.atoms import AtomRows, Atoms


@pytest.mark.parametrize("units", [np.zeros((0, 0)), np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [3.0, 4.0, 5.0]])])
def test_numbers_of_explicit_rows(units):
    atoms = Atoms(units, 2, 5)
    indices = np.arange(atoms.count, dtype=np.int32)
    rows = AtomRows(atoms, np.array([0, 3, atoms.count], dtype=np.int32), indices, np.ones(atoms.count))
    assert rows.n_entries == 5 + 2 * np.count_nonzero(units)
    assert AtomRows(atoms, np.array([0, 0], dtype=np.int32), indices[:0], np.ones(0)).n_entries == 0
