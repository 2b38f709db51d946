"""Nodes: graphs as they are read, grids, subgraphs, and every fault of the input."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from strategies import whole
from structures.clustering.pair_strategies import graphs

from maxmargin.structures.graphs.nodes import read_all
from maxmargin.tasks import Nodes

FEATURES = np.arange(8.0).reshape(4, 2)
EDGES = [(0, 1), (2, 1), (3, 0)]


def test_a_graph_keeps_edges_as_they_are_given():
    x = Nodes(FEATURES.astype(int), EDGES, np.arange(6).reshape(3, 2))
    assert x.features.dtype == np.float64
    assert x.features.tolist() == FEATURES.tolist()
    assert x.edges.tolist() == [list(edge) for edge in EDGES]
    assert x.edge_features.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert (len(x), x.n_nodes, x.n_features, x.n_edge_features, x.label_shape) == (4, 4, 2, 2, (4,))
    assert repr(x) == "Nodes(4 nodes with 2 features, 3 edges with 2 features)"


def test_edges_have_one_constant_feature_by_default():
    assert Nodes(FEATURES, EDGES).edge_features.tolist() == [[1], [1], [1]]


@pytest.mark.parametrize("edges", [[], np.empty((0, 2), dtype=int), ()], ids=["list", "array", "tuple"])
def test_graphs_without_edges_leave_open_how_many_features_edges_have(edges):
    assert Nodes(FEATURES, edges).n_edge_features is None
    assert Nodes(FEATURES, edges, np.empty((0, 3))).edge_features.shape == (0, 3)
    assert Nodes(FEATURES, edges, []).edge_features.shape == (0, 1)


def test_sparse_features_stay_sparse():
    x = Nodes(sparse.coo_array(FEATURES), EDGES)
    assert sparse.issparse(x.features)
    assert x.features.toarray().tolist() == FEATURES.tolist()
    assert sparse.issparse(x.subgraph([1, 2]).features)


def test_the_given_arrays_are_not_changed_by_using_the_graph():
    features, edges = FEATURES.copy(), np.array(EDGES)
    x = Nodes(features, edges)
    x.subgraph([0, 1])
    assert features.tolist() == FEATURES.tolist()
    assert edges.tolist() == [list(edge) for edge in EDGES]


def test_tuples_are_read_as_graphs():
    table = np.ones((3, 2))
    read = read_all([(FEATURES, EDGES), (FEATURES, EDGES, table), [FEATURES, EDGES], Nodes(FEATURES, EDGES)])
    assert [x.n_edge_features for x in read] == [1, 2, 1, 1]


def by_hand(image, neighbours):
    """The edges of a grid by comparing all pairs of pixels, with their directions."""
    height, width = image.shape[:2]
    steps = [(0, 1), (1, 0), (1, 1), (1, -1)][: neighbours // 2]
    found = []
    for way, (down, right) in enumerate(steps):
        for row in range(height):
            for column in range(width):
                if row + down < height and 0 <= column + right < width:
                    found.append((row * width + column, (row + down) * width + column + right, way))
    return found


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 3), st.sampled_from([4, 8]), st.data())
def test_a_grid_is_the_graph_written_by_hand(height, width, n_features, neighbours, data):
    image = data.draw(whole((height, width, n_features) if n_features else (height, width)))
    edges = by_hand(image, neighbours)
    ways = np.array([np.eye(neighbours // 2)[way] for _, _, way in edges]).reshape(-1, neighbours // 2)
    pixels = image.reshape(height * width, -1)
    hand = Nodes(pixels, [edge[:2] for edge in edges], ways)
    grid = Nodes.grid(image, neighbours)
    assert grid.label_shape == (height, width)
    for name in ("features", "edges", "edge_features"):
        np.testing.assert_array_equal(getattr(grid, name), getattr(hand, name))
    first, second = (pixels[np.array([edge[side] for edge in edges], dtype=int)] for side in (0, 1))
    assert (Nodes.grid(image, neighbours, "constant").edge_features == 1).all()
    assert Nodes.grid(image, neighbours, "constant").edge_features.shape == (len(edges), 1)
    differences = Nodes.grid(image, neighbours, "differences").edge_features
    np.testing.assert_array_equal(differences, np.hstack([ways, np.abs(first - second)]))
    own = Nodes.grid(image, neighbours, lambda a, b: (a * b).sum(axis=1)).edge_features
    np.testing.assert_array_equal(own, np.column_stack([ways, (first * second).sum(axis=1)]))


def test_edge_features_of_grids_have_names():
    image = np.zeros((2, 2, 2))
    assert Nodes.grid(image).edge_names == ("right", "down")
    eight = ("right", "down", "down right", "down left")
    assert Nodes.grid(image, 8).edge_names == Nodes.grid(image, 8).subgraph([0, 3]).edge_names == eight
    assert Nodes.grid(image, 8, "constant").edge_names == ("constant",)
    differences = ("difference of feature 0", "difference of feature 1")
    assert Nodes.grid(image, 8, "differences").edge_names == eight + differences
    assert Nodes.grid(image, 4, lambda a, b: a - b).edge_names[2:] == ("function, column 0", "function, column 1")
    assert Nodes(FEATURES, EDGES).edge_names is None


def test_images_of_bytes_do_not_overflow():
    x = Nodes.grid(np.array([[0, 255]], dtype=np.uint8), edge_features="differences")
    assert x.edge_features.tolist() == [[1, 0, 255]]
    assert repr(x) == "Nodes(a grid of 1 × 2 nodes with 1 features, 1 edges with 3 features)"


@given(graphs(most_items=6), st.data())
def test_a_subgraph_has_the_edges_between_its_nodes(graph, data):
    n_nodes, edges = graph
    x = Nodes(np.arange(n_nodes)[:, None], edges, np.arange(len(edges))[:, None] if edges else None)
    keep = data.draw(st.permutations(range(n_nodes)))[: data.draw(st.integers(1, n_nodes))]
    part = x.subgraph(keep)
    assert part.features[:, 0].tolist() == keep
    inside = [e for e, (i, j) in enumerate(edges) if i in keep and j in keep]
    assert part.edge_features[:, 0].tolist() == inside
    assert [tuple(keep[i] for i in edge) for edge in part.edges.tolist()] == [tuple(edges[e]) for e in inside]
    mask = np.isin(np.arange(n_nodes), keep)
    assert x.subgraph(mask).features[:, 0].tolist() == sorted(keep)
    assert part.label_shape == (len(keep),)


def test_a_subgraph_of_a_grid_takes_a_mask_in_its_shape():
    x = Nodes.grid(np.arange(6).reshape(2, 3))
    part = x.subgraph(np.array([[True, True, False], [False, True, False]]))
    assert part.features[:, 0].tolist() == [0, 1, 4]
    assert part.edges.tolist() == [[0, 1], [1, 2]]
    assert part.edge_features.tolist() == [[1, 0], [0, 1]]


def test_pickled_graphs_are_the_same():
    x = pickle.loads(pickle.dumps(Nodes.grid(np.eye(3), 8)))
    assert x.label_shape == (3, 3)
    assert len(x.edges) == 20


WRONG = {
    "no nodes": ((np.empty((0, 2)), []), "there are no nodes"),
    "flat features": (([1.0, 2.0], []), r"features have shape \(2,\); expected \(N, F\)"),
    "words": (([["a"]], []), "features must be an"),
    "nan": (([[0.0, 1.0], [0.0, np.nan]], []), "feature 1 of node 1 is NaN"),
    "infinite": ((sparse.csr_array([[0.0, np.inf]]), []), "feature 1 of node 0 is NaN or infinity"),
    "missing node": ((FEATURES, [(0, 1), (0, 4)]), r"edge 1 .*\(0, 4\).*from 0 to 3"),
    "negative node": ((FEATURES, [(-1, 1)]), r"edge 0 .*\(-1, 1\)"),
    "loop": ((FEATURES, [(0, 1), (2, 2)]), "edge 1 .*itself"),
    "twice": ((FEATURES, [(0, 1), (1, 2), (0, 1)]), r"edges 0 and 2 are \(0, 1\) and \(0, 1\); expected one edge"),
    "both ways": ((FEATURES, [(0, 1), (1, 0)]), r"edges 0 and 1 are \(0, 1\) and \(1, 0\)"),
    "three ends": ((FEATURES, [(0, 1, 2)]), "edges have shape"),
    "fractions": ((FEATURES, [(0.0, 1.0)]), "edges have"),
    "few rows": ((FEATURES, EDGES, np.ones((2, 1))), "there are 3 edges but 2 rows of edge_features"),
    "flat rows": ((FEATURES, EDGES, np.ones(3)), r"edge_features have shape \(3,\); expected \(3, G\)"),
    "sparse rows": ((FEATURES, EDGES, sparse.eye_array(3)), "edge_features are a sparse matrix"),
    "wordy rows": ((FEATURES, EDGES, [["a"]] * 3), "edge_features must be"),
    "nan row": ((FEATURES, EDGES, [[0.0], [np.nan], [0.0]]), r"feature 0 of the edge \(2, 1\) is NaN"),
}


@pytest.mark.parametrize("case", WRONG)
def test_faults_are_named(case):
    arguments, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        Nodes(*arguments)
    with pytest.raises(ValueError, match=f"graph 1: .*{message}"):
        read_all([(FEATURES, EDGES), arguments])


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((3, 3)), r"graph 0: .*array of shape \(3, 3\); for an image use Nodes.grid"),
        ((FEATURES,), "graph 0: .*got a tuple of length 1"),
        (5, "graph 0: .*got a int"),
    ],
    ids=["array", "short", "number"],
)
def test_what_is_no_graph(x, message):
    with pytest.raises(ValueError, match=message):
        read_all([x])


def test_one_graph_is_no_list_of_graphs():
    with pytest.raises(ValueError, match="X is of type Nodes; expected a list of graphs"):
        read_all(Nodes(FEATURES, EDGES))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(4),), r"the image has shape \(4,\); expected \(H, W\) or \(H, W, F\)"),
        ((np.zeros((2, 2, 2, 2)),), "the image has shape"),
        ((np.zeros((0, 3)),), "it has no pixels"),
        (([["a"]],), "an image must be"),
        ((np.eye(2), 6), "neighbours is 6; expected 4 or 8"),
        ((np.eye(2), 4, "colours"), "edge_features is 'colours'; expected 'directions'"),
        ((np.eye(2), 4, lambda a, b: np.ones(3)), r"returned shape \(3, 1\); expected \(4,\) or \(4, G\)"),
        ((np.array([[0.0, np.nan]]),), "feature 0 of node 1 is NaN"),
    ],
    ids=["line", "four", "empty", "words", "six", "name", "function", "nan"],
)
def test_faults_of_grids(arguments, message):
    with pytest.raises(ValueError, match=message):
        Nodes.grid(*arguments)


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ([], "keep names no node"),
        ([True, False], "keep has 2 truth values; expected 4"),
        ([0, 4], "keep names node 4; expected numbers from 0 to 3"),
        ([1, 1], "keep names a node twice"),
        ([0.5], "keep must be a list of node numbers"),
    ],
    ids=["none", "short", "far", "twice", "fraction"],
)
def test_faults_of_subgraphs(keep, message):
    with pytest.raises(ValueError, match=message):
        Nodes(FEATURES, EDGES).subgraph(keep)
