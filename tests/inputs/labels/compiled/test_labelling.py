from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inputs.labels.compiled import labelling_twin as twin
from strategies import labelled_units, whole

from maxmargin.inputs.labels.labelling import wrong_labels
from maxmargin.problem.planes.atoms import Atoms


@given(labelled_units(), st.data())
def test_best_labels(drawn, data):
    lam = np.array([data.draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])) for _ in drawn.truth])
    planes = drawn.task.pack(drawn.X, drawn.truth).planes(drawn.w, augment=lam)
    right = drawn.scores[np.arange(len(drawn.truth)), drawn.truth]
    heights = lam * planes.loss - planes.dpsi @ drawn.w
    assert heights == pytest.approx(twin.best_value(drawn.scores, drawn.cost, drawn.truth, lam) - right, abs=1e-9)


@given(labelled_units())
def test_truth_wins_ties(drawn):
    """So that a perceptron stops where nothing is better than the truth."""
    planes = drawn.task.pack(drawn.X, drawn.truth).planes(drawn.w, augment=0.0)
    right = drawn.scores[np.arange(len(drawn.truth)), drawn.truth] == drawn.scores.max(axis=1)
    assert not planes.dpsi.toarray()[right].any()


@given(labelled_units())
def test_plane_is_the_difference_of_two_outputs(drawn):
    planes = drawn.task.pack(drawn.X, drawn.truth).planes(drawn.w)
    n_labels = len(drawn.cost)
    for i, (row, loss) in enumerate(zip(planes.dpsi.toarray(), planes.loss, strict=True)):
        unit, truth = drawn.X[[i]], drawn.truth[i]
        outputs = [twin.features(n_labels, unit, [k], linked=False) for k in range(n_labels)]
        differences = outputs[truth] - np.array(outputs)
        assert any(np.array_equal(row, differences[k]) and loss == drawn.cost[truth, k] for k in range(n_labels))


@given(st.data())
def test_differences_of_labelled_sequences(data):
    """Units are judged by a row of a cost table that need not be their true label: it may be a set of labels."""
    n_labels, linked = data.draw(st.integers(2, 3)), data.draw(st.booleans())
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    n_units, bounds = sum(lengths), np.cumsum([0, *lengths])
    matrix = data.draw(whole((n_units + 1, 2)))  # one unit belongs to no sequence of this batch
    units = np.array(data.draw(st.permutations(range(n_units + 1))))[:n_units]
    labels = hnp.arrays(np.int32, n_units, elements=st.integers(0, n_labels - 1))
    truth, found = data.draw(labels), data.draw(labels)
    table, weight = data.draw(whole((n_labels + 2, n_labels), 0, 3)), data.draw(whole(n_units, 0, 2))
    rows = data.draw(hnp.arrays(np.int32, n_units, elements=st.integers(0, n_labels + 1)))
    table[rows, truth] = 0.0  # the truth explains what is known
    atoms = Atoms(matrix, n_labels, n_labels * (n_labels + 2) if linked else 0)
    planes = wrong_labels(atoms, linked, bounds, units, truth, found, rows, table, weight)
    written = planes.dpsi.toarray()
    for j, (a, b) in enumerate(pairwise(bounds)):
        own = matrix[units[a:b]]
        right, wrong = (twin.features(n_labels, own, z[a:b], linked) for z in (truth, found))
        assert written[j] == pytest.approx(right - wrong)
        assert planes.loss[j] == sum(weight[t] * table[rows[t], found[t]] for t in range(a, b))


def test_compiled_for_one_kind_of_numbers():
    """Every further kind costs a third of a second of the first fit."""
    from maxmargin.inputs.labels.compiled.labelling import link_differences

    labels, ones = np.zeros(2, dtype=np.int32), np.ones(2)
    wrong_labels(
        Atoms(np.eye(2), 2, 8), True, np.array([0, 2]), np.arange(2), labels, labels, labels, 1 - np.eye(2), ones
    )
    assert len(getattr(link_differences, "signatures", [])) <= 1  # none where all came from the cache on disk
