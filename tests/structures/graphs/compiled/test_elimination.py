import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import grids, models

from maxmargin.structures.graphs.compiled.elimination import add_level, best_of_last_level, eliminate
from maxmargin.structures.graphs.inference.junction_tree import elimination_order


@given(st.data())
def test_a_level_adds_its_tables_to_the_level_before(data):
    n_labels, n_tables = data.draw(st.integers(1, 4)), data.draw(st.integers(0, 3))
    level = data.draw(st.integers(0, 2))
    scores, totals = data.draw(whole(40)), data.draw(whole((3, n_labels)))
    first, start = data.draw(st.integers(1, 3)), 1
    own = np.array(data.draw(st.lists(st.integers(1, 4), min_size=first + n_tables, max_size=first + n_tables)))
    offsets = np.array(data.draw(st.lists(st.integers(0, 20), min_size=len(own), max_size=len(own))))
    expected = [
        (totals[level - 1, k] if level else 0.0)
        + sum(scores[offsets[t - start] + k * own[t]] for t in range(first, first + n_tables))
        for k in range(n_labels)
    ]
    arguments = first, first + n_tables, start, offsets.astype(np.int64), own.astype(np.int64), n_labels
    assert best_of_last_level(scores, *arguments, totals.copy(), level) == max(expected)
    add_level(scores, *arguments, totals, level)
    np.testing.assert_array_equal(totals[level], expected)


@given(models() | models(most_nodes=9, labels=(2, 2), edges=grids))
def test_sum_is_that_of_enumeration_and_of_the_labels(model):
    n_labels = model.n_labels
    elimination = elimination_order(model.n_nodes, model.edges, n_labels)
    n_messages = sum(n_labels ** (len(clique) - 1) for clique in elimination.cliques)
    scores = np.concatenate([model.unary.ravel(), model.pair.ravel(), np.full(n_messages, np.nan)])
    labels = np.full(model.n_nodes, 77, dtype=np.int32)
    offsets, digits = np.full((2, 100), 77, dtype=np.int64)
    found = eliminate(scores, n_labels, elimination.tables, offsets, digits, np.full((10, n_labels), np.nan), labels)
    assert found == pairwise.best_value(model) == pairwise.value(model, labels)
