from itertools import pairwise as neighbours

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import forest_edges, grids, models

from maxmargin.inference import PairwiseModel, pass_messages

MODELS = models() | models(most_nodes=9, labels=(2, 2), edges=grids)


@given(MODELS, st.data())
def test_bound_never_rises_and_is_proved_by_the_messages(model, data):
    start = data.draw(whole((model.n_edges, 2, model.n_labels)))
    before = start.copy()
    answer, messages, trace = pass_messages(model, start, sweeps=30)
    np.testing.assert_array_equal(start, before)
    bounds = [pairwise.bound(model, start), *trace[:, 0]]
    assert all(later <= earlier + 1e-9 for earlier, later in neighbours(bounds))
    assert (np.diff(trace[:, 1]) >= 0).all()
    np.testing.assert_allclose(answer.upper, pairwise.bound(model, messages), atol=1e-9)
    assert answer.value == pairwise.value(model, answer.labels) <= pairwise.best_value(model)
    assert answer.upper >= pairwise.relaxed_value(model) - 1e-7
    assert answer.upper >= pairwise.best_value(model) - 1e-9
    assert answer.relaxed is None


@given(models(most_nodes=6, edges=forest_edges))
def test_forests_are_solved(model):
    answer = pass_messages(model).answer
    np.testing.assert_allclose([answer.value, answer.upper], pairwise.best_value(model), atol=1e-6)


@given(models(most_nodes=6, edges=forest_edges), st.data())
def test_sweeps_go_on_from_other_scores(model, data):
    other = model._replace(unary=data.draw(whole(model.unary.shape)))
    answer = pass_messages(model, pass_messages(other).messages).answer
    np.testing.assert_allclose([answer.value, answer.upper], pairwise.best_value(model), atol=1e-6)


def test_sweeps_end_when_they_are_used_up_or_near_enough():
    rng = np.random.default_rng(0)
    edges = [(i, (i + step) % 12) for i in range(12) for step in (1, 5)]
    model = PairwiseModel.of(rng.normal(size=(12, 3)), edges, 3 * rng.normal(size=(24, 3, 3)))
    assert len(pass_messages(model, sweeps=3).trace) == 3
    whole_way = pass_messages(model, sweeps=200).trace
    near = pass_messages(model, sweeps=200, tol=float(whole_way[4] @ [1.0, -1.0])).trace
    assert len(near) <= 5 < len(whole_way)


def test_messages_of_another_graph_are_refused():
    model = PairwiseModel.of(np.zeros((2, 3)), [[0, 1]], np.zeros((1, 3, 3)))
    with pytest.raises(ValueError, match=r"shape \(1, 3, 2\); expected \(1, 2, 3\)"):
        pass_messages(model, np.zeros((1, 3, 2)))
    with pytest.raises(ValueError, match="finite"):
        pass_messages(model, np.full((1, 2, 3), np.nan))


def test_read_only_scores_are_taken():
    model = PairwiseModel.of(np.zeros((2, 2)), [[0, 1]], [[[0.0, 1.0], [2.0, 0.0]]])
    model.unary.flags.writeable = model.pair.flags.writeable = model.edges.flags.writeable = False
    answer = pass_messages(model).answer
    assert answer.labels.tolist() == [1, 0]
    assert answer.value == answer.upper == 2.0
