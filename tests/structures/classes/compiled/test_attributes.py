import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from strategies import costs, whole
from structures.classes.compiled import attributes_twin as twin

from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.compiled.plane_tables import PlaneRows
from maxmargin.structures.classes.compiled.attributes import attribute_differences, class_scores


@st.composite
def tables(draw):
    """(direct, table): a row of small numbers for every class, and how many of its columns have no features."""
    n_classes, direct, n_own = draw(st.integers(1, 4)), draw(st.integers(0, 3)), draw(st.integers(1, 4))
    return direct, draw(whole((n_classes, direct + n_own), -1, 2))


def compressed(table):
    rows = sparse.csr_array(table)
    return rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data


@given(tables(), st.data())
def test_class_scores(drawn, data):
    direct, table = drawn
    own = data.draw(whole((data.draw(st.integers(0, 3)), table.shape[1] - direct)))
    w = data.draw(whole(direct + 5))
    scores = np.empty((len(own), len(table)))
    class_scores(w, direct, own, compressed(table), scores)
    np.testing.assert_array_equal(scores, twin.class_scores(w, direct, own, table))


@given(tables(), st.data())
def test_attribute_differences(drawn, data):
    direct, table = drawn
    n_own, n = table.shape[1] - direct, data.draw(st.integers(1, 4))
    matrix = data.draw(whole((3, data.draw(st.integers(1, 3)))))
    classes = hnp.arrays(np.int32, n, elements=st.integers(0, len(table) - 1))
    truth, found, cost = data.draw(classes), data.draw(classes), data.draw(costs(len(table)))
    units = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, 2)))
    planes = PlaneRows.of(n, 2 * n * table.shape[1])
    attribute_differences(direct, n_own, units, truth, found, cost, compressed(table), planes)
    rows = AtomRows(Atoms(matrix, n_own, direct), planes.indptr, planes.indices, planes.values)
    expected = [
        twin.features(direct, matrix[unit], table[y]) - twin.features(direct, matrix[unit], table[z])
        for unit, y, z in zip(units, truth, found, strict=True)
    ]
    np.testing.assert_array_equal(rows.toarray(), expected)
    np.testing.assert_array_equal(planes.offset, cost[truth, found])
    entries = planes.values[: planes.indptr[-1]]
    assert entries.all()  # what both classes have in common is left out
