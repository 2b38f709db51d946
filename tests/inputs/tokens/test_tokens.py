import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.tasks import Sequences


def same(a, b):
    a, b = (x.toarray() if sparse.issparse(x) else x for x in (a, b))
    return np.array_equal(a, b)


@given(st.lists(st.integers(0, 4), max_size=6), st.booleans())
def test_sequences_are_the_pieces_of_the_table(lengths, as_sparse):
    offsets = np.cumsum([0, *lengths])
    table = np.arange(2.0 * offsets[-1]).reshape(-1, 2)
    pieces = np.split(table, offsets[1:-1]) if lengths else []
    packed = Sequences(sparse.csr_array(table) if as_sparse else table, offsets)
    assert len(packed) == len(lengths)
    assert all(same(a, b) for a, b in zip(packed, pieces, strict=True))
    assert all(same(packed[i], pieces[i]) for i in range(-len(lengths), len(lengths)))
    with pytest.raises(IndexError):
        packed[len(lengths)]


@given(st.lists(st.integers(1, 4), max_size=6), st.booleans())
def test_from_groups_finds_the_boundaries(lengths, named):
    groups = np.repeat([f"sentence {i}" if named else i for i in range(len(lengths))], lengths)
    packed = Sequences.from_groups(np.zeros((len(groups), 1)), groups)
    assert np.array_equal(packed.offsets, np.cumsum([0, *lengths]))


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([0, 2], "end at 2, but the matrix has 3 rows"),
        ([1, 3], "starts with 0"),
        ([0, 2, 1, 3], "increasing"),
        ([], "increasing"),
    ],
)
def test_offsets_that_do_not_fit(offsets, message):
    with pytest.raises(ValueError, match=message):
        Sequences(np.zeros((3, 2)), offsets)


def test_groups_must_stand_together():
    with pytest.raises(ValueError, match="be adjacent"):
        Sequences.from_groups(np.zeros((3, 1)), [1, 2, 1])
    with pytest.raises(ValueError, match="2 group values for 3 rows"):
        Sequences.from_groups(np.zeros((3, 1)), [1, 2])
