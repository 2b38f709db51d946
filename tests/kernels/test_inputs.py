"""Matrices, sequences and graphs as rows, and back."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from maxmargin.inputs.tokens.tokens import Sequences
from maxmargin.kernels.inputs import GraphRows, SequenceRows, kind_of

ROWS = np.arange(12.0).reshape(6, 2)
TOKENS = [[{"word": "the", "length": 3}, {"word": "cat"}], [["word=the", "bias"]]]
KINDS = [
    ("matrix", ROWS),
    ("matrix", sparse.csr_array(ROWS)),
    ("matrix", ROWS.tolist()),
    ("matrix", ROWS[0]),  # which scikit-learn's check of matrices will refuse
    ("matrix", ["a", "b"]),
    ("matrix", []),
    ("matrix", 3),
    ("sequences", [ROWS[:2], ROWS[2:]]),
    ("sequences", (sparse.csr_array(ROWS[:2]), ROWS[2:])),
    ("sequences", ROWS.reshape(2, 3, 2)),
    ("sequences", Sequences(ROWS, [0, 2, 6])),
    ("sequences", TOKENS),
    ("sequences", [[], *TOKENS]),  # which SequencePacker will refuse
    ("graphs", [(ROWS, [(0, 1)])]),
    ("graphs", [(sparse.csr_array(ROWS), [(0, 1)], [[1.0]])]),
    ("graphs", [SimpleNamespace(features=ROWS, edges=[(0, 1)])]),
]


@pytest.mark.parametrize(("kind", "X"), KINDS)
def test_kinds(kind, X):
    assert kind_of(X) == kind


def test_an_array_of_objects_is_read_like_a_list():
    for X in ([ROWS[:2], ROWS[2:]], TOKENS):
        objects = np.empty(2, dtype=object)
        objects[:] = X
        assert kind_of(objects) == "sequences"


def test_sequences_come_back_as_they_were_given():
    given = [ROWS[:2], ROWS[2:3], ROWS[3:]]
    rows, rebuild = SequenceRows().fit(given).read(given)
    assert np.array_equal(rows, ROWS)
    assert all(np.array_equal(a, b) for a, b in zip(rebuild(ROWS + 1), [x + 1 for x in given], strict=True))
    packed = Sequences(ROWS, [0, 2, 6])
    rows, rebuild = SequenceRows().fit(packed).read(packed)
    assert isinstance(rebuild(ROWS), Sequences)
    assert rebuild(ROWS).offsets.tolist() == [0, 2, 6]


def test_tokens_are_numbered_once():
    reader = SequenceRows().fit(TOKENS)
    assert reader.n_features == 4  # word=the, length, word=cat, bias
    rows, rebuild = reader.read([[{"word": "cat", "new": 7.0}]])
    assert rows.toarray().tolist() == [[0, 0, 1, 0]]
    assert [x.shape for x in rebuild(np.ones((1, 9)))] == [(1, 9)]


def test_graphs_keep_all_but_their_features():
    node = SimpleNamespace(features=sparse.csr_array(ROWS[:2]), edges=[(0, 1)])
    given = [node, (ROWS[2:], [(0, 1), (2, 3)], "edge features")]
    rows, rebuild = GraphRows().fit(given).read(given)
    assert np.array_equal(rows.toarray(), ROWS)
    one, other = rebuild(ROWS * 2)
    assert np.array_equal(one.features, ROWS[:2] * 2)
    assert one.edges is node.edges
    assert sparse.issparse(node.features)  # the given graph is left alone
    assert np.array_equal(other[0], ROWS[2:] * 2)
    assert other[1:] == given[1][1:]


def test_what_is_wrong_with_graphs_is_said_of_the_graph():
    reader = GraphRows().fit([(ROWS, [(0, 1)])])
    with pytest.raises(ValueError, match="graph 1 has 3 features per node; expected 2 as in training"):
        reader.read([(ROWS, []), (np.ones((2, 3)), [])])
    with pytest.raises(ValueError, match="graph 1 is a ndarray; expected Nodes or a tuple"):
        reader.read([(ROWS, []), ROWS])
    with pytest.raises(
        ValueError,
        match=r"node features of the graphs .*: sequence 0, position 1: "
        r"features contain NaN",
    ):
        reader.read([(np.array([[1.0, 2.0], [np.nan, 0.0]]), [])])
