import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.structures.alignment.alignments import PairwiseAlignment

LETTERS = "ACDEFGHIKLMNPQRSTVWY"


@st.composite
def alignments(draw, longest=6):
    """Two sequences, an alignment of them, and which pairs of it are trusted."""
    n, m = draw(st.integers(0, longest)), draw(st.integers(0, longest))
    k = draw(st.integers(0, min(n, m)))
    rows = [sorted(draw(st.permutations(range(length)))[:k]) for length in (n, m)]
    trusted = draw(st.lists(st.booleans(), min_size=k, max_size=k))
    a, b = (draw(st.text(LETTERS, min_size=length, max_size=length)) for length in (n, m))
    return a, b, PairwiseAlignment(np.array(rows, dtype=int).reshape(2, k).T, (n, m), np.array(trusted, dtype=bool))


@given(alignments())
def test_gapped_rows_are_read_back(drawn):
    a, b, alignment = drawn
    first, second = alignment.gapped(a, b)
    assert len(first) == len(second)
    assert (first.replace("-", ""), second.replace("-", "")) == (a, b)
    assert not any(p == q == "-" for p, q in zip(first, second, strict=True))
    again = PairwiseAlignment.from_gapped(first, second)
    assert again == PairwiseAlignment(alignment.pairs, alignment.lengths)
    assert PairwiseAlignment.of((first, second), (len(a), len(b))) == again
    assert PairwiseAlignment.of(alignment.pairs.tolist(), alignment.lengths) == again


@given(alignments())
def test_lower_case_marks_what_is_not_trusted(drawn):
    a, b, alignment = drawn
    rows = [list(row) for row in (a, b)]
    for side, row in enumerate(rows):
        for p in alignment.pairs[~alignment.trusted, side]:
            row[p] = row[p].lower()
    gapped = alignment.gapped(*("".join(row) for row in rows))
    assert PairwiseAlignment.from_gapped(*gapped, lowercase_untrusted=True) == alignment
    assert PairwiseAlignment.from_gapped(*gapped).trusted.all()


@given(alignments(), st.data(), st.integers(0, 3))
def test_agreement_counts_the_trusted_pairs_found(drawn, data, max_shift):
    _, _, truth = drawn
    n, m = truth.lengths
    k = data.draw(st.integers(0, min(n, m)))
    columns = [sorted(data.draw(st.permutations(range(length)))[:k]) for length in (n, m)]
    found = PairwiseAlignment(np.array(columns, dtype=int).reshape(2, k).T, (n, m))
    if not truth.trusted.any():
        with pytest.raises(ValueError, match="no trusted pair"):
            found.agreement(truth, max_shift)
        return
    partner = dict(found.pairs.tolist())
    asked = truth.pairs[truth.trusted].tolist()
    right = sum(i in partner and abs(partner[i] - j) <= max_shift for i, j in asked)
    assert found.agreement(truth, max_shift) == right / len(asked)
    assert truth.agreement(truth, max_shift) == 1.0


@given(alignments())
def test_copies_are_equal_and_read_only(drawn):
    alignment = drawn[2]
    for other in (pickle.loads(pickle.dumps(alignment)), copy.deepcopy(alignment), copy.copy(alignment)):
        assert other == alignment
        assert hash(other) == hash(alignment)
        for array in (other.pairs, other.trusted):
            assert not array.flags.writeable


def test_equality_is_by_value():
    alignment = PairwiseAlignment([(0, 1), (2, 2)], (3, 3))
    assert alignment == PairwiseAlignment(np.array([[0, 1], [2, 2]]), (3, 3), np.array([True, True]))
    assert alignment != PairwiseAlignment([(0, 1), (2, 2)], (3, 4))
    assert alignment != PairwiseAlignment([(0, 1)], (3, 3))
    assert alignment != PairwiseAlignment([(0, 1), (2, 2)], (3, 3), np.array([True, False]))
    assert alignment != "ACD"


def test_cannot_be_changed():
    pairs = np.array([[0, 0]])
    alignment = PairwiseAlignment(pairs, (1, 1))
    pairs[0, 0] = 5
    assert alignment.pairs[0, 0] == 0
    with pytest.raises(AttributeError):
        alignment.lengths = (2, 2)


def test_columns_with_two_gaps_are_left_out():
    assert PairwiseAlignment.from_gapped("A-.C", "A..C") == PairwiseAlignment([(0, 0), (1, 1)], (2, 2))
    assert PairwiseAlignment.from_gapped("A-C", "A~C", gaps="~") == PairwiseAlignment([(0, 0), (2, 1)], (3, 2))


def test_repr_says_what_matters():
    assert repr(PairwiseAlignment([], (3, 4))) == "<PairwiseAlignment of 3 and 4 residues: 0 pairs>"
    doubtful = PairwiseAlignment([(0, 0), (1, 1)], (2, 2), np.array([True, False]))
    assert repr(doubtful) == "<PairwiseAlignment of 2 and 2 residues: 2 pairs, 1 of them not trusted>"


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([(0, 0), (0, 1)], r"^Y\[3\]: pair 0 is \(0, 0\) and pair 1 \(0, 1\); both positions must increase"),
        ([(1, 0), (0, 1)], r"^Y\[3\]: pair 0 is \(1, 0\) and pair 1 \(0, 1\)"),
        ([(0, 4)], r"^Y\[3\]: pair 0 is \(0, 4\), but the second sequence has the positions 0 to 3"),
        ([(-1, 0)], r"^Y\[3\]: pair 0 is \(-1, 0\), but the first sequence has the positions 0 to 2"),
        ([(0.5, 0)], r"^Y\[3\]: got list of shape \(1, 2\), float64; expected pairs"),
        ([(0, 1, 2)], r"^Y\[3\]: got list of shape \(1, 3\)"),
        ([(0,), (1, 2)], r"^Y\[3\]: got list; expected pairs"),
        (None, r"^Y\[3\]: got NoneType; expected pairs"),
        ("AC", r"^Y\[3\]: got str"),
        (("ACD", "AC"), r"^Y\[3\]: the first row has 3 columns and the second 2"),
        (("AC", "AC"), r"^Y\[3\] aligns sequences of 2 and 2 residues; expected 3 and 4"),
        (PairwiseAlignment([], (1, 1)), r"^Y\[3\] aligns sequences of 1 and 1 residues; expected 3 and 4"),
    ],
)
def test_bad_alignments_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        PairwiseAlignment.of(y, (3, 4), "Y[3]")


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"trusted has shape \(1,\)"):
        PairwiseAlignment([], (1, 1), np.array([True]))
    with pytest.raises(ValueError, match="lengths are -1 and 2"):
        PairwiseAlignment([], (-1, 2))
    for lengths in (3, (3,), (3, 2.5), "ab", None):
        with pytest.raises(ValueError, match=r"lengths are .*; expected two whole numbers of residues"):
            PairwiseAlignment([(0, 0)], lengths)
    with pytest.raises(ValueError, match="the first sequence has 1 residues; the alignment has 2"):
        PairwiseAlignment([], (2, 2)).gapped("A", "AC")
    with pytest.raises(ValueError, match="cannot be compared"):
        PairwiseAlignment([], (2, 2)).agreement(PairwiseAlignment([], (2, 3)))
