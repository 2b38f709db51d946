import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.graphs.compiled import messages_twin as twin
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import grids, models

from maxmargin.structures.graphs.compiled.messages import add_up, collect_all, improve_labels, level, sweep
from maxmargin.structures.graphs.inference.messages import NodeLinks

MODELS = models() | models(most_nodes=9, labels=(2, 3), edges=grids)


def drawn_messages(data, model):
    return data.draw(whole((model.n_edges, 2, model.n_labels)))


@given(MODELS)
def test_links_and_order_are_those_of_the_graph(model):
    links = NodeLinks.of(model.n_nodes, model.edges)
    rank = np.argsort(links.order)
    for i in range(model.n_nodes):
        begin, middle, end = links.first_link[i], links.middle[i], links.first_link[i + 1]
        own = list(zip(links.links[begin:end].tolist(), links.others[begin:end].tolist(), strict=True))
        assert sorted(own) == sorted((2 * e + side, j) for e, side, j, _ in twin.neighbours(model, i))
        assert (rank[links.others[begin:middle]] < rank[i]).all()
        assert (rank[links.others[middle:end]] > rank[i]).all()
    assert links.order.tolist() == twin.breadth_first(model)


@given(MODELS, st.data(), st.booleans())
def test_sweep_is_its_twin(model, data, forward):
    messages = drawn_messages(data, model)
    expected = messages.copy()
    links = NodeLinks.of(model.n_nodes, model.edges)
    labels = np.zeros(model.n_nodes, dtype=np.int32)
    before = pairwise.bound(model, messages)
    scratch = np.empty(model.n_labels), np.empty(model.n_labels)
    bound = sweep(model.unary, model.pair, links, forward, messages, *scratch, labels)
    order = links.order.tolist() if forward else links.order[::-1].tolist()
    twin_bound, given_earlier = twin.sweep(model, order, expected, labels)
    np.testing.assert_allclose(messages, expected, atol=1e-9)
    np.testing.assert_allclose([bound, pairwise.bound(model, messages)], twin_bound, atol=1e-9)
    assert bound <= before + 1e-9
    for i, scores in given_earlier.items():
        assert scores[labels[i]] >= scores.max() - 1e-9


@given(MODELS, st.data())
def test_levelling_and_collecting_are_their_twins(model, data):
    messages = drawn_messages(data, model)
    expected, before = messages.copy(), pairwise.bound(model, messages)
    scores, beliefs = np.empty(model.unary.shape), np.empty(model.unary.shape)
    collect_all(*model, messages, np.empty(model.n_labels), scores)
    np.testing.assert_allclose(scores, twin.collected(model, messages))
    first_link, _, links, _, order = NodeLinks.of(model.n_nodes, model.edges)
    level(model.unary, model.pair, first_link, links, order, messages, np.empty(model.n_labels))
    twin.level(model, order.tolist(), expected)
    np.testing.assert_allclose(messages, expected, atol=1e-9)
    bound = add_up(*model, messages, beliefs)
    np.testing.assert_allclose(bound, pairwise.bound(model, messages), atol=1e-9)
    assert bound <= before + 1e-9


@given(MODELS, st.data())
def test_no_node_alone_improves_improved_labels(model, data):
    start = data.draw(st.lists(st.integers(0, model.n_labels - 1), min_size=model.n_nodes, max_size=model.n_nodes))
    labels = np.array(start, dtype=np.int32)
    score = improve_labels(*model, NodeLinks.of(model.n_nodes, model.edges), np.empty(model.n_labels), labels)
    assert pairwise.value(model, start) <= score == pairwise.value(model, labels)
    for i in range(model.n_nodes):
        for k in range(model.n_labels):
            other = labels.copy()
            other[i] = k
            assert pairwise.value(model, other) <= score
