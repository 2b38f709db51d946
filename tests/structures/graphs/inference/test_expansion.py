import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import models, two_label_models

from maxmargin.inference import PairwiseModel, best_expansion
from maxmargin.structures.graphs.compiled.sorted_arcs import SortedArcs


def label_arrays(model):
    return hnp.arrays(np.int64, model.n_nodes, elements=st.integers(0, model.n_labels - 1))


@given(models(), st.data())
def test_labels_never_get_worse_and_are_true_labellings(model, data):
    start = data.draw(label_arrays(model))
    before = start.copy()
    answer = best_expansion(model, start, arcs=SortedArcs.of(model.n_nodes, model.edges))
    np.testing.assert_array_equal(start, before)
    assert pairwise.value(model, start) <= answer.value == pairwise.value(model, answer.labels)
    assert answer.value <= pairwise.best_value(model)
    assert answer.upper == np.inf
    assert answer.relaxed is None
    assert not answer.proved
    assert best_expansion(model).value >= pairwise.value(model, model.unary.argmax(axis=1))


@given(two_label_models(prefer_equal=True))
def test_two_labels_with_cuts_are_solved(model):
    best = pairwise.best_value(model)
    answer = best_expansion(model, upper=best)
    assert answer.value == best == answer.upper
    assert answer.proved


@st.composite
def metric_models(draw):
    """Energies >= 0; those of an edge are distances of points on a line, in part cut off at a largest one, or Potts."""
    model = draw(models(labels=(2, 3)))
    places = np.sort(draw(hnp.arrays(np.float64, model.n_labels, elements=st.integers(0, 9), unique=True)))
    distances = np.minimum(np.abs(places[:, None] - places), draw(st.sampled_from([1.0, 3.0, 100.0])))
    strengths = draw(hnp.arrays(np.float64, model.n_edges, elements=st.integers(0, 4)))
    return PairwiseModel.of(-np.abs(model.unary), model.edges, -strengths[:, None, None] * distances)


@given(metric_models(), st.data())
def test_energy_of_metrics_is_within_the_factor_that_is_proved(model, data):
    answer = best_expansion(model, data.draw(label_arrays(model)))
    ratio = 1.0
    for table in -model.pair:
        different = table[~np.eye(model.n_labels, dtype=bool)]
        if different.max() > 0:
            ratio = max(ratio, different.max() / different.min())
    assert -answer.value <= 2 * ratio * -pairwise.best_value(model) + 1e-9


def test_moves_of_several_nodes_leave_a_labelling_that_no_single_node_improves():
    # two nodes are held together so that neither changes alone
    model = PairwiseModel.of([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1]], 5.0 * np.eye(3)[None])
    assert best_expansion(model, [0, 0]).labels.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ([0], r"start has shape \(1,\) and type int64; expected 2 integers"),
        ([0.0, 1.0], "type float64; expected 2 integers"),
        ([0, 3], "start has labels from 0 to 3; expected 0 to 2"),
        ([-1, 0], "start has labels from -1 to 0"),
    ],
    ids=["short", "floats", "above", "below"],
)
def test_starts_that_do_not_fit_are_refused(start, message):
    with pytest.raises(ValueError, match=message):
        best_expansion(PairwiseModel.of(np.zeros((2, 3)), [], np.zeros((0, 3, 3))), start)
