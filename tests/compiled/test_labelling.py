import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import labelled_units
from twins import labelling as twin


@given(labelled_units(), st.data())
def test_best_labels(drawn, data):
    lam = np.array([data.draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])) for _ in drawn.truth])
    planes = drawn.task.planes(drawn.w, drawn.task.pack(drawn.X, drawn.truth), augment=lam)
    right = drawn.scores[np.arange(len(drawn.truth)), drawn.truth]
    heights = lam * planes.loss - planes.dpsi @ drawn.w
    assert heights == pytest.approx(twin.best_value(drawn.scores, drawn.cost, drawn.truth, lam) - right, abs=1e-9)


@given(labelled_units())
def test_truth_wins_ties(drawn):
    """So that a perceptron stops where nothing is better than the truth."""
    planes = drawn.task.planes(drawn.w, drawn.task.pack(drawn.X, drawn.truth), augment=0.0)
    right = drawn.scores[np.arange(len(drawn.truth)), drawn.truth] == drawn.scores.max(axis=1)
    assert not planes.dpsi.toarray()[right].any()


@given(labelled_units())
def test_plane_is_the_difference_of_two_outputs(drawn):
    planes = drawn.task.planes(drawn.w, drawn.task.pack(drawn.X, drawn.truth))
    n_labels = len(drawn.cost)
    for i, (row, loss) in enumerate(zip(planes.dpsi.toarray(), planes.loss, strict=True)):
        unit, truth = drawn.X[[i]], drawn.truth[i]
        outputs = [twin.features(n_labels, unit, [k], linked=False) for k in range(n_labels)]
        differences = outputs[truth] - np.array(outputs)
        assert any(np.array_equal(row, differences[k]) and loss == drawn.cost[truth, k] for k in range(n_labels))
