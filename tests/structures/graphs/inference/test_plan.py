import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import models
from thorough import examples

from maxmargin.base.search import Search
from maxmargin.inference import PairwiseModel, is_forest, plan
from maxmargin.structures.graphs.inference import junction_tree as tables
from maxmargin.structures.graphs.inference.plan import KINDS

CYCLE = [[0, 1], [1, 2], [2, 0]]
COMPLETE = [(i, j) for i in range(20) for j in range(i)]


@given(models(), st.sampled_from(["auto", *KINDS]))
@examples(26, 80)
def test_answers_keep_what_their_kind_promises(model, method):
    try:
        chosen = plan(model.n_nodes, model.edges, model.n_labels, method)
        answer = chosen.solve(model)
    except ValueError:
        assert method in ("forest", "min_cut", "roof_dual")
        return
    assert chosen.method == method or method == "auto"
    best = pairwise.best_value(model)
    assert answer.value == pytest.approx(pairwise.value(model, answer.labels))
    assert answer.value <= best + 1e-9
    assert answer.upper >= best - 1e-9
    assert answer.relaxed is None or chosen.kind is Search.OVERGENERATING
    if chosen.kind is Search.EXACT:
        assert answer.proved
        assert answer.value == pytest.approx(best)
    if chosen.method == "relaxation":
        again = chosen.solve(model, answer.messages, tol=1e-3)
        assert again.upper >= best - 1e-9
        assert again.value <= best + 1e-9
    else:
        assert answer.messages is None


@given(models(most_nodes=6))
def test_small_graphs_are_solved_exactly(model):
    chosen = plan(model.n_nodes, model.edges, model.n_labels)
    assert chosen.method == ("forest" if is_forest(model.n_nodes, model.edges) else "junction_tree")
    assert chosen.kind is Search.EXACT


@pytest.mark.parametrize(
    ("n_labels", "method", "kind"), [(2, "roof_dual", Search.OVERGENERATING), (3, "relaxation", Search.OVERGENERATING)]
)
def test_graphs_with_many_cycles_are_relaxed(n_labels, method, kind):
    chosen = plan(20, COMPLETE, n_labels)
    assert (chosen.method, chosen.kind) == (method, kind)


def test_two_labels_need_a_junction_tree_only_where_the_cut_leaves_halves(monkeypatch):
    chosen = plan(3, CYCLE, 2)
    conflict = PairwiseModel.of([[0, 0], [0, 1], [0, 0]], CYCLE, [[[0, 5], [5, 0]]] * 3)
    assert chosen.solve(conflict).value == 11
    assert chosen.solve(conflict).proved
    monkeypatch.setattr(tables, "elimination_order", None)
    agreement = conflict._replace(pair=-conflict.pair)
    assert chosen._replace(elimination=None).solve(agreement).value == 1


@pytest.mark.parametrize(
    ("n", "edges", "n_labels", "method", "message"),
    [
        (
            3,
            CYCLE,
            3,
            "forest",
            "3 nodes and 3 edges has a cycle, so method='forest' cannot label it; use 'auto'",
        ),
        (
            20,
            COMPLETE,
            3,
            "junction_tree",
            "too many cycles for method='junction_tree': with 3 labels.*'relaxation'",
        ),
        (20, COMPLETE, 2, "junction_tree", "'roof_dual'"),
        (3, CYCLE, 3, "min_cut", "method='min_cut' is for two labels, there are 3; use 'relaxation'"),
        (3, CYCLE, 3, "roof_dual", "method='roof_dual' is for two labels, there are 3"),
        (3, CYCLE, 3, "loopy", "method must be 'auto' or one of 'forest', .*; got 'loopy'"),
    ],
    ids=["cycle", "tables", "tables of two labels", "labels", "labels of roof duality", "name"],
)
def test_methods_that_do_not_suit_a_graph_are_refused(n, edges, n_labels, method, message):
    with pytest.raises(ValueError, match=message):
        plan(n, edges, n_labels, method)


def test_min_cut_names_an_edge_that_it_cannot_cut():
    model = PairwiseModel.of(np.zeros((3, 2)), CYCLE, [[[0, 1], [1, 0]]] * 3)
    with pytest.raises(ValueError, match=r"edge 0 between the nodes .* prefers different labels"):
        plan(3, CYCLE, 2, "min_cut").solve(model)


def test_a_model_of_another_graph_is_refused():
    model = PairwiseModel.of(np.zeros((2, 2)), [[0, 1]], np.zeros((1, 2, 2)))
    with pytest.raises(ValueError, match="has 2 nodes, 1 edges and 2 labels; the plan is for 3 nodes, 3 edges"):
        plan(3, CYCLE, 2).solve(model)


def test_a_plan_is_for_one_graph():
    how = plan(4, [(0, 1), (1, 2), (2, 3), (3, 0)], 2)
    other = PairwiseModel.of(np.zeros((4, 2)), [(0, 1), (1, 2), (0, 2), (0, 3)], np.zeros((4, 2, 2)))
    with pytest.raises(ValueError, match=r"edge 2 of the model is \(0, 2\); the plan is for a graph .* is \(2, 3\)"):
        how.solve(other)


def test_no_labels():
    with pytest.raises(ValueError, match="there are 0 labels; expected at least 1"):
        plan(3, [(0, 1)], 0)
