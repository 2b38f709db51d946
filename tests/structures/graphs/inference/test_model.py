import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import whole
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import models

from maxmargin.inference import Answer, PairwiseModel

UNARY, EDGES, PAIR = np.zeros((3, 2)), [[0, 1], [2, 1]], np.zeros((2, 2, 2))


@given(models(), st.data())
def test_value_adds_up_nodes_and_edges(model, data):
    labels = data.draw(hnp.arrays(np.int32, model.n_nodes, elements=st.integers(0, model.n_labels - 1)))
    assert model.value(labels) == pairwise.value(model, labels)
    nodes = (labels[:, None] == np.arange(model.n_labels)).astype(float)
    edges = nodes[model.edges[:, 0]][:, :, None] * nodes[model.edges[:, 1]][:, None, :]
    assert model.relaxed_value(nodes, edges) == model.value(labels)


@given(models(most_nodes=4), st.data())
def test_any_messages_bound_the_relaxation(model, data):
    messages = data.draw(whole((model.n_edges, 2, model.n_labels)))
    bound = model.bound(messages)
    assert bound == pairwise.bound(model, messages)
    assert bound >= pairwise.relaxed_value(model) - 1e-7
    assert bound >= pairwise.best_value(model)


def test_arrays_are_brought_into_the_form_of_kernels():
    model = PairwiseModel.of(np.zeros((2, 3), dtype=int).T, np.array(EDGES)[:, ::-1], np.zeros((2, 2, 2), order="F"))
    assert (model.n_nodes, model.n_edges, model.n_labels) == (3, 2, 2)
    for array, kind in zip(model, (np.float64, np.int32, np.float64), strict=True):
        assert array.dtype == kind
        assert array.flags["C_CONTIGUOUS"]
        assert array.flags["WRITEABLE"]


@pytest.mark.parametrize(
    ("unary", "edges", "pair", "message"),
    [
        (np.zeros(3), EDGES, PAIR, r"unary has shape \(3,\); expected \(nodes, labels\)"),
        (np.zeros((3, 0)), EDGES, PAIR, "at least one label"),
        (UNARY, EDGES, PAIR[:1], r"pair has shape \(1, 2, 2\); expected \(2, 2, 2\)"),
        (UNARY, [[0, 1], [3, 1]], PAIR, r"edge 1 links the nodes \(3, 1\); expected numbers from 0 to 2"),
        (UNARY, [[0, 1], [-1, 1]], PAIR, r"edge 1 links the nodes \(-1, 1\)"),
        (UNARY, [[0, 1], [2, 2]], PAIR, "edge 1 links node 2 to itself"),
        (UNARY, [[0.0, 1.0], [2.0, 1.0]], PAIR, "edges have shape .* type float64; expected integers"),
        (UNARY, [0, 1], PAIR, r"edges have shape \(2,\)"),
        (np.array([[0, 1], [-np.inf, 1], [0, 1]]), EDGES, PAIR, r"unary\[1, 0\] is -inf; all scores must be finite"),
        (UNARY, EDGES, PAIR + [[[0, 0], [np.nan, 0]]] * 2, r"pair\[0, 1, 0\] is nan"),
    ],
    ids=["unary", "no labels", "pair", "above", "below", "loop", "floats", "flat", "infinite", "nan"],
)
def test_scores_that_do_not_fit_are_refused(unary, edges, pair, message):
    with pytest.raises(ValueError, match=message):
        PairwiseModel.of(unary, edges, pair)


def test_an_answer_is_proved_where_the_bound_is_its_value():
    labels = np.zeros(1, dtype=np.int32)
    assert Answer(labels, 5.0, 5.0).proved
    assert Answer(labels, 0.0, 1e-12).proved
    assert not Answer(labels, 5.0, 5.001).proved
    assert not Answer(labels, 5.0, np.inf).proved


def test_messages_of_another_model():
    model = PairwiseModel.of(np.zeros((3, 2)), [(0, 1), (1, 2)], np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match=r"messages have shape \(1, 2, 2\); expected \(2, 2, 2\)"):
        model.bound(np.zeros((1, 2, 2)))
