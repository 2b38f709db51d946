from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import two_label_models

from maxmargin.structures.graphs.compiled.two_labels import (
    double,
    flow_messages,
    mirror,
    roof_dual,
    single_cut,
    split_tables,
)
from maxmargin.structures.graphs.inference.arcs import SortedArcs


def split(model):
    """(gain, weight, turned, largest, number of turned edges)."""
    gain, weight = np.full(model.n_nodes, np.nan), np.full(model.n_edges, np.nan)
    turned = np.full(model.n_edges, 77, dtype=np.int32)
    return gain, weight, turned, *split_tables(*model, gain, weight, turned)


def doubled(model):
    """(arcs, turned, weight, bounds, head, reverse, supply, room) of the graph with opposites."""
    n, m = model.n_nodes, model.n_edges
    gain, weight, turned, _, _ = split(model)
    arcs = SortedArcs.of(n, model.edges)
    bounds, head, reverse = (np.full(size, -7, dtype=np.int32) for size in (2 * n + 1, 4 * m, 4 * m))
    supply, room = np.full(2 * n, np.nan), np.full(4 * m, np.nan)
    double(
        arcs.bounds, arcs.reverse, model.edges, arcs.forward, gain, weight, turned, bounds, head, reverse, supply, room
    )
    return arcs, turned, weight, bounds, head, reverse, supply, room


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
    _, turned, weight, bounds, head, reverse, supply, room = doubled(model)
    n = model.n_nodes
    arcs = np.arange(len(head))
    tails = np.repeat(np.arange(2 * n), np.diff(bounds))
    assert (reverse[reverse] == arcs).all()
    assert (head[reverse] == tails).all()
    for labels in product([0, 1], repeat=n):
        side = np.array([*labels, *(1 - label for label in labels)], dtype=int)
        cut = room[(side[tails] == 1) & (side[head] == 0)].sum()
        single = [
            w / 2 * ((labels[i] != labels[j]) != t) for w, t, (i, j) in zip(weight, turned, model.edges, strict=True)
        ]
        assert cut == 2 * sum(single)
    np.testing.assert_array_equal(supply[n:], -supply[:n])


@given(two_label_models(), st.data())
def test_mirror_images_get_the_same_room_and_the_sum_is_kept(model, data):
    arcs, turned, _, bounds, head, _, _, room = doubled(model)
    n = model.n_nodes
    tails = np.repeat(np.arange(2 * n), np.diff(bounds))
    before = data.draw(whole(len(room), 0, 4))
    room = before.copy()
    mirror(arcs.reverse, arcs.forward, turned, room)
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
    n, m = model.n_nodes, model.n_edges
    arcs = SortedArcs.of(n, model.edges)
    room, decided = np.empty(2 * m), np.full(n, -7, dtype=np.int32)
    turned = np.empty(m, dtype=np.int32)
    n_turned = single_cut(
        *model, arcs.bounds, arcs.head, arcs.reverse, arcs.forward, np.empty(n), np.empty(m), turned, room,
        np.full((7, n), 77, dtype=np.int32), decided,
    )  # fmt: skip
    assert n_turned == split(model)[-1]
    if n_turned:
        assert (decided == -7).all()
    else:
        assert pairwise.value(model, decided) == pairwise.best_value(model)


@given(two_label_models())
def test_roof_duality_decides_what_some_best_labelling_has(model):
    n, m = model.n_nodes, model.n_edges
    arcs, turned, weight, *graph, supply, room = doubled(model)
    decided = np.full(n, 77, dtype=np.int32)
    n_undecided = roof_dual(
        *model, arcs.bounds, arcs.reverse, arcs.forward, np.empty(n), weight, turned, *graph, supply, room,
        np.full((7, 2 * n), 77, dtype=np.int32), decided,
    )  # fmt: skip
    assert n_undecided == (decided < 0).sum()
    assert set(decided) <= {-1, 0, 1}
    known = decided >= 0
    assert any((np.array(best)[known] == decided[known]).all() for best in pairwise.best_labellings(model))
    # the room of an edge's forward arc is a flow: its messages prove the value of the relaxation
    messages = np.empty((m, 2, 2))
    flow_messages(model.pair, arcs.forward, turned, room, messages)
    assert pairwise.bound(model, messages) == pytest.approx(pairwise.relaxed_value(model), abs=1e-7)
