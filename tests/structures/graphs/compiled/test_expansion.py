import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import models

from maxmargin.structures.graphs.compiled.cut_arrays import CutArrays
from maxmargin.structures.graphs.compiled.expansion import expand, move_gain, move_scores
from maxmargin.structures.graphs.compiled.sorted_arcs import SortedArcs


def moved(labels, alpha, moves):
    return [alpha if move == 1 else label for label, move in zip(labels, moves, strict=True)]


@given(models(), st.data())
def test_scores_and_gain_of_a_move_are_those_of_the_moved_labels(model, data):
    n = model.n_nodes
    labels = data.draw(hnp.arrays(np.int32, n, elements=st.integers(0, model.n_labels - 1)))
    alpha = data.draw(st.integers(0, model.n_labels - 1))
    decided = data.draw(hnp.arrays(np.int32, n, elements=st.integers(-1, 1)))
    unary, pair = np.full((n, 2), np.nan), np.full((model.n_edges, 2, 2), np.nan)
    move_scores(*model, labels, alpha, unary, pair)
    move = model._replace(unary=unary, pair=pair)
    after = pairwise.value(model, moved(labels, alpha, decided))
    assert pairwise.value(move, (decided == 1).astype(int)) == after
    assert move_gain(model.edges, unary, pair, decided) == after - pairwise.value(model, labels)


@given(models(), st.data())
def test_no_best_move_is_left_where_all_moves_are_cuts(model, data):
    n, m = model.n_nodes, model.n_edges
    # equal labels are at least as good as any others: every move prefers equal labels (a metric, up to the sign)
    pair = -np.ones_like(model.pair) * np.abs(model.pair[:, :1, :1])
    pair[:, np.arange(model.n_labels), np.arange(model.n_labels)] = 0
    model = model._replace(pair=pair)
    arcs = SortedArcs.of(n, model.edges)
    labels = data.draw(hnp.arrays(np.int32, n, elements=st.integers(0, model.n_labels - 1)))
    move, decided = (np.empty((n, 2)), np.empty((m, 2, 2))), np.full(n, 77, dtype=np.int32)
    tried = expand(*model, arcs, 0.0, labels, *move, CutArrays.of(n, m), decided)
    assert tried >= model.n_labels
    value = pairwise.value(model, labels)
    for alpha in range(model.n_labels):
        for moves in pairwise.labellings(model._replace(unary=np.empty((n, 2)))):
            assert pairwise.value(model, moved(labels, alpha, moves)) <= value
