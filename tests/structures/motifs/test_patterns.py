import numpy as np
import pytest

from maxmargin.structures.motifs.alphabet import Alphabet
from maxmargin.structures.motifs.patterns import centred, consensus, information, pattern_scores

DNA, RNA, ABC = Alphabet("ACGT"), Alphabet("ACGU"), Alphabet("ABC")


@pytest.mark.parametrize(
    ("pattern", "alphabet", "length", "rows"),
    [
        ("AW", DNA, 2, ["A", "AT"]),
        ("aN.", DNA, 3, ["A", "ACGT", "ACGT"]),
        ("C", DNA, 4, ["", "C", "", ""]),
        ("UYB", RNA, 3, ["U", "CU", "CGU"]),
        ("B.", ABC, 3, ["B", "ABC", ""]),
    ],
)
def test_patterns(pattern, alphabet, length, rows):
    weights = centred(pattern_scores(pattern, alphabet), length)
    assert weights.shape == (length, len(alphabet))
    assert weights.sum(axis=1) == pytest.approx(np.zeros(length))
    for row, letters in zip(weights, rows, strict=True):
        best = {alphabet.letters[k] for k in np.flatnonzero(row == row.max())} if np.ptp(row) else set()
        assert best == (set(letters) if len(letters) < len(alphabet) else set())


def test_matrices_are_patterns():
    matrix = np.array([[1.0, 2, 3, 6], [0, 0, 0, 0]])
    assert centred(matrix, 2).tolist() == [[-2, -1, 0, 3], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("row", "alphabet", "code"),
    [
        ([0.6, 0.2, 0.1, 0.1], DNA, "A"),
        ([0.5, 0.2, 0.2, 0.1], DNA, "N"),
        ([0.6, 0.0, 0.0, 0.4], DNA, "W"),
        ([0.0, 0.4, 0.0, 0.4], DNA, "Y"),
        ([0.25] * 4, DNA, "N"),
        ([0.0, 0.0, 0.1, 0.9], RNA, "U"),
        ([0.1, 0.45, 0.0, 0.45], RNA, "Y"),
        ([0.6, 0.4, 0.0], ABC, "."),
        ([0.7, 0.3, 0.0], ABC, "A"),
    ],
)
def test_consensus(row, alphabet, code):
    assert consensus(np.array([row]), alphabet) == code
    assert consensus(np.ones((1, 1)), Alphabet("A")) == "A"


def test_information():
    assert information([[0.25] * 4, [1, 0, 0, 0], [0.5, 0.5, 0, 0]]).tolist() == [0, 2, 1]


def test_what_is_no_pattern():
    with pytest.raises(ValueError, match=r"the pattern 'ACGJ' has 'J' at position 3; expected one of ACGTMR"):
        pattern_scores("ACGJ", DNA)
    with pytest.raises(ValueError, match=r"the pattern 'AN' has 'N' at position 1; expected one of ABC\."):
        pattern_scores("AN", ABC)
