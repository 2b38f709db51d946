from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import two_label_models

from maxmargin.structures.graphs.compiled.cut_arrays import CutArrays
from maxmargin.structures.graphs.compiled.sorted_arcs import SortedArcs
from maxmargin.structures.graphs.compiled.two_labels import (
    double,
    flow_messages,
    mirror,
    roof_dual,
    single_cut,
    split_tables,
)


def split(model):
    """(gain, weight, turned, largest, number of turned edges)."""
    gain, weight = np.full(model.n_nodes, np.nan), np.full(model.n_edges, np.nan)
    turned = np.full(model.n_edges, 77, dtype=np.int32)
    return gain, weight, turned, *split_tables(*model, gain, weight, turned)


def rubbish(n_nodes, n_edges):
    """Return scratch arrays that are filled with numbers, which must not matter."""
    arrays = CutArrays.of(n_nodes, n_edges)
    for each in arrays:
        each.fill(np.nan if each.dtype == np.float64 else 77)
    return arrays


def doubled(model):
    """Return the arcs, and the graph with opposites."""
    gain, weight, turned, _, _ = split(model)
    arcs = SortedArcs.of(model.n_nodes, model.edges)
    cut = rubbish(model.n_nodes, model.n_edges)._replace(gain=gain, weight=weight, turned=turned)
    double(model.edges, arcs, cut)
    return arcs, cut


@given(two_label_models())
def test_split_tables_give_the_same_scores(model):
    gain, weight, turned, largest, n_turned = split(model)
    assert n_turned == turned.sum()
    assert largest == max([*np.abs(gain), *weight, 0.0])
    assert (weight >= 0).all()

    def rest(labels):
        """What the gains and weights leave of the score: the same for all labellings."""
        cut = [
            w / 2 * ((labels[i] != labels[j]) != t) for w, t, (i, j) in zip(weight, turned, model.edges, strict=True)
        ]
        return pairwise.value(model, labels) - sum(gain * labels) + sum(cut)

    rests = [rest(labels) for labels in pairwise.labellings(model)]
    np.testing.assert_allclose(rests, rests[0], atol=1e-12)


@given(two_label_models())
def test_opposites_cut_twice_what_the_nodes_do(model):
    _, cut_arrays = doubled(model)
    head, reverse, room = cut_arrays.head, cut_arrays.reverse, cut_arrays.capacity
    n, turned, weight = model.n_nodes, cut_arrays.turned, cut_arrays.weight
    arcs = np.arange(len(head))
    tails = np.repeat(np.arange(2 * n), np.diff(cut_arrays.bounds))
    assert (reverse[reverse] == arcs).all()
    assert (head[reverse] == tails).all()
    for labels in product([0, 1], repeat=n):
        side = np.array([*labels, *(1 - label for label in labels)], dtype=int)
        cut = room[(side[tails] == 1) & (side[head] == 0)].sum()
        single = [
            w / 2 * ((labels[i] != labels[j]) != t) for w, t, (i, j) in zip(weight, turned, model.edges, strict=True)
        ]
        assert cut == 2 * sum(single)
    np.testing.assert_array_equal(cut_arrays.supply[n:], -cut_arrays.supply[:n])


@given(two_label_models(), st.data())
def test_mirror_images_get_the_same_room_and_the_sum_is_kept(model, data):
    arcs, cut = doubled(model)
    n, head = model.n_nodes, cut.head
    tails = np.repeat(np.arange(2 * n), np.diff(cut.bounds))
    before = data.draw(whole(len(cut.capacity), 0, 4))
    room = before.copy()
    mirror(arcs.reverse, arcs.forward, cut.turned, room)
    edge = np.concatenate([arcs.edge, arcs.edge])
    for a in range(len(room)):
        # the image of an arc leads from the opposite of its head to the opposite of its tail, along the same edge
        (image,) = np.flatnonzero(
            (tails == (head[a] + n) % (2 * n)) & (head == (tails[a] + n) % (2 * n)) & (edge == edge[a])
        )
        assert room[a] == room[image] == (before[a] + before[image]) / 2


@given(two_label_models(), st.data())
def test_messages_of_a_flow_leave_nothing_but_the_cut(model, data):
    _, weight, turned, _, _ = split(model)
    arcs = SortedArcs.of(model.n_nodes, model.edges)
    share = data.draw(whole(model.n_edges, 0, 4)) / 4
    room = np.full(2 * model.n_edges, np.nan)
    room[arcs.forward] = share * weight
    messages = np.full((model.n_edges, 2, 2), np.nan)
    flow_messages(model.pair, arcs.forward, turned, room, messages)
    for e in range(model.n_edges):
        rest = model.pair[e] - messages[e, 0][:, None] - messages[e, 1]
        rest = rest[:, ::-1] if turned[e] else rest
        f = share[e] * weight[e]
        np.testing.assert_allclose(rest - rest[0, 0], [[0, f - weight[e]], [-f, 0]], atol=1e-12)


@given(two_label_models())
def test_a_cut_labels_only_where_no_edge_is_turned(model):
    n, arcs = model.n_nodes, SortedArcs.of(model.n_nodes, model.edges)
    decided = np.full(n, -7, dtype=np.int32)
    n_turned = single_cut(*model, arcs, rubbish(n, model.n_edges), decided)
    assert n_turned == split(model)[-1]
    if n_turned:
        assert (decided == -7).all()
    else:
        assert pairwise.value(model, decided) == pairwise.best_value(model)


@given(two_label_models())
def test_roof_duality_decides_what_some_best_labelling_has(model):
    n, m = model.n_nodes, model.n_edges
    arcs, cut = SortedArcs.of(n, model.edges), rubbish(n, m)
    decided = np.full(n, 77, dtype=np.int32)
    n_undecided = roof_dual(*model, arcs, cut, decided)
    assert n_undecided == (decided < 0).sum()
    assert set(decided) <= {-1, 0, 1}
    known = decided >= 0
    assert any((np.array(best)[known] == decided[known]).all() for best in pairwise.best_labellings(model))
    # the room of an edge's forward arc is a flow: its messages prove the value of the relaxation
    messages = np.empty((m, 2, 2))
    flow_messages(model.pair, arcs.forward, cut.turned, cut.capacity, messages)
    assert pairwise.bound(model, messages) == pytest.approx(pairwise.relaxed_value(model), abs=1e-7)
